"""Branches on data of which one side only raises: the graph checks that the other one is right, and goes on.

Should the check fail when the graph runs, the graph gives way to the original code, which raises at its place.
"""

from __future__ import annotations

import torch

from tracer_core.bytecode import Instruction
from tracer_core.variables.core.base import Tracing, VariableTracker
from tracer_core.variables.core.constant import ConstantVariable
from tracer_core.variables.core.tensors import TensorVariable
from tracer_core.variables.functions.frames import Frame
from tracer_core.variables.operations.in_graph import call_in_graph

_ENDS = frozenset({"RETURN_VALUE", "YIELD_VALUE", "RERAISE", "RETURN_GENERATOR"})
_SAID = "the program goes another way here than the graph"
_LONGEST = 80
"""How many instructions are looked at for the end of a side."""


def checked(tx: Tracing, frame: Frame, ins: Instruction, on: bool, tracker: VariableTracker) -> bool | None:
    """Whether the jump `ins`, made where the truth of `tracker` is `on`, is made; None where nothing can be said.

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
    # Without a message, back ends take the check for something that nobody needs.
    call_in_graph(tx, "call_function", torch._assert_async, [condition, ConstantVariable(_SAID)], {})
    tx.trace.check_steps.append(tx.root_step)
    return wanted == on


def _only_raises(frame: Frame, position: int) -> bool:
    """Whether what runs from there on comes to a `raise` with no other way to go."""
    instructions = frame.decoded.instructions
    for instruction in instructions[position : position + _LONGEST]:
        if instruction.op == "RAISE_VARARGS":
            return bool(instruction.arg)
        if instruction.target is not None or instruction.op in _ENDS:
            return False
    return False
