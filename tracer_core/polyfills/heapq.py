"""`heapq`'s functions that are written in C. The arrangement of the list is the same, comparison by comparison."""

from __future__ import annotations

import heapq
import operator
from collections.abc import Callable
from typing import Any

from tracer_core.polyfills.registry import polyfills

Before = Callable[[Any, Any], Any]
"""Whether an item belongs above another."""


def _larger(item: Any, other: Any) -> Any:
    """For heaps with the largest on top: by `<` all the same."""
    return other < item


def _to_root(heap: list[Any], first: int, position: int, before: Before) -> None:
    """Move the item at `position` up while it belongs above its parent; `first` is the topmost place allowed."""
    item = heap[position]
    while position > first:
        above = (position - 1) >> 1
        if not before(item, heap[above]):
            break
        heap[position] = heap[above]
        position = above
    heap[position] = item


def _to_leaf(heap: list[Any], position: int, before: Before) -> None:
    """Let the children that belong above rise to a leaf, put the item there, and move it up again (fewer comparisons
    than stopping on the way down)."""
    end, first, item = len(heap), position, heap[position]
    child = 2 * position + 1
    while child < end:
        if child + 1 < end and not before(heap[child], heap[child + 1]):
            child += 1
        heap[position] = heap[child]
        position = child
        child = 2 * position + 1
    heap[position] = item
    _to_root(heap, first, position, before)


def _heapify(heap: list[Any], before: Before) -> None:
    for position in range(len(heap) // 2 - 1, -1, -1):
        _to_leaf(heap, position, before)


def _pop(heap: list[Any], before: Before) -> Any:
    last = heap.pop() if heap else _no_item()
    if not heap:
        return last
    top, heap[0] = heap[0], last
    _to_leaf(heap, 0, before)
    return top


def _replace(heap: list[Any], item: Any, before: Before) -> Any:
    if not heap:
        _no_item()
    top, heap[0] = heap[0], item
    _to_leaf(heap, 0, before)
    return top


def _no_item() -> Any:
    raise IndexError("index out of range")


def _check(heap: Any, name: str) -> None:
    if not isinstance(heap, list):
        raise TypeError(f"{name} must be list, not {type(heap).__name__}")


@polyfills(heapq.heapify)
def heapify(heap: list[Any], /) -> None:
    _check(heap, "heapify() argument")
    _heapify(heap, operator.lt)


@polyfills(heapq.heappush)
def heappush(heap: list[Any], item: Any, /) -> None:
    _check(heap, "heappush() argument 1")
    heap.append(item)
    _to_root(heap, 0, len(heap) - 1, operator.lt)


@polyfills(heapq.heappop)
def heappop(heap: list[Any], /) -> Any:
    _check(heap, "heappop() argument 1")
    return _pop(heap, operator.lt)


@polyfills(heapq.heapreplace)
def heapreplace(heap: list[Any], item: Any, /) -> Any:
    _check(heap, "heapreplace() argument 1")
    return _replace(heap, item, operator.lt)


@polyfills(heapq.heappushpop)
def heappushpop(heap: list[Any], item: Any, /) -> Any:
    _check(heap, "heappushpop() argument 1")
    if heap and heap[0] < item:
        item, heap[0] = heap[0], item
        _to_leaf(heap, 0, operator.lt)
    return item


@polyfills(heapq._heapify_max)
def heapify_max(heap: list[Any], /) -> None:
    _check(heap, "_heapify_max() argument")
    _heapify(heap, _larger)


@polyfills(heapq._heapreplace_max)  # type: ignore[attr-defined]
def heapreplace_max(heap: list[Any], item: Any, /) -> Any:
    _check(heap, "_heapreplace_max() argument 1")
    return _replace(heap, item, _larger)


@polyfills(heapq._heappop_max)  # type: ignore[attr-defined]
def heappop_max(heap: list[Any], /) -> Any:
    _check(heap, "_heappop_max() argument")
    return _pop(heap, _larger)
