"""Write the overview of a recording as HTML, for places where no script runs.

HTML without script or link; all text is escaped.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import escape

from tracer_core.recording import Trace
from tracer_core.recording.messages import Row, Section

_SHOWN = 20
_STYLE = "font-family:system-ui,sans-serif;font-size:13px;line-height:1.5"


def html_summary(trace: Trace, note: str = "") -> str:
    """Return a piece of HTML that shows the overview of the recording, below a note."""
    overview = trace.overview()
    label = f" of <code>{escape(overview.label)}</code>" if overview.label else ""
    head = f"<p><b>Trace</b>{label}: {_text(overview.headline)}</p>"
    above = f"<p>{_text(note)}</p>" if note else ""
    sections = "".join(part for one in overview.sections for part in _section(one))
    return f'<div style="{_STYLE}">{above}{head}{sections}</div>'


def _section(section: Section) -> Iterator[str]:
    yield f"<p><b>{escape(section.title)}</b></p>"
    yield f"<ul>{''.join(f'<li>{_row(row)}</li>' for row in section.rows[:_SHOWN])}</ul>"
    if len(section.rows) > _SHOWN:
        yield f"<p>... and {len(section.rows) - _SHOWN} more</p>"


def _row(row: Row) -> str:
    place = f"<code>{escape(row.place)}</code>: " if row.place else ""
    source = f"<br><code>{escape(row.source)}</code>" if row.source else ""
    return place + _text(row.text) + source + "".join(f"<br>{_text(note)}" for note in row.notes)


def _text(text: str) -> str:
    """Return a sentence, its parts between backticks as code."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(text))
