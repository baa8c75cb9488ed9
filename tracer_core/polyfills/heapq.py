"""The functions of `heapq` that are written in C, in Python: the same comparisons in the same order, and the same
heap where one of them raises. (C arranges more than 2500 items by other comparisons, to the same heap.)

They call the methods of `list`, as C does, not those of a subclass.
"""

from __future__ import annotations

import heapq
from typing import Any

from tracer_core.polyfills.registry import polyfills

_item, _set_item, _append, _pop = list.__getitem__, list.__setitem__, list.append, list.pop
_length = list.__len__


@polyfills(heapq.heappush)
def heappush(heap: Any, item: Any, /) -> None:
    _check(heap, "heappush() argument 1")
    _append(heap, item)
    _towards_start(heap, 0, _length(heap) - 1)


@polyfills(heapq.heappop)
def heappop(heap: Any, /) -> Any:
    _check(heap, "heappop() argument")
    return _popped(heap, False)


@polyfills(heapq._heappop_max)  # type: ignore[attr-defined]
def heappop_max(heap: Any, /) -> Any:
    _check(heap, "_heappop_max() argument")
    return _popped(heap, True)


@polyfills(heapq.heapreplace)
def heapreplace(heap: Any, item: Any, /) -> Any:
    _check(heap, "heapreplace() argument 1")
    return _replaced(heap, item, False)


@polyfills(heapq._heapreplace_max)  # type: ignore[attr-defined]
def heapreplace_max(heap: Any, item: Any, /) -> Any:
    _check(heap, "_heapreplace_max() argument 1")
    return _replaced(heap, item, True)


@polyfills(heapq.heappushpop)
def heappushpop(heap: Any, item: Any, /) -> Any:
    _check(heap, "heappushpop() argument 1")
    if _length(heap) == 0 or not (_item(heap, 0) < item):
        return item
    return _replaced(heap, item, False)


@polyfills(heapq.heapify)
def heapify(heap: Any, /) -> None:
    _check(heap, "heapify() argument")
    _arrange(heap, False)


@polyfills(heapq._heapify_max)
def heapify_max(heap: Any, /) -> None:
    _check(heap, "_heapify_max() argument")
    _arrange(heap, True)


def _check(heap: Any, what: str) -> None:
    if not isinstance(heap, list):
        raise TypeError(f"{what} must be list, not {type(heap).__name__}")


def _popped(heap: Any, greatest: bool) -> Any:
    if _length(heap) == 0:
        raise IndexError("index out of range")
    last = _pop(heap)
    return _replaced(heap, last, greatest) if _length(heap) else last


def _replaced(heap: Any, item: Any, greatest: bool) -> Any:
    """Put `item` in the place of the first item, and return that one."""
    if _length(heap) == 0:
        raise IndexError("index out of range")
    first = _item(heap, 0)
    _set_item(heap, 0, item)
    _to_leaves_and_back(heap, 0, greatest)
    return first


def _arrange(heap: Any, greatest: bool) -> None:
    for at in reversed(range(_length(heap) // 2)):
        _to_leaves_and_back(heap, at, greatest)


def _to_leaves_and_back(heap: Any, start: int, greatest: bool) -> None:
    """Move an item down to the leaves, then back up to its place: it comes from a leaf, and mostly belongs there."""
    at, end = start, _length(heap)
    while at < end // 2:
        child = 2 * at + 1
        if child + 1 < end and not _precedes(heap, child, child + 1, greatest):
            child += 1
        _swap(heap, child, at)
        at = child
    _towards_start(heap, start, at, greatest)


def _towards_start(heap: Any, start: int, at: int, greatest: bool = False) -> None:
    """Move an item towards the start, past all items that come after it."""
    while at > start:
        parent = (at - 1) // 2
        if not _precedes(heap, at, parent, greatest):
            return
        _swap(heap, parent, at)
        at = parent


def _precedes(heap: Any, a: int, b: int, greatest: bool) -> bool:
    length = _length(heap)
    less = bool(_item(heap, b) < _item(heap, a) if greatest else _item(heap, a) < _item(heap, b))
    if _length(heap) != length:
        raise RuntimeError("list changed size during iteration")
    return less


def _swap(heap: Any, a: int, b: int) -> None:
    item = _item(heap, a)
    _set_item(heap, a, _item(heap, b))
    _set_item(heap, b, item)
