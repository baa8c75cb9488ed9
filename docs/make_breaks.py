"""Write docs/breaks.md from the catalogue of reasons: `python docs/make_breaks.py`. A test compares the two."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from string import Formatter

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "breaks.md"
sys.path.insert(0, str(ROOT))

from tracer_core.reasons import REASONS, Reason  # noqa: E402  (found by the line above)

INTRODUCTION = """\
# Why a graph breaks

Where tracing cannot continue, the graph ends: plain Python runs the code that cannot be traced, and another graph
starts after it. Your program gives the same results, but from several graphs instead of one. With `fullgraph=True` it
raises `tracer_core.errors.Unsupported` instead. Each reason has a name, which the explorer's Breaks pane and
`t.breaks[i].reason_id` show. This page lists them all: the sentence (with the details of the case in *italics*), the
explanation, and things to try.

<!-- Generated from tracer_core/reasons/ by docs/make_breaks.py; a test fails where they differ. -->
"""


def page() -> str:
    """Return the whole text of docs/breaks.md."""
    listed = sorted(REASONS.values(), key=lambda reason: reason.id)
    contents = "\n".join(f"- [{reason.id}](#{reason.id})" for reason in listed)
    return "\n".join([INTRODUCTION, contents, "", *map(entry, listed)]).rstrip() + "\n"


def entry(reason: Reason) -> str:
    hints = "\n".join(f"- {plain(hint)}" for hint in reason.hints)
    return f"## {reason.id}\n\n> {sentence(reason)}\n\n{plain(reason.explanation)}\n\nTry:\n\n{hints}\n"


def sentence(reason: Reason) -> str:
    """Return the format string with its fields in italics, which sets them off from the words around them."""
    parts = Formatter().parse(reason.sentence)
    return "".join(plain(text) + (f"*{name}*" if name is not None else "") for text, name, _, _ in parts)


def plain(text: str) -> str:
    """Escape characters that Markdown would read as markup (`__init__` is a name, not bold), except in code."""
    pieces = re.split(r"(`[^`]*`)", text)
    return "".join(piece if piece.startswith("`") else re.sub(r"([*_<>\[\]])", r"\\\1", piece) for piece in pieces)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    print(f"{PAGE.relative_to(ROOT)}: {len(REASONS)} reasons")
