"""Write a page that contains a recording and the explorer, and opens without a kernel or a network."""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path

from tracer_core.recording import Trace as Recording
from tracer_core.recording.collecting import no_collection
from tracer_core.recording.damage import TraceFileError
from tracewalk import feed, front_end, summary
from tracewalk.progress import progress

# The page must fetch nothing, whatever text of the traced program its recording contains.
_POLICY = (
    "default-src 'none'; script-src 'unsafe-inline' 'wasm-unsafe-eval' blob:; "
    "style-src 'unsafe-inline'; img-src data: blob:"
)
_PAGE_STYLE = """
html { color-scheme: light dark; }
body { margin: 0; padding: 8px; background: #fff; color: #1d2026; }
@media (prefers-color-scheme: dark) { body { background: #0f1114; color: #e2e5ea; } }
.tw-root.tw-root { --tw-height: max(480px, calc(100vh - 18px)); }
"""


def to_html(
    trace: Recording,
    path: str | os.PathLike[str],
    my_code: Sequence[str] = (),
    *,
    before: Recording | None = None,
    pane: str = "overview",
) -> Path:
    """Write `trace` as a web page to `path`, whole or not at all, and return the path. What `my_code` names counts as
    the user's own, `before` is a recording to compare it with, and `pane` is open first.

    Raises:
        TraceFileError: the file cannot be written there.
    """
    target = Path(path)
    try:
        handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.", suffix=".part")
    except OSError as error:
        raise TraceFileError(f"The page cannot be written to {target}: {error.strerror or error}.") from error
    try:
        size = 0
        shown = progress(lambda: f"Writing {path}: {size / 1e6:.1f} MB")
        with open(handle, "w", encoding="utf-8") as file, shown, no_collection():
            for part in _page(trace, my_code, before, pane):
                size += file.write(part)
        _make_readable(name)
        os.replace(name, target)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(name)
        raise
    return target


def _make_readable(name: str) -> None:
    """Give a temporary file the permissions that a file made by `open` has."""
    mask = os.umask(0)
    os.umask(mask)
    os.chmod(name, 0o666 & ~mask)


def _page(trace: Recording, my_code: Sequence[str], before: Recording | None, pane: str) -> Iterator[str]:
    title = escape(f"tracewalk: {trace.label}" if trace.label else "tracewalk")
    settings = {"my_code": list(my_code), "pane": pane, "compared": before is not None}
    yield f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{_POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>{_PAGE_STYLE}</style>
</head>
<body>
<div data-tracewalk-page data-settings="{escape(json.dumps(settings))}">{summary.html_summary(trace)}</div>
<noscript><p>No script runs here, so this is the summary only. Open the page in a browser to step.</p></noscript>
"""
    for name, data in feed.blocks(trace):
        yield _block(name, data)
    if before is not None:
        for name, data in feed.blocks_before(before, trace):
            yield _block(name, data)
    yield _block("panes", front_end.source("panes").encode())
    if trace.data.nodes or (before is not None and before.data.nodes):
        yield _block("graphviz", front_end.source("graphviz").encode())
    yield f'<script type="module">{front_end.inline("explorer")}</script>\n</body>\n</html>\n'


def _block(name: str, data: bytes) -> str:
    text = feed.written(feed.packed(data))
    return f'<script type="application/json" data-tracewalk-block="{name}">{text}</script>\n'
