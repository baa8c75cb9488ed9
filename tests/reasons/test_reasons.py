"""Each reason of the catalogue is given by a program, and no other is; each says something to its reader."""

from __future__ import annotations

import ast
import re
import string
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

import tracer_core
from tests.reasons import breaks_in_bodies, breaks_of_calls, breaks_of_objects, breaks_of_tensors, frames_left
from tests.reasons.table import CASES, reasons_given
from tracer_core.reasons import REASONS

PROGRAMS = (breaks_of_tensors, breaks_of_objects, breaks_of_calls, breaks_in_bodies, frames_left)


# Given only in a body that may have to be rolled back: see tests/variables/test_rolled_back.py; and by rules that
# operators choose for the arguments and results of bodies: see tests/higher_order and tests/graph.
INSIDE_BODIES = {"set-kept", "body-argument", "leaves-its-body"}


def test_each_reason_has_a_program() -> None:
    assert CASES.keys() | INSIDE_BODIES == REASONS.keys()


@pytest.fixture
def settings_put_back() -> Iterator[None]:
    """A program leaves autocast on."""
    before = torch.is_autocast_enabled("cpu")
    yield
    torch.set_autocast_enabled("cpu", before)


@pytest.mark.usefixtures("settings_put_back")
@pytest.mark.parametrize("reason_id", CASES)
def test_the_program_gives_the_reason_in_a_full_sentence(reason_id: str) -> None:
    given = reasons_given(CASES[reason_id])
    messages = [message for given_id, message in given if given_id == reason_id]
    assert messages, f"gives {given}"
    for message in messages:
        assert message[0].isupper() or REASONS[reason_id].sentence.startswith("{"), message
        assert message.endswith(".") or REASONS[reason_id].sentence.endswith("{error}"), message
        assert not re.search(r"[{}]|\bNone\b|Variable\b|VariableTracker", message), message


def raised(tree: ast.AST) -> Iterator[ast.Call]:
    """Calls that make an `Unsupported`, or a skipped frame, with a literal reason."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            if node.func.id in ("Unsupported", "SkippedFrame", "_skipped"):
                yield node


def test_each_break_raised_has_an_entry_that_its_details_fill() -> None:
    for path in Path(tracer_core.__file__).parent.rglob("*.py"):
        for call in raised(ast.parse(path.read_text())):
            place = f"{path.name}:{call.lineno}"
            assert call.args, f"{place} gives no reason"
            reason = call.args[0]
            if not isinstance(reason, ast.Constant):
                continue  # handed on: the literal stands where it was made
            assert reason.value in REASONS, f"{place} breaks with {reason.value!r}, which is not in the catalogue"
            if (
                isinstance(call.func, ast.Name)
                and call.func.id == "Unsupported"
                and all(k.arg for k in call.keywords)
            ):
                given = {keyword.arg for keyword in call.keywords}
                sentence = REASONS[reason.value].sentence
                wanted = {field for _, field, _, _ in string.Formatter().parse(sentence) if field is not None}
                assert wanted == given, f"{place} fills {given} of a sentence that wants {wanted}"


@pytest.mark.parametrize("reason", REASONS.values(), ids=list(REASONS))
def test_each_entry_says_why_and_what_to_try_in_the_users_words(reason) -> None:
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", reason.id)
    assert reason.sentence[0].isupper() or reason.sentence.startswith(("{", "tracewalk "))
    assert reason.sentence.endswith((".", "{error}"))
    assert reason.explanation.endswith(".")
    assert reason.hints and all(hint.endswith(".") for hint in reason.hints)
    text = " ".join((reason.sentence, reason.explanation, *reason.hints))
    for ours in ("Variable", "tracker", "Unsupported", "OutputGraph", "speculat"):
        assert ours not in text, f"{reason.id} speaks of our classes: {ours}"
