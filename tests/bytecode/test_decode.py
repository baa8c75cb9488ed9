"""Decoding agrees with `dis`, instruction by instruction."""

from __future__ import annotations

import dis
import opcode
from itertools import chain
from types import CodeType

import pytest

from tests.bytecode.programs import module_codes, snippet_codes
from tracer_core.bytecode import CallShape, Instruction, decode
from tracer_core.bytecode.operand_text import constant_text
from tracer_core.bytecode.version import cpython

PREFIXES = {"EXTENDED_ARG", "KW_NAMES", "PRECALL"}
SAMPLE = ("shutil.py", "contextlib.py", "asyncio/taskgroups.py", "enum.py", "difflib.py", "_pydecimal.py")
CONDITIONS = ("TRUE", "FALSE", "NONE", "NOT_NONE")


def sample_codes() -> list[CodeType]:
    return list(chain(snippet_codes(), *map(module_codes, SAMPLE)))


def expected_op(instruction: dis.Instruction) -> str:
    name = instruction.opname
    for condition in CONDITIONS:
        if name in (f"POP_JUMP_FORWARD_IF_{condition}", f"POP_JUMP_BACKWARD_IF_{condition}"):
            return f"POP_JUMP_IF_{condition}"
    if name in ("JUMP_FORWARD", "JUMP_BACKWARD"):
        return "JUMP"
    if name == "JUMP_BACKWARD_NO_INTERRUPT":
        return "JUMP_NO_INTERRUPT"
    if name == "LOAD_GLOBAL" and instruction.argrepr.startswith("NULL + "):
        return "LOAD_GLOBAL_NULL"
    return name


def expected_arg(instruction: dis.Instruction) -> object:
    name = instruction.opname
    if instruction.opcode in dis.hasjrel or instruction.arg is None:
        return None
    if name == "BINARY_OP":
        return instruction.argrepr
    if name == "IS_OP":
        return ("is", "is not")[instruction.arg]
    if name == "CONTAINS_OP":
        return ("in", "not in")[instruction.arg]
    if name in ("FORMAT_VALUE", "MAKE_FUNCTION"):
        return instruction.arg
    return instruction.argval


def test_operations_operands_and_places_are_those_of_dis() -> None:
    for code in sample_codes():
        told = [each for each in dis.get_instructions(code) if each.opname not in PREFIXES]
        program = decode(code)
        assert len(program.instructions) == len(told)
        for ours, theirs in zip(program.instructions, told, strict=True):
            assert ours.op == expected_op(theirs)
            if ours.op == "CALL":
                assert ours.arg.count == theirs.arg
            else:
                assert ours.arg == expected_arg(theirs)
                assert type(ours.arg) is type(expected_arg(theirs))
            assert ours.origin is not None
            assert ours.origin.opname == theirs.opname
            assert ours.origin.offset == theirs.offset
            plain_count = not theirs.argrepr and theirs.arg is not None and theirs.argval != ""
            shown = str(theirs.arg) if plain_count else theirs.argrepr
            assert ours.origin.argrepr == shown
            assert theirs.positions is not None
            assert (ours.span or (None,) * 4) == tuple(theirs.positions)


def test_jumps_and_handlers_reach_what_dis_says() -> None:
    for code in sample_codes():
        told = list(dis.get_instructions(code))
        program = decode(code)
        ours_at = {each.origin.offset: each for each in program.instructions if each.origin is not None}
        target_of: dict[int, Instruction] = {}
        for number, theirs in enumerate(told):
            owner = next(each for each in told[number:] if each.opname not in PREFIXES)
            target_of[theirs.offset] = ours_at[owner.offset]
        for theirs in told:
            if theirs.opcode in dis.hasjrel:
                assert ours_at[theirs.offset].target is target_of[theirs.argval]
        covered = {}
        for entry in dis._parse_exception_table(code):  # type: ignore[attr-defined]
            handlers = {ours_at[at].handler for at in ours_at if entry.start <= at < entry.end}
            assert len(handlers) == 1, "one handler object an entry"
            handler = handlers.pop()
            assert handler is not None
            assert handler.target is target_of[entry.target]
            assert (handler.depth, handler.push_lasti) == (entry.depth, entry.lasti)
            covered.update(dict.fromkeys(at for at in ours_at if entry.start <= at < entry.end))
        assert all(ours_at[at].handler is None for at in ours_at if at not in covered)


def test_call_carries_its_keywords() -> None:
    code = compile("f(1, *(), x=2)\ng(1, a=2, b=3)\nh()", "<test>", "exec")
    calls = [each.arg for each in decode(code).instructions if each.op == "CALL"]
    assert calls == [CallShape(3, ("a", "b")), CallShape(0)]


def test_keywords_found_behind_an_extended_operand() -> None:
    numbers = ", ".join(str(1000 + number) for number in range(300))
    code = compile(f"f([{numbers.replace(', ', ', x, ')}], key=1)", "<test>", "exec")
    assert [each.arg for each in decode(code).instructions if each.op == "CALL"] == [CallShape(2, ("key",))]


def test_jump_to_a_prefix_reaches_what_follows_it() -> None:
    names = "\n".join(f"a{number}" for number in range(300))
    code = compile(f"{names}\nif x:\n    y\nunlikely_name\n", "<test>", "exec")
    jump = next(each for each in decode(code).instructions if each.op == "POP_JUMP_IF_FALSE")
    assert jump.target is not None
    assert (jump.target.op, jump.target.arg) == ("LOAD_NAME", "unlikely_name")


def test_spelling_tables_are_those_of_this_python() -> None:
    assert cpython.COMPARISONS == opcode.cmp_op
    assert list(cpython.BINARY_OPERATORS) == [spelling for _, spelling in opcode._nb_ops]  # type: ignore[attr-defined]
    caches = opcode._inline_cache_entries  # type: ignore[attr-defined]
    assert {name: caches[number] for name, number in dis.opmap.items() if caches[number]} == cpython.CACHES


def test_every_cpython_instruction_has_a_place() -> None:
    assert set(dis.opmap) - set(cpython.CANONICAL) == {"CACHE", *PREFIXES}


def test_constants_are_shown_without_running_their_code() -> None:
    class Loud:
        def __repr__(self) -> str:
            raise AssertionError("must not run")

    assert constant_text(Loud()).endswith("Loud object>")
    assert constant_text((1, Loud())) == "<tuple object>"
    assert constant_text((1, frozenset({"a"}))) == "(1, frozenset({'a'}))"
    assert constant_text(1 << 20000) == hex(1 << 20000)


@pytest.mark.parametrize("value", [(1 << 20000,), frozenset({1 << 20000})])
def test_huge_ints_inside_constants_are_named(value: object) -> None:
    assert "huge int" in constant_text(value)
