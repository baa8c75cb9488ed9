"""Sort trackers by the comparisons that Python would make."""

from __future__ import annotations

from tracer_core.variables.core.base import VariableTracker, constant_or
from tracer_core.variables.core.tracing import Tracing
from tracer_core.variables.operations.indices import index_value


class _Ordered:
    """An item under its key, compared as the program compares; Python's own sort calls only `<`."""

    __slots__ = ("item", "key", "tx")

    def __init__(self, tx: Tracing, key: VariableTracker, item: VariableTracker) -> None:
        self.tx = tx
        self.key = key
        self.item = item

    def __lt__(self, other: _Ordered) -> bool:
        return self.tx.truth(self.tx.compare("<", self.key, other.key))


def sort_in_place(tx: Tracing, items: list[VariableTracker], key: VariableTracker, reverse: VariableTracker) -> None:
    """Sort `items` by the comparisons that Python would make. If the key or a comparison raises, they stay as Python
    would leave them."""
    key = key.realize()
    by_itself = constant_or(key, 0) is None
    backwards = index_value(
        tx, reverse, f"{reverse.type_name_in_errors()!r} object cannot be interpreted as an integer"
    )
    ordered = [_Ordered(tx, item if by_itself else tx.call(key, [item]), item) for item in items]
    try:
        ordered.sort(reverse=bool(backwards))
    finally:
        items[:] = [entry.item for entry in ordered]
