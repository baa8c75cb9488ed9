"""Write a page that contains a recording and the explorer, and opens without a kernel or a network."""

from __future__ import annotations

import base64
import contextlib
import gzip
import json
import os
import tempfile
from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path

from tracer_core.recording import Trace as Recording
from tracewalk import feed, summary

_STATIC = Path(__file__).parent / "static"

# The page must fetch nothing, whatever text of the traced program its recording contains.
_POLICY = (
    "default-src 'none'; script-src 'unsafe-inline' 'wasm-unsafe-eval'; "
    "style-src 'unsafe-inline'; img-src data: blob:"
)
_PAGE_STYLE = """
html { color-scheme: light dark; }
body { margin: 0; padding: 8px; background: #fff; color: #1d2026; }
@media (prefers-color-scheme: dark) { body { background: #0f1114; color: #e2e5ea; } }
.tw-root.tw-root { --tw-height: max(480px, calc(100vh - 18px)); }
"""


def to_html(trace: Recording, path: str | os.PathLike[str], my_code: Sequence[str] = ()) -> Path:
    """Write `trace` as a web page to `path`, whole or not at all, and return the path. What `my_code` names counts as
    the user's own.

    Raises:
        OSError: the file cannot be written there.
    """
    target = Path(path)
    try:
        handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.", suffix=".part")
    except OSError as error:
        raise type(error)(error.errno, error.strerror, str(target)) from None
    try:
        with open(handle, "w", encoding="utf-8") as file:
            file.writelines(_page(trace, my_code))
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


def _page(trace: Recording, my_code: Sequence[str]) -> Iterator[str]:
    title = escape(f"tracewalk: {trace.label}" if trace.label else "tracewalk")
    yield f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{_POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>{_PAGE_STYLE}</style>
<style>{_inline("explorer.css", "</style")}</style>
</head>
<body>
<div data-tracewalk-page data-my-code="{escape(json.dumps(list(my_code)))}">{summary.html_summary(trace)}</div>
<noscript><p>No script runs here, so this is the summary only. Open the page in a browser to step.</p></noscript>
"""
    for name, data in feed.blocks(trace):
        packed = base64.b64encode(gzip.compress(data, 6, mtime=0)).decode("ascii")
        yield f'<script type="application/json" data-tracewalk-block="{name}">{packed}</script>\n'
    yield f'<script type="module">{_inline("explorer.js", "</script", "<!--")}</script>\n</body>\n</html>\n'


def _inline(name: str, *enders: str) -> str:
    """Return the text of a built file; raise ValueError if it would end the element that contains it."""
    text = (_STATIC / name).read_text(encoding="utf-8")
    for ender in enders:
        if ender in text.lower():
            raise ValueError(f"The built {name} contains {ender!r} and cannot be put into a page.")
    return text
