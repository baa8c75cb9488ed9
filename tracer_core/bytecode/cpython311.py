"""The encoding of instructions in CPython 3.11: see `tracer_core.bytecode.version.Version`."""

from __future__ import annotations

import dis
from collections.abc import Iterator, Sequence

from tracer_core.bytecode.exception_table import encode_exception_table, parse_exception_table
from tracer_core.bytecode.instruction import Spelled
from tracer_core.bytecode.line_table import encode_line_table
from tracer_core.bytecode.ops import OPS

__all__ = [
    "BACKWARD",
    "BINARY_OPERATORS",
    "CACHES",
    "CANONICAL",
    "COMPARISONS",
    "DELEGATING",
    "EXTENDED_ARG",
    "FIRST_WITH_OPERAND",
    "FLAGGED",
    "IDENTITIES",
    "KEYWORDS",
    "MEMBERSHIPS",
    "NULL_BELOW_CALLABLE",
    "OPCODES",
    "encode_exception_table",
    "encode_line_table",
    "parse_exception_table",
    "prologue",
    "slots",
    "spell",
]

OPCODES: dict[str, int] = dict(dis.opmap)
FIRST_WITH_OPERAND = dis.HAVE_ARGUMENT

CACHES: dict[str, int] = {
    "BINARY_SUBSCR": 4,
    "STORE_SUBSCR": 1,
    "UNPACK_SEQUENCE": 1,
    "STORE_ATTR": 4,
    "LOAD_ATTR": 4,
    "COMPARE_OP": 2,
    "LOAD_GLOBAL": 5,
    "BINARY_OP": 1,
    "LOAD_METHOD": 10,
    "PRECALL": 1,
    "CALL": 4,
}
"""Code units (2 bytes) of inline cache that follow an instruction."""

COMPARISONS: tuple[str, ...] = ("<", "<=", "==", "!=", ">", ">=")
_PLAIN_BINARY = ("+", "&", "//", "<<", "@", "*", "%", "|", "**", ">>", "-", "/", "^")
BINARY_OPERATORS: tuple[str, ...] = _PLAIN_BINARY + tuple(f"{operator}=" for operator in _PLAIN_BINARY)
IDENTITIES: tuple[str, ...] = ("is", "is not")
MEMBERSHIPS: tuple[str, ...] = ("in", "not in")

_CONDITIONS = ("IF_FALSE", "IF_TRUE", "IF_NONE", "IF_NOT_NONE")

_FORWARD: dict[str, str] = {
    "JUMP": "JUMP_FORWARD",
    "JUMP_NO_INTERRUPT": "JUMP_FORWARD",
    "JUMP_IF_FALSE_OR_POP": "JUMP_IF_FALSE_OR_POP",
    "JUMP_IF_TRUE_OR_POP": "JUMP_IF_TRUE_OR_POP",
    "FOR_ITER": "FOR_ITER",
    "SEND": "SEND",
    **{f"POP_JUMP_{condition}": f"POP_JUMP_FORWARD_{condition}" for condition in _CONDITIONS},
}
"""CPython's name of each canonical jump whose target comes later."""

_BACKWARD: dict[str, str] = {
    "JUMP": "JUMP_BACKWARD",
    "JUMP_NO_INTERRUPT": "JUMP_BACKWARD_NO_INTERRUPT",
    **{f"POP_JUMP_{condition}": f"POP_JUMP_BACKWARD_{condition}" for condition in _CONDITIONS},
}
"""CPython's name of each canonical jump whose target comes earlier; others only go forward."""
BACKWARD = frozenset(_BACKWARD.values())

_KEEPING_JUMPS: dict[str, str] = {
    "JUMP_IF_FALSE_OR_POP": "POP_JUMP_IF_FALSE",
    "JUMP_IF_TRUE_OR_POP": "POP_JUMP_IF_TRUE",
}
"""Jumps that keep the tested value if they are taken, and their popping counterpart; they exist only forward."""

EXTENDED_ARG, KEYWORDS = "EXTENDED_ARG", "KW_NAMES"
FLAGGED: dict[str, tuple[str, str]] = {"LOAD_GLOBAL": ("LOAD_GLOBAL", "LOAD_GLOBAL_NULL")}
_FLAGGED = {op: (name, flag) for name, ops in FLAGGED.items() for flag, op in enumerate(ops)}

_JUMPS = {name: op for op, name in (*_FORWARD.items(), *_BACKWARD.items()) if name != "JUMP_FORWARD"}
CANONICAL: dict[str, str] = {
    **{name: name for name in OPCODES if name in OPS},
    **_JUMPS,
    "JUMP_FORWARD": "JUMP",
}
"""EXTENDED_ARG, KW_NAMES and PRECALL are prefixes of the instruction after them; CACHE belongs to the one before
it."""

NULL_BELOW_CALLABLE = True
DELEGATING = 2


def spell(op: str, number: int, keywords: int | None, backward: bool) -> Sequence[Spelled]:
    if op in _FORWARD:
        return _spell_jump(op, backward)
    if op == "CALL":
        call = [("PRECALL", number, False), ("CALL", number, False)]
        return call if keywords is None else [(KEYWORDS, keywords, False), *call]
    if op in _FLAGGED:
        name, flag = _FLAGGED[op]
        return [(name, number << 1 | flag, False)]
    return [(op, number, False)]


def _spell_jump(op: str, backward: bool) -> Sequence[Spelled]:
    if not backward:
        return [(_FORWARD[op], 0, True)]
    if op in _BACKWARD:
        return [(_BACKWARD[op], 0, True)]
    if op in _KEEPING_JUMPS:
        return [("COPY", 1, False), (_BACKWARD[_KEEPING_JUMPS[op]], 0, True), ("POP_TOP", 0, False)]
    raise ValueError(f"{op} can only jump forward; put its target after it (for example a JUMP to the place).")


def prologue(cells: Sequence[str], free: Sequence[str], *, generator: bool) -> Iterator[tuple[str, str | int | None]]:
    if free:
        yield "COPY_FREE_VARS", len(free)
    for name in cells:
        yield "MAKE_CELL", name
    if generator:
        yield "RETURN_GENERATOR", None
        yield "POP_TOP", None
    yield "RESUME", 0


def slots(varnames: Sequence[str], cells: Sequence[str], free: Sequence[str]) -> tuple[str, ...]:
    """Return the locals, the cells that are not locals (an argument's cell sits in its slot), and the free
    variables."""
    return (*varnames, *(name for name in cells if name not in varnames), *free)
