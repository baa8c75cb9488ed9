"""What a recording says where no script runs: outcome, breaks, graphs. As HTML (all text escaped) and as plain text."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from pathlib import PurePath

from tracer_core.recording.schema import Break, Compilation, Meta

_SHOWN = 20
_STYLE = "font-family:system-ui,sans-serif;font-size:13px;line-height:1.5"


def text_summary(meta: Meta) -> str:
    """A few lines for a terminal."""
    lines = [f"{meta.label}: {meta.summary}" if meta.label else meta.summary]
    lines += [f"  graph break at {_place(meta, found)}: {found.message}" for found in meta.breaks[:_SHOWN]]
    if len(meta.breaks) > _SHOWN:
        lines.append(f"  and {len(meta.breaks) - _SHOWN} more")
    return "\n".join(lines)


def html_summary(meta: Meta) -> str:
    """A piece of HTML without script, style sheet or link."""
    return f'<div style="{_STYLE}">{"".join(_parts(meta))}</div>'


def _parts(meta: Meta) -> Iterator[str]:
    label = f"<code>{escape(meta.label)}</code>: " if meta.label else ""
    yield f"<p><b>Trace</b> {label}{escape(meta.summary)}</p>"
    for fault in meta.faults:
        last = fault.text.strip().splitlines()[-1:] or [""]
        yield f"<p>The tracer itself failed ({escape(last[0])}); the program ran as plain Python.</p>"
    if meta.breaks:
        yield f"<p><b>Graph breaks</b></p><ol>{''.join(_break(meta, found) for found in meta.breaks[:_SHOWN])}</ol>"
        if len(meta.breaks) > _SHOWN:
            yield f"<p>and {len(meta.breaks) - _SHOWN} more.</p>"
    if meta.compilations:
        yield "<p><b>Compiled</b></p><ul>"
        yield from (_compilation(meta, made) for made in meta.compilations[:_SHOWN])
        yield "</ul>"
        if len(meta.compilations) > _SHOWN:
            yield f"<p>and {len(meta.compilations) - _SHOWN} more.</p>"


def _break(meta: Meta, found: Break) -> str:
    hints = "".join(f"<br>Try: {escape(hint)}" for hint in found.hints)
    action = f"<br>Instead: {escape(found.action)}" if found.action else ""
    return f"<li><code>{escape(_place(meta, found))}</code> {escape(found.message)}{hints}{action}</li>"


def _place(meta: Meta, found: Break) -> str:
    code = meta.codes[found.code]
    name = PurePath(code.filename).name
    return f"{name}:{found.line} in {code.qualname}" if found.line is not None else f"{name} in {code.qualname}"


def _compilation(meta: Meta, made: Compilation) -> str:
    what = f"<code>{escape(meta.codes[made.code].qualname)}</code>, version {made.version}"
    if made.graph is None:
        return f"<li>{what}: {escape(made.outcome)}, no graph</li>"
    live = [node for node in (meta.nodes[i] for i in meta.graphs[made.graph].nodes) if node.live]
    names = ", ".join(node.name for node in live[:12]) + (", …" if len(live) > 12 else "")
    return f"<li>{what}: {len(live)} nodes ({escape(names)})</li>"
