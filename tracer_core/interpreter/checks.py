"""Data-dependent branches of which one side only raises: the graph checks that the other side is taken.

If the check fails when the graph runs, the original code runs instead, and raises at its place.
"""

from __future__ import annotations

import torch

from tracer_core.bytecode import Instruction
from tracer_core.variables.core.base import VariableTracker
from tracer_core.variables.core.constant import ConstantVariable
from tracer_core.variables.core.tensors import TensorVariable
from tracer_core.variables.core.tracing import Tracing
from tracer_core.variables.functions.frames import Frame
from tracer_core.variables.operations.in_graph import call_in_graph

_ENDS = frozenset({"RETURN_VALUE", "YIELD_VALUE", "RERAISE", "RETURN_GENERATOR"})
_SAID = "the program goes another way here than the graph"
_LONGEST = 80
"""How many instructions are searched for the end of a branch."""


def checked(tx: Tracing, frame: Frame, ins: Instruction, on: bool, tracker: VariableTracker) -> bool | None:
    """Return whether the jump `ins`, which jumps if the truth of `tracker` is `on`, jumps; None if that is unknown.

    Only of tensors on the CPU: on other devices a check that fails shows later, or ends the process.
    """
    tracker = tracker.realize()
    if not isinstance(tracker, TensorVariable) or tracker.fake.device.type != "cpu" or tracker.fake.dim() != 0:
        return None
    index = frame.decoded.index
    assert ins.target is not None
    falls, jumps = (_only_raises(frame, position) for position in (frame.pc, index[ins.target]))
    if falls == jumps:
        return None
    wanted = on if falls else not on
    condition = tracker if wanted else call_in_graph(tx, "call_function", torch.logical_not, [tracker], {})
    # Without a message, back ends remove the check as unused.
    call_in_graph(tx, "call_function", torch._assert_async, [condition, ConstantVariable(_SAID)], {})
    tx.trace.check_steps.append(tx.root_step)
    return wanted == on


def _only_raises(frame: Frame, position: int) -> bool:
    """Return whether all paths from there lead to a `raise`."""
    instructions = frame.decoded.instructions
    for instruction in instructions[position : position + _LONGEST]:
        if instruction.op == "RAISE_VARARGS":
            return bool(instruction.arg)
        if instruction.target is not None or instruction.op in _ENDS:
            return False
    return False
