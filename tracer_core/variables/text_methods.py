"""Methods of str and bytes that take more than constants."""

from __future__ import annotations

from tracer_core.variables.base import Tracing, VariableTracker
from tracer_core.variables.constant import ConstantVariable
from tracer_core.variables.protocols import fold, unpack
from tracer_core.variables.registry import method
from tracer_core.variables.sequences import ListVariable


@method(ConstantVariable, "join")
def join(tx: Tracing, self: ConstantVariable, iterable: VariableTracker) -> VariableTracker | None:
    if not isinstance(self.value(), (str, bytes)):
        return None
    return fold(tx, self.value().join, [ListVariable(unpack(tx, iterable))], {})
