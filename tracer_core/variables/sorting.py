"""Sorting trackers by the comparisons that Python would make."""

from __future__ import annotations

from tracer_core.variables.base import Tracing, VariableTracker, constant_or
from tracer_core.variables.indices import index_value
from tracer_core.variables.operators import compare
from tracer_core.variables.truth_and_length import truth


class _Ordered:
    """An item under its key, compared as the program compares; Python's own sort asks only `<`."""

    __slots__ = ("item", "key", "tx")

    def __init__(self, tx: Tracing, key: VariableTracker, item: VariableTracker) -> None:
        self.tx = tx
        self.key = key
        self.item = item

    def __lt__(self, other: _Ordered) -> bool:
        return truth(self.tx, compare(self.tx, "<", self.key, other.key))


def sorted_items(
    tx: Tracing, items: list[VariableTracker], key: VariableTracker, reverse: VariableTracker
) -> list[VariableTracker]:
    """The items in order, by the same comparisons that Python would make."""
    key = key.realize()
    by_itself = constant_or(key, 0) is None
    backwards = index_value(
        tx, reverse, f"{reverse.type_name_in_errors()!r} object cannot be interpreted as an integer"
    )
    ordered = [_Ordered(tx, item if by_itself else tx.call(key, [item]), item) for item in items]
    return [entry.item for entry in sorted(ordered, reverse=bool(backwards))]
