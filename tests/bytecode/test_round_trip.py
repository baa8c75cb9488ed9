"""Decoding and assembling a third of the standard library gives CPython's own bytes again."""

from __future__ import annotations

import dis
from collections.abc import Iterator
from itertools import chain
from types import CodeType

from tests.bytecode.programs import snippet_codes, stdlib_codes
from tracer_core.bytecode import OPS, assemble, decode, max_stack, reachable, stack_depths

SAME = (
    "co_code co_consts co_names co_varnames co_cellvars co_freevars co_nlocals co_flags co_argcount "
    "co_kwonlyargcount co_posonlyargcount co_name co_qualname co_filename co_firstlineno co_exceptiontable"
).split()


def positions(code: CodeType) -> Iterator[tuple[int | None, ...]]:
    """Of each code unit, but those of KW_NAMES (and its prefix): it is part of its CALL, and has the CALL's place."""
    raw = code.co_code
    units = list(code.co_positions())[: len(raw) // 2]
    start = 0
    while start < len(units):
        end = start
        while raw[2 * end] == dis.EXTENDED_ARG:
            end += 1
        if dis.opname[raw[2 * end]] != "KW_NAMES":
            yield from units[start : end + 1]
        start = end + 1


def test_standard_library() -> None:
    seen_ops: set[str] = set()
    count = 0
    for code in chain(stdlib_codes(), snippet_codes()):
        count += 1
        program = decode(code)
        seen_ops.update(instruction.op for instruction in program.instructions)
        again = assemble(program)
        for attribute in SAME:
            assert getattr(again, attribute) == getattr(code, attribute), (attribute, code)
        assert all(new is old for new, old in zip(again.co_consts, code.co_consts, strict=True)), code
        if again.co_linetable != code.co_linetable:
            assert list(positions(again)) == list(positions(code)), code
        if again.co_stacksize != code.co_stacksize:  # CPython reserves room for dead code too
            assert len(reachable(program)) < len(program.instructions), code
            assert again.co_stacksize == max_stack(program) < code.co_stacksize, code
    assert count > 5_000
    assert seen_ops == set(OPS), "every canonical operation occurs, and no other"


def test_assembling_twice_changes_nothing() -> None:
    for code in snippet_codes():
        once = assemble(decode(code))
        twice = assemble(decode(once))
        for attribute in (*SAME, "co_linetable", "co_stacksize"):
            assert getattr(twice, attribute) == getattr(once, attribute)


def test_every_instruction_reached_has_one_depth() -> None:
    for code in snippet_codes():
        program = decode(code)
        assert set(stack_depths(program)) == reachable(program)
