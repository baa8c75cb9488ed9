"""The stack layout of a call: two items below the arguments, one of which may be an empty slot (NULL)."""

from __future__ import annotations

from typing import TypeVar

from tracer_core.bytecode.version import cpython

T = TypeVar("T")


def call_items(function: T, null: T) -> tuple[T, T]:
    """Return the two items, lowest first, below the arguments of a call of `function` with these arguments alone."""
    return (null, function) if cpython.NULL_BELOW_CALLABLE else (function, null)


def called(lower: T, upper: T, null: T) -> tuple[T, list[T]]:
    """Return the function in the two items below the arguments, and the arguments that come before the others:
    `self`, where CPython keeps a method and its object apart."""
    if cpython.NULL_BELOW_CALLABLE and lower is null:
        return upper, []
    return lower, [] if upper is null else [upper]
