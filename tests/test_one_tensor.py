"""The page that follows one tensor: its program runs, what it says to evaluate can be, what it names exists."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import Any

import pytest

from tests.recording.programs_in_files import module
from tracer_core.bytecode.ops import OPS

ROOT = Path(__file__).resolve().parents[1]
PAGE = (ROOT / "docs" / "one-tensor.md").read_text(encoding="utf-8")
PROGRAM, LISTING = re.findall(r"```python\n(.*?)```", PAGE, re.S)
PROSE = re.sub(r"```.*?```", "", PAGE, flags=re.S)
SPANS = [" ".join(span.split()) for span in re.findall(r"`([^`]+)`", PROSE)]
EVALUATED = [
    span for line in re.findall(r"^\*See it:\*(.*?)\n\n", PAGE, re.S | re.M) for span in re.findall("`(.*?)`", line)
]
FILES = [span for span in SPANS if span.startswith("tracer_core/")]


@pytest.fixture(scope="module")
def names() -> dict[str, Any]:
    """What the program of the page defines; `print` shows nothing here."""
    return module(PROGRAM, print=print)


def test_what_it_says_to_evaluate_can_be(names: dict[str, Any]) -> None:
    assert len(EVALUATED) > 8
    for expression in EVALUATED:
        value = eval(expression, dict(names))  # noqa: S307  the text is the page's
        assert value is None or value, f"{expression} shows nothing"


def test_its_listing_is_the_generated_code(names: dict[str, Any]) -> None:
    shown = re.sub(r"graph_\d+", "graph_0", names["t"].generated[0].listing)
    assert shown.strip() == LISTING.strip()


def test_each_name_is_defined_in_a_file_of_the_page() -> None:
    defined: set[str] = set()
    for span in FILES:
        path = ROOT / span
        for file in path.glob("*.py") if path.is_dir() else [path]:
            for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
                if isinstance(node, (ast.ClassDef, ast.FunctionDef)):
                    defined.add(node.name)
    of_program = {node.id for node in ast.walk(ast.parse(PROGRAM)) if isinstance(node, ast.Name)} | {
        "f",
        "k",
        "x",
        "Size",
    }
    named = {found[1] for span in SPANS if (found := re.fullmatch(r"@?(?:make\.)?([A-Za-z_]\w*)(\(.*\))?", span))}
    assert len(named) > 40
    assert named - defined - of_program - set(OPS) == set()
