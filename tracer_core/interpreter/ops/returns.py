"""Returns, yields, and `yield from`."""

from __future__ import annotations

from tracer_core.bytecode import Instruction
from tracer_core.errors import Unsupported
from tracer_core.interpreter.ops.table import op
from tracer_core.variables.core.base import VariableTracker
from tracer_core.variables.core.constant import ConstantVariable, is_none
from tracer_core.variables.core.tracing import Tracing
from tracer_core.variables.functions.frames import Frame
from tracer_core.variables.iterators.generators import LocalGeneratorObjectVariable


@op("RETURN_VALUE")
def return_value(tx: Tracing, frame: Frame, ins: Instruction) -> VariableTracker:
    return frame.pop()


@op("YIELD_VALUE")
def yield_value(tx: Tracing, frame: Frame, ins: Instruction) -> VariableTracker:
    frame.suspended = True
    return frame.pop()


@op("GET_YIELD_FROM_ITER")
def get_yield_from_iter(tx: Tracing, frame: Frame, ins: Instruction) -> None:
    value = frame.pop().realize()
    frame.push(value if isinstance(value, LocalGeneratorObjectVariable) else tx.iterate(value))


@op("SEND")
def send(tx: Tracing, frame: Frame, ins: Instruction) -> None:
    """Send the top value to the iterator below it; at its end, push its result instead and jump."""
    value = frame.pop()
    iterator = frame.stack[-1].realize()
    if isinstance(iterator, LocalGeneratorObjectVariable):
        yielded, result = iterator.resume(tx, value)
    else:
        if not is_none(value):
            raise Unsupported("method", name="send", type=iterator.python_type_name())
        item = tx.next_item(iterator)
        yielded, result = (True, item) if item is not None else (False, ConstantVariable(None))
    if yielded:
        frame.push(result)
    else:
        frame.leave_delegation(ins, result)
