"""`heapq`'s functions that are written in C. The arrangement of the list is the same, comparison by comparison."""

from __future__ import annotations

import heapq
from typing import Any

from tracer_core.polyfills.registry import polyfills


def _to_root(heap: list[Any], first: int, position: int) -> None:
    """Move the item at `position` up until its parent is not larger; `first` is the topmost place allowed."""
    item = heap[position]
    while position > first:
        above = (position - 1) >> 1
        if not item < heap[above]:
            break
        heap[position] = heap[above]
        position = above
    heap[position] = item


def _to_leaf(heap: list[Any], position: int) -> None:
    """Let smaller children rise to a leaf, put the item there, and move it up again (fewer comparisons than stopping
    on the way down)."""
    end, first, item = len(heap), position, heap[position]
    child = 2 * position + 1
    while child < end:
        if child + 1 < end and not heap[child] < heap[child + 1]:
            child += 1
        heap[position] = heap[child]
        position = child
        child = 2 * position + 1
    heap[position] = item
    _to_root(heap, first, position)


def _check(heap: Any, name: str) -> None:
    if not isinstance(heap, list):
        raise TypeError(f"{name} must be list, not {type(heap).__name__}")


@polyfills(heapq.heapify)
def heapify(heap: list[Any], /) -> None:
    _check(heap, "heapify() argument")
    for position in range(len(heap) // 2 - 1, -1, -1):
        _to_leaf(heap, position)


@polyfills(heapq.heappush)
def heappush(heap: list[Any], item: Any, /) -> None:
    _check(heap, "heappush() argument 1")
    heap.append(item)
    _to_root(heap, 0, len(heap) - 1)


@polyfills(heapq.heappop)
def heappop(heap: list[Any], /) -> Any:
    _check(heap, "heappop() argument 1")
    last = heap.pop() if heap else _no_item()
    if not heap:
        return last
    smallest, heap[0] = heap[0], last
    _to_leaf(heap, 0)
    return smallest


def _no_item() -> Any:
    raise IndexError("index out of range")


@polyfills(heapq.heapreplace)
def heapreplace(heap: list[Any], item: Any, /) -> Any:
    _check(heap, "heapreplace() argument 1")
    if not heap:
        _no_item()
    smallest, heap[0] = heap[0], item
    _to_leaf(heap, 0)
    return smallest


@polyfills(heapq.heappushpop)
def heappushpop(heap: list[Any], item: Any, /) -> Any:
    _check(heap, "heappushpop() argument 1")
    if heap and heap[0] < item:
        item, heap[0] = heap[0], item
        _to_leaf(heap, 0)
    return item


def _max_to_leaf(heap: list[Any], position: int) -> None:
    """As `_to_leaf`, with the largest item on top."""
    end, first, item = len(heap), position, heap[position]
    child = 2 * position + 1
    while child < end:
        if child + 1 < end and not heap[child + 1] < heap[child]:
            child += 1
        heap[position] = heap[child]
        position = child
        child = 2 * position + 1
    heap[position] = item
    while position > first:
        above = (position - 1) >> 1
        if not heap[above] < item:
            break
        heap[position] = heap[above]
        position = above
    heap[position] = item


@polyfills(heapq._heapify_max)
def heapify_max(heap: list[Any], /) -> None:
    _check(heap, "_heapify_max() argument")
    for position in range(len(heap) // 2 - 1, -1, -1):
        _max_to_leaf(heap, position)


@polyfills(heapq._heapreplace_max)  # type: ignore[attr-defined]
def heapreplace_max(heap: list[Any], item: Any, /) -> Any:
    _check(heap, "_heapreplace_max() argument 1")
    if not heap:
        _no_item()
    largest, heap[0] = heap[0], item
    _max_to_leaf(heap, 0)
    return largest


@polyfills(heapq._heappop_max)  # type: ignore[attr-defined]
def heappop_max(heap: list[Any], /) -> Any:
    _check(heap, "_heappop_max() argument")
    last = heap.pop() if heap else _no_item()
    if not heap:
        return last
    largest, heap[0] = heap[0], last
    _max_to_leaf(heap, 0)
    return largest
