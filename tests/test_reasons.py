"""Every break that the engine's sources raise has an entry in the catalogue, and the entry fits."""

from __future__ import annotations

import ast
import string
from collections.abc import Iterator
from pathlib import Path

import pytest

import tracer_core
from tracer_core.reasons import REASONS

ENGINE = Path(tracer_core.__file__).parent
SOURCES = sorted(path for path in ENGINE.rglob("*.py") if path.name != "reasons.py")


def raised(tree: ast.AST) -> Iterator[ast.Call]:
    """Calls that make an `Unsupported`, or a skipped frame, with a literal reason."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            if node.func.id in ("Unsupported", "SkippedFrame", "_skipped"):
                yield node


def literals(tree: ast.AST) -> set[str]:
    return {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)}


@pytest.mark.parametrize("path", SOURCES, ids=[str(path.relative_to(ENGINE)) for path in SOURCES])
def test_each_break_raised_has_an_entry_that_its_details_fill(path: Path) -> None:
    for call in raised(ast.parse(path.read_text())):
        place = f"{path.name}:{call.lineno}"
        assert call.args, f"{place} gives no reason"
        reason = call.args[0]
        if not isinstance(reason, ast.Constant):
            continue  # handed on: the literal stands where it was made
        assert reason.value in REASONS, f"{place} breaks with {reason.value!r}, which is not in the catalogue"
        if isinstance(call.func, ast.Name) and call.func.id == "Unsupported" and all(k.arg for k in call.keywords):
            given = {keyword.arg for keyword in call.keywords}
            sentence = REASONS[reason.value].sentence
            wanted = {field for _, field, _, _ in string.Formatter().parse(sentence) if field is not None}
            assert wanted == given, f"{place} fills {given} of a sentence that wants {wanted}"


def test_no_entry_is_left_over() -> None:
    used = set().union(*(literals(ast.parse(path.read_text())) for path in SOURCES))
    assert set(REASONS) <= used, f"nothing breaks for {sorted(set(REASONS) - used)}"


@pytest.mark.parametrize("reason", REASONS.values(), ids=list(REASONS))
def test_each_entry_says_why_and_what_to_try_in_the_users_words(reason) -> None:
    assert reason.explanation and reason.hints and all(reason.hints)
    assert reason.sentence[0].isupper() or reason.sentence.startswith(("{", "tracewalk "))
    text = " ".join((reason.sentence, reason.explanation, *reason.hints))
    for ours in ("Variable", "tracker", "Unsupported", "OutputGraph", "speculat"):
        assert ours not in text, f"{reason.id} speaks of our classes: {ours}"
