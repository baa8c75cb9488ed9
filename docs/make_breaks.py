"""Writes docs/breaks.md from the catalogue of reasons: `python docs/make_breaks.py`. A test compares the two."""

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

Where the tracer cannot go on, it ends the graph, lets Python run what it could not trace, and goes on after it. Your
program gives the same results, but what could have been one graph is now several. With `fullgraph=True` it raises
`tracer_core.errors.Unsupported` instead. Each reason has a name, which the explorer's Breaks pane and
`t.breaks[i].reason_id` show. These are all of them: what each says (in *italics* what it fills in), why, and what to
try.

<!-- Generated from tracer_core/reasons.py by docs/make_breaks.py; a test fails where they differ. -->
"""


def page() -> str:
    """The whole text of docs/breaks.md."""
    listed = sorted(REASONS.values(), key=lambda reason: reason.id)
    contents = "\n".join(f"- [{reason.id}](#{reason.id})" for reason in listed)
    return "\n".join([INTRODUCTION, contents, "", *map(entry, listed)]).rstrip() + "\n"


def entry(reason: Reason) -> str:
    hints = "\n".join(f"- {plain(hint)}" for hint in reason.hints)
    return f"## {reason.id}\n\n> {sentence(reason)}\n\n{plain(reason.explanation)}\n\nTry:\n\n{hints}\n"


def sentence(reason: Reason) -> str:
    """The format string with its fields in italics, which is how people tell them from the words around them."""
    parts = Formatter().parse(reason.sentence)
    return "".join(plain(text) + (f"*{name}*" if name is not None else "") for text, name, _, _ in parts)


def plain(text: str) -> str:
    """Text that Markdown would read as markup, kept as it is: `__init__` is a name, not bold. Code stays code."""
    pieces = re.split(r"(`[^`]*`)", text)
    return "".join(piece if piece.startswith("`") else re.sub(r"([*_<>\[\]])", r"\\\1", piece) for piece in pieces)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    print(f"{PAGE.relative_to(ROOT)}: {len(REASONS)} reasons")
