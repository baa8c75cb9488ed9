"""Name values that operators and their bodies are given as the program names them."""

from __future__ import annotations

from torch.fx import Node

from tracer_core.variables.core.base import VariableTracker
from tracer_core.variables.core.tracing import Tracing
from tracer_core.variables.functions.cells import CellVariable
from tracer_core.variables.functions.frames import Frame


def name_of_node(node: Node) -> str:
    """Return the quoted name of a node's value: the input that it is, or the variable that it was stored in first."""
    source = node.meta.get("source")
    return f"`{node.meta.get('local', node.name)}`" if source is None else str(source.quoted)


def name_of_value(tx: Tracing, tracker: VariableTracker) -> str | None:
    """Return the quoted name of a variable of the running functions that holds this value, or is this cell; None
    if there is none."""
    if tracker.source is not None and not isinstance(tracker, CellVariable):
        return tracker.source.quoted
    frame: Frame | None = tx.frame
    while frame is not None:
        for name, held in (*frame.locals.items(), *frame.cells.items()):
            if held is tracker or (isinstance(held, CellVariable) and held.contents is tracker):
                return f"`{name}`"
        frame = frame.parent
    return None
