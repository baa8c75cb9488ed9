"""docs/engine-rows.md as data: which programs and tests show each clause of each row."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

PAGE = Path(__file__).resolve().parents[1] / "docs" / "engine-rows.md"
CLAUSE = re.compile(r"^\| ([A-Z]\d+)\.(\d+) \| (.+) \| (.+) \|$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Clause:
    """A part of a row. `shown_by` names programs (`file.name`) and tests (`folder/file.py::name`)."""

    row: str
    number: int
    text: str
    is_open: bool
    shown_by: tuple[str, ...]


def clauses() -> list[Clause]:
    """All clauses, in the order of the page."""
    return [
        Clause(row, int(number), text, by.startswith("open: "), () if by.startswith("open: ") else names(by))
        for row, number, text, by in CLAUSE.findall(PAGE.read_text(encoding="utf-8"))
    ]


def names(text: str) -> tuple[str, ...]:
    """What stands in backticks."""
    return tuple(re.findall(r"`([^`]+)`", text))


def names_of_test(node_id: str) -> list[str]:
    """What the page may call the test: with its parameters and without, or its program."""
    place = node_id.removeprefix("tests/")
    program = re.fullmatch(r"conformance/test_conformance\.py::test_program\[(.+)\]", place)
    return [place, place.partition("[")[0]] if program is None else [program[1]]
