"""Instructions made by hand, and copies of programs."""

from __future__ import annotations

import pytest

from tracer_core.bytecode import OPS, CallShape, assemble, copy_program_with_map, decode, make


def _looping(limit: int) -> list[int]:
    found = []
    for number in range(limit):
        try:
            found.append(10 // (number - 2))
        except ZeroDivisionError:
            found.append(-1)
    return found


@pytest.mark.parametrize(
    ("op", "arg", "words"),
    [
        ("LOAD_FASTER", None, "no canonical operation"),
        ("LOAD_FAST", 3, "name"),
        ("BUILD_LIST", "x", "int"),
        ("BUILD_LIST", -1, "negative"),
        ("BUILD_LIST", True, "int"),
        ("BINARY_OP", "<>", "one of"),
        ("COMPARE_OP", "is", "one of"),
        ("CALL", 2, "CallShape"),
        ("CALL", CallShape(1, ("a", "b")), "CallShape"),
        ("COPY", 0, "above zero"),
        ("LIST_APPEND", 0, "above zero"),
        ("BUILD_SLICE", 1, "2 or 3"),
        ("RAISE_VARARGS", 3, "0, 1 or 2"),
        ("POP_TOP", 1, "no operand"),
        ("JUMP", None, "target"),
    ],
)
def test_make_refuses_what_no_program_may_hold(op: str, arg: object, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        make(op, arg)


def test_make_refuses_a_target_on_what_does_not_jump() -> None:
    with pytest.raises(ValueError, match="does not jump"):
        make("POP_TOP", None, make("NOP"))


def test_make_sets_what_it_is_given() -> None:
    end = make("RETURN_VALUE")
    jump = make("POP_JUMP_IF_NONE", target=end)
    assert (jump.op, jump.arg, jump.target, jump.handler, jump.span) == ("POP_JUMP_IF_NONE", None, end, None, None)
    assert make("CALL", CallShape(2, ("a",))).arg == (2, ("a",))
    assert make("LOAD_CONST", ["unhashable"]).arg == ["unhashable"]


def test_a_copy_shares_no_instruction_and_runs_the_same() -> None:
    original = decode(_looping.__code__)
    copied, new_of = copy_program_with_map(original)
    assert [new_of[old] for old in original.instructions] == copied.instructions
    assert not set(original.instructions) & set(copied.instructions)
    for old, new in new_of.items():
        assert (old.op, old.arg, old.span, old.origin) == (new.op, new.arg, new.span, new.origin)
        assert new.target is (None if old.target is None else new_of[old.target])
        if old.handler is not None:
            assert new.handler is not None
            assert new.handler is not old.handler
            assert new.handler.target is new_of[old.handler.target]
            assert (new.handler.depth, new.handler.push_lasti) == (old.handler.depth, old.handler.push_lasti)
    shared = {old.handler: new.handler for old, new in new_of.items()}
    assert all(shared[old.handler] is new.handler for old, new in new_of.items())
    copied.varnames.append("extra")
    assert "extra" not in original.varnames
    assert assemble(original).co_code == _looping.__code__.co_code


def test_ops_name_themselves() -> None:
    assert all(info.name == name for name, info in OPS.items())
