"""Every operation has its words, and what they say is what happened."""

from __future__ import annotations

import re
from typing import Any

import pytest
import torch

import tracer_core.recording.operation_verbs  # noqa: F401  fills the table
import tracewalk as tw
from tests.recording.synthetic import Frame, example, functions
from tests.recording.synthetic_values import NULL, ConstantVariable, VariableTracker
from tracer_core.bytecode import OPS, CallShape, Instruction, Operand
from tracer_core.recording import Trace
from tracer_core.recording.recorder import Recorder
from tracer_core.recording.sentence_parts import VERBS, listed


@pytest.fixture(scope="module")
def trace() -> Trace:
    return Trace(example())


def test_every_canonical_operation_has_its_own_words() -> None:
    assert set(OPS) - set(VERBS) == set()
    assert set(VERBS) - set(OPS) == set()


def said(trace: Trace, **where: Any) -> str:
    return trace.find(**where)[0].sentence


def test_what_the_example_says(trace: Trace) -> None:
    assert [step.sentence for step in trace.steps[:8]] == [
        "RESUME 0 marked where the function starts or resumes.",
        "LOAD_FAST x pushed Tensor f32[4, 8] (`x`).",
        "STORE_FAST total bound `total` to Tensor f32[4, 8] (`x`).",
        "LOAD_FAST weights pushed List of 2 (`weights`).",
        "GET_ITER took List of 2 (`weights`) and pushed its iterator, Iterator with 2 left.",
        "FOR_ITER to 76 took the next item of Iterator with 2 left (the iterator over `weights`) and pushed "
        "Tensor f32[8, 8] (`weights[0]`).",
        "STORE_FAST weight bound `weight` to Tensor f32[8, 8] (`weights[0]`).",
        "LOAD_GLOBAL NULL + layer looked up the global `layer`, installed guard `layer is the function layer`, "
        "and pushed Function layer.",
    ]


def test_operators_tell_the_node(trace: Trace) -> None:
    assert said(trace, function="layer", op="BINARY_OP") == (
        "BINARY_OP @ took Tensor f32[4, 8] (`x`) and Tensor f32[8, 8] (`weights[0]`), "
        "added node `matmul = L__x__ @ L__weights___0_`, and pushed Tensor f32[4, 8]."
    )


def test_calls_tell_what_was_inlined(trace: Trace) -> None:
    assert said(trace, function="model", op="CALL") == (
        "CALL 1 called Function number with Constant 'two', inlined number (model.py:9), "
        "and pushed its result Constant 2."
    )


def test_calls_of_methods(trace: Trace) -> None:
    assert said(trace, function="layer", op="CALL") == (
        "CALL 1 called Method append with Constant 2 and pushed Constant None."
    )
    assert said(trace, function="model", op="CALL", node="sum") == (
        "CALL 0 called Method sum without arguments, added node `sum = mul_1.sum()`, and pushed Tensor f32[]."
    )


def test_a_step_that_raised(trace: Trace) -> None:
    assert said(trace, function="number", op="CALL") == (
        "CALL 1 called Function int with Constant 'two' and raised "
        "ValueError(\"invalid literal for int() with base 10: 'two'\")."
    )


def test_a_break(trace: Trace) -> None:
    assert said(trace, break_=True) == (
        "POP_JUMP_FORWARD_IF_FALSE to 134 tested Tensor f32[] (`total.sum() > 0`). The graph breaks here: "
        "The code branches on the value of a tensor (total.sum() > 0). The tracer goes back to line 17 "
        "and stops here this time."
    )


def test_a_break_in_a_function_that_was_inlined() -> None:
    def inner(x: torch.Tensor) -> torch.Tensor:
        return x + 1 if x.sum() > 0 else x

    def outer(x: torch.Tensor) -> torch.Tensor:
        y = x * 2
        return inner(y)

    trace = tw.trace(outer, torch.ones(2))
    first = outer.__code__.co_firstlineno
    assert trace.steps[trace.attempts[0].last_step].sentence.endswith(
        f"The tracer goes back to line {first + 1} and stops this time at line {first + 2}, "
        "which called what leads here."
    )


def test_jumps_tell_the_way_and_why(trace: Trace) -> None:
    assert said(trace, function="number", op="POP_JUMP_IF_FALSE") == (
        "POP_JUMP_FORWARD_IF_FALSE to 60 found Constant True true and did not jump."
    )
    loop = trace.find(function="model", op="FOR_ITER")
    assert loop[2].sentence == (
        "FOR_ITER to 76 found Iterator with 0 left (the iterator over `weights`) exhausted and jumped to line 20."
    )
    assert said(trace, function="model", op="JUMP") == "JUMP_BACKWARD to 10 jumped to line 18."


def test_returns_tell_to_whom(trace: Trace) -> None:
    assert said(trace, function="layer", op="RETURN_VALUE") == (
        "RETURN_VALUE returned Tensor f32[4, 8] (`kept[0] * scale`) to model."
    )


def test_lists() -> None:
    assert [listed(["a", "b", "c"][:n]) for n in range(4)] == ["", "a", "a and b", "a, b, and c"]


# --- operations that the example does not use: two steps in a frame, the stack before and after given by hand ---


