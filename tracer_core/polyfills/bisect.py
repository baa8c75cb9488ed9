"""The functions of `bisect`, which are written in C, in Python: the same comparisons in the same order."""

from __future__ import annotations

import bisect
from collections.abc import Callable
from typing import Any

from tracer_core.polyfills.registry import polyfills


def _bounds(a: Any, lo: Any, hi: Any) -> tuple[Any, Any]:
    if lo < 0:
        raise ValueError("lo must be non-negative")
    return lo, len(a) if hi is None else hi


@polyfills(bisect.bisect_right)
def bisect_right(
    a: Any, x: Any, lo: int = 0, hi: int | None = None, *, key: Callable[[Any], Any] | None = None
) -> int:
    first, end = _bounds(a, lo, hi)
    while first < end:
        middle = (first + end) // 2
        if x < (a[middle] if key is None else key(a[middle])):
            end = middle
        else:
            first = middle + 1
    return first  # type: ignore[no-any-return]


@polyfills(bisect.bisect_left)
def bisect_left(
    a: Any, x: Any, lo: int = 0, hi: int | None = None, *, key: Callable[[Any], Any] | None = None
) -> int:
    first, end = _bounds(a, lo, hi)
    while first < end:
        middle = (first + end) // 2
        if (a[middle] if key is None else key(a[middle])) < x:
            first = middle + 1
        else:
            end = middle
    return first  # type: ignore[no-any-return]


@polyfills(bisect.insort_right)
def insort_right(
    a: Any, x: Any, lo: int = 0, hi: int | None = None, *, key: Callable[[Any], Any] | None = None
) -> None:
    a.insert(bisect_right(a, x if key is None else key(x), lo, hi, key=key), x)


@polyfills(bisect.insort_left)
def insort_left(
    a: Any, x: Any, lo: int = 0, hi: int | None = None, *, key: Callable[[Any], Any] | None = None
) -> None:
    a.insert(bisect_left(a, x if key is None else key(x), lo, hi, key=key), x)
