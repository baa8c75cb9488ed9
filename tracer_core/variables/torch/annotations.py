"""`torch.fx.traceback.annotate`: the nodes of what is in its block get the given annotations."""

from __future__ import annotations

from torch.fx import traceback

from tracer_core.errors import Unsupported
from tracer_core.graph.settings import Entered
from tracer_core.polyfills.annotations import enter_annotations, leave_annotations
from tracer_core.variables.core.base import NotConstant, VariableTracker
from tracer_core.variables.core.constant import NONE
from tracer_core.variables.core.registry import handles
from tracer_core.variables.core.tracing import Tracing
from tracer_core.variables.operations.in_graph import as_argument

_NAME = "torch.fx.traceback.annotate"


@handles(enter_annotations)
def enter(tx: Tracing, annotations: VariableTracker) -> VariableTracker:
    try:
        real = traceback.annotate(as_argument(annotations)[0])
    except NotConstant as error:
        raise Unsupported("option-not-constant", operator=_NAME, what=str(error)) from None
    real.__enter__()
    leave = lambda: real.__exit__(None, None, None)  # noqa: E731
    tx.output.settings.entered.append(Entered(annotations, leave, False, tx.root_step, name=_NAME))
    return NONE


@handles(leave_annotations)
def leave(tx: Tracing) -> VariableTracker:
    settings = tx.output.settings
    entered = settings.entered[-1] if settings.entered else None
    if entered is None or entered.name != _NAME:
        raise Unsupported("left-elsewhere", type=_NAME)
    settings.leave(entered)
    return NONE
