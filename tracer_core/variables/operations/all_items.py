"""Take all items of an iterable as `list` and the like do, which first call `__length_hint__`."""

from __future__ import annotations

import types

from tracer_core.errors import Unsupported
from tracer_core.variables.core.base import VariableTracker
from tracer_core.variables.core.tracing import ObservedException, Tracing
from tracer_core.variables.objects.class_lookup import static_lookup
from tracer_core.variables.objects.user_objects import UserDefinedObjectVariable


def listed(tx: Tracing, iterable: VariableTracker) -> list[VariableTracker]:
    """Return the items, in a program that can observe the call of its `__len__`."""
    iterable = iterable.realize()
    if not isinstance(iterable, UserDefinedObjectVariable):
        return tx.unpack(iterable)
    iterator = tx.iterate(iterable)
    if not _has_length(tx, iterable) and static_lookup(iterable.cls, "__length_hint__")[1] is not None:
        raise Unsupported("method", name="__length_hint__", type=iterable.python_type_name())
    return tx.remaining_items(iterator)


def _has_length(tx: Tracing, iterable: UserDefinedObjectVariable) -> bool:
    """Return whether `__len__` returns a length; its exceptions are raised, except a TypeError."""
    found, owner = static_lookup(iterable.cls, "__len__")
    if owner is None or found is None:
        return False
    if isinstance(found, types.WrapperDescriptorType):
        return True  # of a builtin container: the call cannot be observed
    try:
        tx.length(iterable)
    except ObservedException as raised:
        if not issubclass(raised.tracker.cls, TypeError):
            raise
        return False
    return True


def fast_sequence(tx: Tracing, iterable: VariableTracker) -> list[VariableTracker]:
    """Return the items for callers that accept any sequence: its iterator's `__length_hint__` is called."""
    iterable = iterable.realize()
    return listed(tx, tx.iterate(iterable) if isinstance(iterable, UserDefinedObjectVariable) else iterable)
