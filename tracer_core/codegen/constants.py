"""The objects that generated code carries as constants."""

from __future__ import annotations

from types import FunctionType
from typing import Any

from tracer_core.bytecode import Instruction, Program, make
from tracer_core.sources import ById


def hashable_constants(program: Program) -> None:
    """Load objects that cannot be hashed, or by code of the user's, from a box that can.

    Tools that show tracebacks or count calls hash code objects, and so all their constants.
    """
    boxed: list[Instruction] = []
    for instruction in program.instructions:
        boxed.append(instruction)
        if instruction.op == "LOAD_CONST" and not _hashes(instruction.arg):
            instruction.arg = ById(instruction.arg)
            load = make("LOAD_ATTR", "value")
            load.span, load.handler = instruction.span, instruction.handler
            boxed.append(load)
    program.instructions[:] = boxed


def _hashes(value: Any) -> bool:
    hashing = type(value).__hash__
    if hashing is None or isinstance(hashing, FunctionType):
        return False
    try:
        hash(value)
    except TypeError:
        return False
    return True


def unboxed(instructions: list[Instruction]) -> list[Instruction]:
    """The instructions as they were before `hashable_constants`, for people to read."""
    shown: list[Instruction] = []
    for instruction in instructions:
        before = shown[-1] if shown else None
        if (
            instruction.op == "LOAD_ATTR"
            and before is not None
            and before.op == "LOAD_CONST"
            and isinstance(before.arg, ById)
        ):
            before.arg = before.arg.value
        else:
            shown.append(instruction)
    return shown
