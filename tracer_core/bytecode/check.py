"""Check a program before it is assembled: CPython checks nothing, and a bad code object crashes the process."""

from __future__ import annotations

import inspect

from tracer_core.bytecode.build import check_instruction
from tracer_core.bytecode.flow import is_terminal, reachable
from tracer_core.bytecode.instruction import Instruction, Program
from tracer_core.bytecode.ops import OPS, Operand


def check_program(program: Program) -> None:
    """Raise ValueError, with one sentence, for the first part of a program that cannot be assembled."""
    _check_end(program)
    _check_variables(program)
    members = set(program.instructions)
    if len(members) != len(program.instructions):
        raise ValueError(f"{_name(program)} lists one instruction object twice; copy it so that jumps stay clear.")
    for index, instruction in enumerate(program.instructions):
        try:
            check_instruction(instruction.op, instruction.arg, instruction.target)
        except ValueError as error:
            raise ValueError(f"Instruction {index} of {_name(program)}: {error}") from None
        _check_targets(program, index, instruction, members)


def argument_count(program: Program) -> int:
    """Return how many of the first local slots are arguments, `*args` and `**kwargs` included."""
    template = program.template
    stars = bool(template.co_flags & inspect.CO_VARARGS) + bool(template.co_flags & inspect.CO_VARKEYWORDS)
    return template.co_argcount + template.co_kwonlyargcount + stars


def _check_end(program: Program) -> None:
    if not program.instructions:
        raise ValueError(f"{_name(program)} has no instructions; it needs at least a RETURN_VALUE.")
    last = program.instructions[-1]
    if last.op in OPS and not is_terminal(last.op) and last in reachable(program):
        raise ValueError(f"{_name(program)} runs past its last instruction ({last.op}); end it with RETURN_VALUE.")


def _check_targets(program: Program, index: int, instruction: Instruction, members: set[Instruction]) -> None:
    where = f"Instruction {index} ({instruction.op}) of {_name(program)}"
    if instruction.target is not None and instruction.target not in members:
        raise ValueError(f"{where} jumps to an instruction that is not in the program; add that one too.")
    if instruction.handler is not None and instruction.handler.target not in members:
        raise ValueError(f"{where} has a handler that is not in the program; add it or clear `handler`.")


def _check_variables(program: Program) -> None:
    arguments = argument_count(program)
    if len(program.varnames) < arguments:
        raise ValueError(
            f"{_name(program)} takes {arguments} arguments but `varnames` has {len(program.varnames)}; "
            "list the arguments first."
        )
    for kind in ("varnames", "cellvars", "freevars"):
        names = getattr(program, kind)
        if len(set(names)) != len(names):
            raise ValueError(f"{_name(program)} names a variable twice in `{kind}`; keep each name once.")
    cells, free = set(program.cellvars), set(program.freevars)
    for instruction in program.instructions:
        _check_variable(program, instruction, cells, free)
    ops = {instruction.op for instruction in program.instructions}
    if free and "COPY_FREE_VARS" not in ops:
        raise ValueError(f"{_name(program)} has free variables; begin it with COPY_FREE_VARS.")
    if not free and "COPY_FREE_VARS" in ops:
        raise ValueError(f"{_name(program)} has no free variables; drop its COPY_FREE_VARS.")
    made = {instruction.arg for instruction in program.instructions if instruction.op == "MAKE_CELL"}
    for name in program.cellvars:
        if name not in made:
            raise ValueError(f"{_name(program)} never makes its cell {name!r}; begin it with MAKE_CELL {name}.")


def _check_variable(program: Program, instruction: Instruction, cells: set[str], free: set[str]) -> None:
    op, name = instruction.op, instruction.arg
    operand = OPS[op].operand if op in OPS else Operand.NONE
    if operand is Operand.CELL and name not in cells and (name not in free or op == "MAKE_CELL"):
        raise ValueError(
            f"{op} in {_name(program)} uses {name!r}, which is neither in `cellvars` nor `freevars`; add it there."
        )
    if operand is Operand.LOCAL and name not in program.varnames and (name in cells or name in free):
        raise ValueError(
            f"{op} in {_name(program)} uses {name!r}, which is a cell; use the DEREF operation, or LOAD_CLOSURE."
        )


def _name(program: Program) -> str:
    return program.template.co_qualname
