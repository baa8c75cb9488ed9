"""Report recordings whose parts do not fit together, wherever that shows."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

import msgspec

P = ParamSpec("P")
T = TypeVar("T")
C = TypeVar("C", bound=type)


class TraceFileError(Exception):
    """A trace could not be read or written; the message says why in one sentence."""


_SIGNS = (
    *(LookupError, ValueError, TypeError, ArithmeticError, AssertionError, MemoryError, RecursionError),
    msgspec.MsgspecError,
)
"""The exceptions that follow from a number that refers to nothing."""


def reading(function: Callable[P, T]) -> Callable[P, T]:
    """Wrap a function that reads a recording, so that it raises TraceFileError where the parts do not fit."""

    @functools.wraps(function)
    def read(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return function(*args, **kwargs)
        except _SIGNS as error:
            raise TraceFileError(
                f"The recording is damaged, or was changed: its parts do not fit together "
                f"({type(error).__name__}: {error})."
            ) from error

    return read


def reads(*, but: tuple[str, ...] = ()) -> Callable[[C], C]:
    """Wrap all methods and properties of a class, also inherited ones, in `reading`, except those named in `but`."""

    def change(cls: C) -> C:
        members = {name: value for base in cls.__mro__[-2::-1] for name, value in vars(base).items()}
        for name, value in members.items():
            made = None if name in but else _made_reading(value)
            if made is not None:
                setattr(cls, name, made)
                if isinstance(made, functools.cached_property):
                    made.__set_name__(cls, name)
        return cls

    return change


def _made_reading(value: Any) -> Any:
    if isinstance(value, property):
        assert value.fget is not None
        return property(reading(value.fget), doc=value.__doc__)
    if isinstance(value, functools.cached_property):
        return functools.cached_property(reading(value.func))
    return reading(value) if callable(value) and not isinstance(value, type) else None
