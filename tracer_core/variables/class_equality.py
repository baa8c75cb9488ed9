"""Classes that say with code of their own, in their metaclass, which classes they are equal to."""

from __future__ import annotations

from tracer_core.errors import Unsupported


def refuse_own_equality(cls: type) -> None:
    """Raise Unsupported for a class that tables by class cannot hold: its metaclass has == or hash of its own."""
    if type(cls).__hash__ is not type.__hash__:
        raise Unsupported("class-equality", cls=cls.__qualname__, meta=type(cls).__qualname__)