def tell(op: str, arg: Any, before: list[VariableTracker], after: list[VariableTracker]) -> str:
    recorder = Recorder()
    code = functions()["layer"].__code__
    frame = Frame(code, {}, None)
    recorder.on_compile_start(code, 1)
    recorder.on_attempt_start(frame, 1)
    instruction = Instruction(op, arg, target=frame.program.instructions[-1] if OPS[op].jumps else None)
    frame.stack[:] = before
    recorder.on_step_start(frame, instruction)
    frame.stack[:] = after
    recorder.on_step_end(frame, instruction)
    recorder.on_step_start(frame, frame.program.instructions[0])
    return Trace(recorder.finish()).steps[0].sentence


# op, operand, stack before, stack after, and what is said after the instruction's name; letters are constants
BY_HAND = """
SWAP                2  a b      b a    swapped B with A.
COPY                2  a b      a b a  pushed A again.
UNARY_NOT           -  a        b      took A and pushed B.
BINARY_SUBSCR       -  a b      c      read item B of A and pushed C.
STORE_ATTR          n  a b      -      set the attribute `n` of B to A.
LOAD_ATTR           n  a        b      read the attribute `n` of A and pushed B.
STORE_SUBSCR        -  a b c    -      set item C of B to A.
DELETE_SUBSCR       -  a b      -      deleted item B of A.
BUILD_TUPLE         0  -        a      built a tuple without items and pushed A.
BUILD_MAP           1  a b      c      built a dict of 1 item and pushed C.
BUILD_CONST_KEY_MAP 2  a b c    d      built a dict of 2 items and pushed D.
LIST_APPEND         1  a b      a      appended B to A.
LIST_APPEND         2  a b c    a b    appended C to A.
LIST_EXTEND         1  a b      a      extended A with B.
MAP_ADD             1  a b c    a      set key B of A to C.
DICT_MERGE          1  a b c d  a b c  added the keyword arguments D to C.
UNPACK_SEQUENCE     2  a        c b    unpacked A into 2 values and pushed C and B.
FORMAT_VALUE        4  a b      c      formatted A as a string and pushed C.
RAISE_VARARGS       2  a b      -      took A to raise it from B.
JUMP_IF_TRUE_OR_POP -  a        -      found A false and did not jump.
POP_JUMP_IF_NONE    -  a        -      found A not to be None and did not jump.
MATCH_CLASS         0  a b c    d      matched A against the class B and pushed D.
CALL_FUNCTION_EX    1  0 a b c  d      called A with unpacked arguments B and keywords C and pushed D.
CALL_FUNCTION_EX    0  0 a b    d      called A with unpacked arguments B and pushed D.
NOP                 -  -        -      did nothing.
PUSH_NULL           -  -        0      began a call: pushed the NULL that precedes its callable.
"""
LETTERS: dict[str, Any] = {"0": NULL, **{name: ConstantVariable(name) for name in "abcd"}}


def letters(text: str) -> list[Any]:
    return [LETTERS[name] for name in text.replace("-", "").split()]


@pytest.mark.parametrize("row", BY_HAND.strip().splitlines())
def test_by_hand(row: str) -> None:
    op, arg, before, after, expected = row[:20].strip(), row[20], row[23:32], row[32:39], row[39:]
    value = None if arg == "-" else int(arg) if arg.isdigit() else arg
    expected = re.sub(r"\b([A-D])\b", lambda match: f"Constant '{match[1].lower()}'", expected)
    name = op if value is None else f"{op} {value}"
    assert tell(op, value, letters(before), letters(after)) == f"{name} {expected}"


SAMPLE = {
    Operand.NONE: None,
    Operand.COUNT: 1,
    Operand.CONSTANT: 1,
    Operand.CALL: CallShape(1),
    Operand.COMPARISON: "<",
    Operand.BINARY: "+",
    Operand.IDENTITY: "is",
    Operand.MEMBERSHIP: "in",
}


@pytest.mark.parametrize("op", sorted(OPS))
def test_every_operation_makes_a_clean_sentence(op: str) -> None:
    info = OPS[op]
    arg = SAMPLE.get(info.operand, "name")
    before: list[Any] = [ConstantVariable(i) for i in range(info.takes(arg))]
    after: list[Any] = [ConstantVariable(-i) for i in range(info.leaves(arg))]
    sentence = tell(op, arg, before, after)
    assert sentence.endswith(".")
    assert "  " not in sentence
    assert "unknown" not in sentence
    assert "None." not in sentence
    assert "{" not in sentence
    assert " completed" not in sentence


@pytest.mark.parametrize("op", sorted(OPS))
def test_words_do_not_fail_where_the_stack_is_short(op: str) -> None:
    info = OPS[op]
    arg = SAMPLE.get(info.operand, "name")
    assert tell(op, arg, [], []).startswith(op)


def test_values_have_articles() -> None:
    def helper(x: torch.Tensor) -> torch.Tensor:
        return x + 1

    def program(x: torch.Tensor) -> torch.Tensor:
        for factor in [x, helper(x)]:
            x = x * factor
        return x

    said = [step.sentence for step in tw.trace(program, torch.ones(2)).steps if step.code.name == "program"]
    assert any(text.endswith("pushed the function `helper`.") for text in said)
    (took,) = [text for text in said if text.startswith("GET_ITER")]
    assert took.startswith("GET_ITER took a tuple of 2") and took.endswith("and pushed an iterator over it.")
