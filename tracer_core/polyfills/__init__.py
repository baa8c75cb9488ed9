"""Library functions again, in Python the interpreter can trace.

In: the same arguments as the originals. Out: the same results, exceptions and order of effects. A function here is
walked like a user's; its frames show in a recording under this file's name.
"""

from __future__ import annotations

from collections.abc import Iterator
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
