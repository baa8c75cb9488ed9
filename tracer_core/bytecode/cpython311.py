"""How CPython 3.11 spells instructions: opcode names, inline caches, operator numbers."""

from __future__ import annotations

import dis

from tracer_core.bytecode.ops import OPS

OPCODES: dict[str, int] = dict(dis.opmap)
OPNAMES: dict[int, str] = {number: name for name, number in OPCODES.items()}
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

FORWARD: dict[str, str] = {
    "JUMP": "JUMP_FORWARD",
    "JUMP_NO_INTERRUPT": "JUMP_FORWARD",
    "JUMP_IF_FALSE_OR_POP": "JUMP_IF_FALSE_OR_POP",
    "JUMP_IF_TRUE_OR_POP": "JUMP_IF_TRUE_OR_POP",
    "FOR_ITER": "FOR_ITER",
    "SEND": "SEND",
    **{f"POP_JUMP_{condition}": f"POP_JUMP_FORWARD_{condition}" for condition in _CONDITIONS},
}
"""CPython's name of each canonical jump whose target comes later."""

BACKWARD: dict[str, str] = {
    "JUMP": "JUMP_BACKWARD",
    "JUMP_NO_INTERRUPT": "JUMP_BACKWARD_NO_INTERRUPT",
    **{f"POP_JUMP_{condition}": f"POP_JUMP_BACKWARD_{condition}" for condition in _CONDITIONS},
}
"""CPython's name of each canonical jump whose target comes earlier; others only go forward."""

KEEPING_JUMPS: dict[str, str] = {
    "JUMP_IF_FALSE_OR_POP": "POP_JUMP_IF_FALSE",
    "JUMP_IF_TRUE_OR_POP": "POP_JUMP_IF_TRUE",
}
"""Jumps that keep the tested value where they go, and their popping counterpart; they exist only forward."""

_JUMPS = {cpython: op for op, cpython in (*FORWARD.items(), *BACKWARD.items()) if cpython != "JUMP_FORWARD"}

CANONICAL: dict[str, str] = {
    **{name: name for name in OPCODES if name in OPS},
    **_JUMPS,
    "JUMP_FORWARD": "JUMP",
}
"""Canonical operation of each CPython instruction that has one. EXTENDED_ARG, KW_NAMES and PRECALL are prefixes of
what follows them and CACHE is part of what precedes it."""
