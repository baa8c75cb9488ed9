"""Jumps and loops."""

from __future__ import annotations

from tracer_core.bytecode import Instruction
from tracer_core.interpreter.checks import checked
from tracer_core.interpreter.ops.table import op
from tracer_core.variables.core.constant import is_none
from tracer_core.variables.core.tracing import Tracing
from tracer_core.variables.functions.frames import Frame


@op("JUMP", "JUMP_NO_INTERRUPT")
def jump(tx: Tracing, frame: Frame, ins: Instruction) -> None:
    frame.jump(ins)


@op("POP_JUMP_IF_FALSE")
def pop_jump_if_false(tx: Tracing, frame: Frame, ins: Instruction) -> None:
    _jump_and_pop(tx, frame, ins, on=False)


@op("POP_JUMP_IF_TRUE")
def pop_jump_if_true(tx: Tracing, frame: Frame, ins: Instruction) -> None:
    _jump_and_pop(tx, frame, ins, on=True)


def _jump_and_pop(tx: Tracing, frame: Frame, ins: Instruction, on: bool) -> None:
    """Jump if the truth of the topmost item is `on`. It stays on the stack until its truth is known."""
    jumps = checked(tx, frame, ins, on, frame.stack[-1])
    if jumps is None:
        jumps = tx.truth(frame.stack[-1]) == on
    if jumps:
        frame.jump(ins)
    frame.pop()


@op("POP_JUMP_IF_NONE")
def pop_jump_if_none(tx: Tracing, frame: Frame, ins: Instruction) -> None:
    if is_none(frame.pop()):
        frame.jump(ins)


@op("POP_JUMP_IF_NOT_NONE")
def pop_jump_if_not_none(tx: Tracing, frame: Frame, ins: Instruction) -> None:
    if not is_none(frame.pop()):
        frame.jump(ins)


@op("JUMP_IF_FALSE_OR_POP")
def jump_if_false_or_pop(tx: Tracing, frame: Frame, ins: Instruction) -> None:
    if not tx.truth(frame.stack[-1]):
        frame.jump(ins)
    else:
        frame.pop()


@op("JUMP_IF_TRUE_OR_POP")
def jump_if_true_or_pop(tx: Tracing, frame: Frame, ins: Instruction) -> None:
    if tx.truth(frame.stack[-1]):
        frame.jump(ins)
    else:
        frame.pop()


# --- loops --------------------------------------------------------------------------------------------------


@op("GET_ITER")
def get_iter(tx: Tracing, frame: Frame, ins: Instruction) -> None:
    frame.push(tx.iterate(frame.pop()))


@op("FOR_ITER")
def for_iter(tx: Tracing, frame: Frame, ins: Instruction) -> None:
    item = tx.next_item(frame.stack[-1])
    if item is None:
        frame.pop()
        frame.jump(ins)
    else:
        frame.push(item)
