"""Closure cells, external and created in the trace."""

from __future__ import annotations

import types
from typing import Any

from tracer_core.guards import make
from tracer_core.sources import CellContentsSource, Source
from tracer_core.variables.core.base import VariableTracker
from tracer_core.variables.core.tracing import Tracing


class CellVariable(VariableTracker):
    """A closure cell. `contents` is None while it is empty. `real` is the cell object, if it exists."""

    __slots__ = ("contents", "real")
    kind = "cell"
    mutable = True

    def __init__(
        self, contents: VariableTracker | None = None, source: Source | None = None, real: Any = None
    ) -> None:
        super().__init__(source)
        self.contents = contents
        self.real = real

    def python_type(self) -> type:
        return types.CellType

    def describe(self) -> str:
        return "empty cell" if self.contents is None else f"cell of {self.contents.describe()}"

    def parts(self) -> list[tuple[str, VariableTracker]]:
        return [] if self.contents is None else [("contents", self.contents)]

    def store(self, tx: Tracing, value: VariableTracker | None) -> None:
        tx.trace.side_effects.changes(self, "cell", "a closed-over variable is set")
        self.contents = value

    def attribute(self, tx: Tracing, name: str) -> VariableTracker | None:
        if name == "cell_contents":
            if self.contents is None:
                tx.raise_(ValueError, "Cell is empty")
            return self.contents
        return None


def external_cell(tx: Tracing, cell: Any, source: Source) -> CellVariable:
    """Return the tracker of an existing cell; the same cell met twice gives the same tracker."""
    known = tx.trace.trackers_by_object.get(id(cell))
    if isinstance(known, CellVariable):
        return known
    try:
        contents = tx.lazy(cell.cell_contents, CellContentsSource(source))
    except ValueError:
        tx.guard(make.cell_empty(source))
        contents = None
    tracker = CellVariable(contents, source, cell)
    tx.trace.trackers_by_object[id(cell)] = tracker
    tx.trace.kept_alive.append(cell)
    return tracker
