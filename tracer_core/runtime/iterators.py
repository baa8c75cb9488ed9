"""Rebuild iterators at the position where the trace left them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any


def used_up(start: Callable[[Any], Iterator[Any]], sequence: Any) -> Iterator[Any]:
    """Return an exhausted iterator over `sequence`."""
    iterator = start(sequence)
    if len(sequence):
        iterator.__setstate__(len(sequence) if start is iter else -1)  # type: ignore[attr-defined]
    next(iterator, None)
    return iterator


def advanced(iterator: Iterator[Any], count: int) -> Iterator[Any]:
    """Return `iterator`, after taking its next `count` items."""
    for _ in range(count):
        next(iterator)
    return iterator


def advance(iterator: Iterator[Any], count: int, ended: bool) -> None:
    """Take `count` items; if `ended`, also call `next` once more, at the end."""
    for _ in range(count):
        next(iterator)
    if ended:
        next(iterator, None)
