"""What the interpreter itself does in Python code: iteration by index, and by calling until a sentinel comes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any


def iterate_by_index(sequence: Any) -> Iterator[Any]:
    """`iter(sequence)` for an object with `__getitem__` and no `__iter__`."""
    index = 0
    while True:
        try:
            item = sequence[index]
        except (IndexError, StopIteration):
            return
        yield item
        index += 1


class CallIterator:
    """`iter(function, sentinel)`."""

    def __init__(self, function: Callable[[], Any], sentinel: Any) -> None:
        self.function: Callable[[], Any] | None = function
        self.sentinel = sentinel

    def __iter__(self) -> CallIterator:
        return self

    def __next__(self) -> Any:
        function = self.function
        if function is None:
            raise StopIteration
        try:
            value = function()
        except StopIteration:
            self.function = None
            raise
        if value is self.sentinel or value == self.sentinel:
            self.function = None
            raise StopIteration
        return value

    def real(self) -> Iterator[Any]:
        if self.function is None:
            return iter(int, 0)
        return iter(self.function, self.sentinel)
