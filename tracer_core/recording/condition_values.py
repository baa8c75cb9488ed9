"""Python's operations on what a condition reads: plain data, values of the program, and what is missing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tracer_core.recording.watching import MISSING, Missing, Seen


def plain(value: Any) -> Any:
    return value.plain if isinstance(value, Seen) else value


def truth(value: Any) -> bool:
    return not isinstance(value, Missing) and (isinstance(value, Seen) or bool(value))


def compared(compare: Callable[[Any, Any], Any], one: Any, other: Any) -> bool:
    """Compare two values; what is missing, and what cannot be compared, does not compare."""
    if isinstance(one, Missing) or isinstance(other, Missing):
        return False
    try:
        return bool(compare(one, other))
    except TypeError:
        return False


def calculated(calculate: Callable[[Any, Any], Any], one: Any, other: Any) -> Any:
    one, other = plain(one), plain(other)
    if not (isinstance(one, int | float) and isinstance(other, int | float)):
        return MISSING
    try:
        return calculate(one, other)
    except ArithmeticError:
        return MISSING


def attribute(value: Any, name: str) -> Any:
    return value.attribute(name) if isinstance(value, Seen) else MISSING


def item(value: Any, key: Any) -> Any:
    if isinstance(value, Seen):
        return value.item(key)
    try:
        return value[key]
    except (TypeError, LookupError):
        return MISSING


def length(value: Any) -> Any:
    if isinstance(value, Seen) and isinstance(value.plain, str) and value.snapshot.kind != "constant":
        return len(value)
    value = plain(value)
    return len(value) if isinstance(value, str | tuple) else MISSING
