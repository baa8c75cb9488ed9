"""The first notebook as its tests see it: its cells by id, and what they must give by plain torch."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
PATH = ROOT / "notebooks" / "01_first_trace.ipynb"


@cache
def cells() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(PATH.read_text(encoding="utf-8"))["cells"]
    return found


def index(cell_id: str) -> int:
    """The position of a cell among all cells."""
    return [cell["id"] for cell in cells()].index(cell_id)


def source(cell_id: str) -> str:
    return "".join(cells()[index(cell_id)]["source"])


def line_of(cell_id: str, text: str) -> int:
    """The number, from 1, of the one line of a cell that contains `text`."""
    (number,) = [i for i, line in enumerate(source(cell_id).splitlines(), 1) if text in line]
    return number


def eager() -> dict[str, Any]:
    """The names of the cells `model` and `chatty`, made here by plain Python."""
    names: dict[str, Any] = {}
    for cell_id in ("model", "chatty"):
        exec(compile(source(cell_id), f"<cell {cell_id}>", "exec"), names)
    return names
