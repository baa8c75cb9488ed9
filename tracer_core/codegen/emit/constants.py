"""The objects that generated code holds as constants."""

from __future__ import annotations

from types import FunctionType
from typing import Any

from tracer_core.bytecode import Instruction, Program, copy_program, make
from tracer_core.sources import ById


def with_hashable_constants(program: Program) -> Program:
    """Return the program with each constant that cannot be hashed, or only by code of the user's, in a box that can.

    Tools that show tracebacks or count calls hash code objects, and so all their constants.
    """
    if all(map(_fits, program.instructions)):
        return program
    program = copy_program(program)
    boxed: list[Instruction] = []
    for instruction in program.instructions:
        boxed.append(instruction)
        if not _fits(instruction):
            instruction.arg = ById(instruction.arg)
            load = make("LOAD_ATTR", "value")
            load.span, load.handler = instruction.span, instruction.handler
            boxed.append(load)
    program.instructions = boxed
    return program


def _fits(instruction: Instruction) -> bool:
    return instruction.op != "LOAD_CONST" or _hashes(instruction.arg)


def _hashes(value: Any) -> bool:
    hashing = type(value).__hash__
    if hashing is None or isinstance(hashing, FunctionType):
        return False
    try:
        hash(value)
    except TypeError:
        return False
    return True
