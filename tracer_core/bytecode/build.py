"""Create single instructions, and copy programs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tracer_core.bytecode.instruction import CallShape, Handler, Instruction, Program
from tracer_core.bytecode.ops import OPS, Operand
from tracer_core.bytecode.version import cpython


def _is_count(arg: Any) -> bool:
    return type(arg) is int and arg >= 0


def _is_name(arg: Any) -> bool:
    return isinstance(arg, str)


def _is_call(arg: Any) -> bool:
    return isinstance(arg, CallShape) and 0 <= len(arg.keywords) <= arg.count


def _is_one_of(*counts: int) -> Callable[[Any], bool]:
    return lambda arg: _is_count(arg) and arg in counts


_EXPECTED: dict[Operand, tuple[Callable[[Any], bool], str]] = {
    Operand.NONE: (lambda arg: arg is None, "no operand"),
    Operand.COUNT: (_is_count, "an int that is not negative"),
    Operand.NAME: (_is_name, "a name (str)"),
    Operand.CONSTANT: (lambda arg: True, "a constant"),
    Operand.LOCAL: (_is_name, "a local's name (str)"),
    Operand.CELL: (_is_name, "a cell's name (str)"),
    Operand.COMPARISON: (lambda arg: arg in cpython.COMPARISONS, f"one of {cpython.COMPARISONS}"),
    Operand.BINARY: (lambda arg: arg in cpython.BINARY_OPERATORS, f"one of {cpython.BINARY_OPERATORS}"),
    Operand.IDENTITY: (lambda arg: arg in cpython.IDENTITIES, f"one of {cpython.IDENTITIES}"),
    Operand.MEMBERSHIP: (lambda arg: arg in cpython.MEMBERSHIPS, f"one of {cpython.MEMBERSHIPS}"),
    Operand.CALL: (_is_call, "a CallShape that counts its keywords among the arguments"),
}
_POSITIVE = (lambda arg: _is_count(arg) and arg > 0, "an int above zero")
_EXPECTED_OF: dict[str, tuple[Callable[[Any], bool], str]] = {
    **{op: _EXPECTED[info.operand] for op, info in OPS.items()},
    **dict.fromkeys(("SWAP", "COPY", "LIST_APPEND", "SET_ADD", "MAP_ADD"), _POSITIVE),
    **dict.fromkeys(("LIST_EXTEND", "SET_UPDATE", "DICT_UPDATE", "DICT_MERGE"), _POSITIVE),
    "BUILD_SLICE": (_is_one_of(2, 3), "2 or 3"),
    "RAISE_VARARGS": (_is_one_of(0, 1, 2), "0, 1 or 2"),
}
"""The operand type of each operation; anything else crashes CPython."""


def make(op: str, arg: Any = None, target: Instruction | None = None) -> Instruction:
    """Return a generated instruction, without a place in any source text.

    Raises:
        ValueError: no such operation, an operand of the wrong kind, or a target missing or too much.
    """
    check_instruction(op, arg, target)
    return Instruction(op, arg, target)


def check_instruction(op: str, arg: Any, target: Instruction | None) -> None:
    """Raise ValueError for an instruction that no program may contain."""
    info = OPS.get(op)
    if info is None:
        raise ValueError(f"There is no canonical operation {op!r}; see tracer_core.bytecode.OPS for those there are.")
    fits, expected = _EXPECTED_OF[op]
    if not fits(arg):
        raise ValueError(f"{op} needs {expected}, not an operand of type {type(arg).__name__}.")
    if (info.leaves_on_jump is None) != (target is None):
        raise ValueError(f"{op} jumps: give it a target." if info.jumps else f"{op} does not jump: leave target out.")


def copy_program(program: Program) -> Program:
    """Return a copy whose instructions and handlers can be changed freely. Operands and the template are shared."""
    return copy_program_with_map(program)[0]


def copy_program_with_map(program: Program) -> tuple[Program, dict[Instruction, Instruction]]:
    """Return the copy, and the new instruction of each old one."""
    copies = {old: Instruction(old.op, old.arg, span=old.span, origin=old.origin) for old in program.instructions}
    handlers: dict[Handler, Handler] = {}
    for old, new in copies.items():
        if old.target is not None:
            new.target = copies[old.target]
        if old.handler is not None:
            if old.handler not in handlers:
                handler = old.handler
                handlers[handler] = Handler(copies[handler.target], handler.depth, handler.push_lasti)
            new.handler = handlers[old.handler]
    copied = Program(
        program.template,
        list(copies.values()),
        list(program.varnames),
        list(program.cellvars),
        list(program.freevars),
    )
    return copied, copies
