"""The first instructions of a code: create its cells, copy its free variables, return a generator."""

from __future__ import annotations

from collections.abc import Sequence

from tracer_core.bytecode.build import copy_program_with_map, make
from tracer_core.bytecode.instruction import Instruction, Program
from tracer_core.bytecode.version import cpython

_MAKES_FRAME = frozenset({"MAKE_CELL", "COPY_FREE_VARS", "RETURN_GENERATOR"})


def prologue(cells: Sequence[str] = (), free: Sequence[str] = (), *, generator: bool = False) -> list[Instruction]:
    """Return the beginning of a code that has these cells and free variables."""
    return [make(op, arg) for op, arg in cpython.prologue(cells, free, generator=generator)]


def body_of(program: Program) -> tuple[Program, dict[Instruction, Instruction]]:
    """Return a copy without its own beginning, to jump into after another beginning, and the new position of each
    instruction."""
    body, moved = copy_program_with_map(program)
    for instruction in body.instructions:
        if instruction.op in _MAKES_FRAME:
            instruction.op, instruction.arg = "NOP", None
    return body, moved


def bind_methods(program: Program) -> None:
    """Make each LOAD_METHOD push a bound method beside an empty slot, as it does on the stack of a trace. (CPython's
    decides at run time whether to keep function and object apart.)"""
    bound: list[Instruction] = []
    for instruction in program.instructions:
        bound.append(instruction)
        if instruction.op == "LOAD_METHOD":
            instruction.op = "LOAD_ATTR"
            added = [make("PUSH_NULL")]
            if cpython.NULL_BELOW_CALLABLE:
                added.append(make("SWAP", 2))
            bound.extend(added)
    program.instructions = bound
