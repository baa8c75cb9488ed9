"""Write the overview of a recording as text."""

from __future__ import annotations

from collections.abc import Iterator

from tracer_core.recording.messages import Overview, Row, Section

MOST = 20
"""How many rows of a section are shown."""


def summary(overview: Overview) -> str:
    """Return the text of `print(trace)`."""
    label = f"Trace of {overview.label}" if overview.label else "Trace"
    return "\n".join(
        [f"{label}: {overview.headline}", *(line for part in overview.sections for line in _lines(part))]
    )


def _lines(section: Section) -> Iterator[str]:
    yield section.title
    for row in section.rows[:MOST]:
        yield from (f"  {text}" for text in text_of(row))
    if len(section.rows) > MOST:
        yield f"  ... and {len(section.rows) - MOST} more"


def text_of(row: Row) -> list[str]:
    """Return the lines of a row, the first of which says what and where."""
    return [
        f"{row.place}: {row.text}" if row.place else row.text,
        *([f"    {row.source}"] if row.source else []),
        *(f"  {note}" for note in row.notes),
    ]
