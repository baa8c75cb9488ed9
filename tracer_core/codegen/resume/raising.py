"""Codes that raise an exception at the point where a frame would have resumed."""

from __future__ import annotations

from types import CodeType

from tracer_core.bytecode import Instruction, assemble, decode, make
from tracer_core.codegen.resume.functions import Resume


def raising(resume: Resume, error: BaseException) -> CodeType:
    """Return the resume function's code, changed to raise `error` where it would have resumed, so that the
    surrounding `with` and `try` blocks are left properly."""
    program = decode(resume.code)
    jump = program.instructions[resume.shift - 1]
    target = jump.target
    assert jump.op == "JUMP" and target is not None
    program.instructions[resume.shift - 1 : resume.shift] = _raise_as_at(target, error)
    return assemble(program)


def raising_at_start(code: CodeType, error: BaseException) -> CodeType:
    """Return the code, changed to raise `error` before anything else."""
    program = decode(code)
    at = next(i for i, instruction in enumerate(program.instructions) if instruction.op == "RESUME")
    program.instructions[at + 1 : at + 1] = _raise_as_at(program.instructions[at], error)
    return assemble(program)


def _raise_as_at(place: Instruction, error: BaseException) -> list[Instruction]:
    made = [make("LOAD_CONST", error), make("RAISE_VARARGS", 1)]
    for instruction in made:
        instruction.span, instruction.handler = place.span, place.handler
    return made
