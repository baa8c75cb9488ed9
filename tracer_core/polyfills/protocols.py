"""Protocols that the interpreter follows in Python code: iteration by index, and from an iterator's position on."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any


class Ongoing:
    """An iterable for `iterator` where one is needed. Its iteration continues with that very iterator, whose own
    `__iter__` may start anew or be missing."""

    def __init__(self, iterator: Iterator[Any]) -> None:
        self.iterator = iterator

    def __iter__(self) -> Iterator[Any]:
        return self.iterator


class _Nothing:
    """An empty sequence, by its items."""

    def __getitem__(self, index: int) -> Any:
        raise IndexError(index)


class IteratesByIndex:
    """`iter(sequence)` for an object with `__getitem__` and no `__iter__`."""

    def __init__(self, sequence: Any) -> None:
        self.sequence = sequence
        self.index = 0
        self.ended = False

    def __iter__(self) -> IteratesByIndex:
        return self

    def __next__(self) -> Any:
        if self.ended:
            raise StopIteration
        try:
            item = self.sequence[self.index]
        except (IndexError, StopIteration):
            self.ended, self.sequence = True, None
            raise StopIteration from None
        self.index += 1
        return item

    def real(self) -> Iterator[Any]:
        made: Any = iter(_Nothing() if self.ended else self.sequence)
        if self.ended:
            next(made, None)
        else:
            made.__setstate__(self.index)
        return made  # type: ignore[no-any-return]


#: The type of these iterators in Python.
iterator_by_index: type = type(iter(_Nothing()))


class ReversedByIndex:
    """`reversed(sequence)` for an object with `__len__` and `__getitem__`."""

    def __init__(self, sequence: Any) -> None:
        self.sequence = sequence
        self.index = len(sequence) - 1

    def __iter__(self) -> ReversedByIndex:
        return self

    def __next__(self) -> Any:
        if self.index < 0:
            raise StopIteration
        try:
            item = self.sequence[self.index]
        except (IndexError, StopIteration):
            self.index = -1
            raise StopIteration from None
        self.index -= 1
        return item

    def real(self) -> Iterator[Any]:
        made: Any = reversed(self.sequence if self.index >= 0 else [])
        if self.index >= 0:
            made.__setstate__(self.index)
        return iter(made)
