"""Summarize a recording where no script runs: outcome, breaks, graphs.

HTML without script or link; all text is escaped.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape

from tracer_core.recording import Trace
from tracer_core.recording.schema import Break, Compilation, Notice
from tracer_core.recording.summary import lost_text, where

_SHOWN = 20
_STYLE = "font-family:system-ui,sans-serif;font-size:13px;line-height:1.5"


def html_summary(trace: Trace) -> str:
    """Return a piece of HTML that summarizes the recording."""
    return f'<div style="{_STYLE}">{"".join(_parts(trace))}</div>'


def _parts(trace: Trace) -> Iterator[str]:
    label = f"<code>{escape(trace.label)}</code>: " if trace.label else ""
    counts = [
        _count(len(trace), "step"),
        _count(len(trace.graphs), "graph"),
        _count(len(trace.break_places), "break location"),
        _count(len(trace.calls), "call"),
    ]
    yield f"<p><b>Trace</b> {label}{', '.join(counts)}.</p>"
    for fault in trace.faults:
        last = fault.text.strip().splitlines()[-1:] or [""]
        yield f"<p>The tracer failed ({escape(last[0])}); the program ran as plain Python.</p>"
    if trace.lost:
        yield "<p><b>Missing from this recording</b></p>"
        yield _list("ul", [escape(lost_text(lost)) for lost in trace.lost])
    if trace.breaks:
        yield "<p><b>Graph breaks</b></p>"
        yield _list("ol", [_break(trace, found) for found in trace.break_places])
    if trace.notices:
        yield "<p><b>Notices</b></p>"
        yield _list("ul", [_said(trace, notice) for notice in trace.notices])
    if trace.compilations:
        yield "<p><b>Compiled</b></p>"
        yield _list("ul", [_compilation(trace, made) for made in trace.compilations])


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def _list(tag: str, items: Sequence[str]) -> str:
    more = f"<p>and {len(items) - _SHOWN} more.</p>" if len(items) > _SHOWN else ""
    return f"<{tag}>{''.join(f'<li>{item}</li>' for item in items[:_SHOWN])}</{tag}>{more}"


def _break(trace: Trace, found: Break) -> str:
    action = f"<br>Instead: {escape(found.action)}" if found.action else ""
    return f"{_said(trace, found)}{action}"


def _said(trace: Trace, found: Break | Notice) -> str:
    place = escape(where(trace, found.code, found.line))
    below = ""
    if found.library is not None:
        below = f"<br>in a library: <code>{escape(where(trace, found.library.code, found.library.line))}</code>"
    hints = "".join(f"<br>Try: {escape(hint)}" for hint in found.hints)
    return f"<code>{place}</code>: {escape(found.message)}{below}{hints}"


def _compilation(trace: Trace, made: Compilation) -> str:
    what = f"<code>{escape(trace.codes[made.code].qualname)}</code>, version {made.version}"
    if made.graph is None:
        return f"{what}: {escape(made.outcome)}, no graph"
    live = [node.name for node in (trace.nodes[i] for i in trace.all_graphs[made.graph].nodes) if node.live]
    names = ", ".join(live[:12]) + (", …" if len(live) > 12 else "")
    return f"{what}: {_count(len(live), 'node')} ({escape(names)})"
