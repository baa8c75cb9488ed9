"""Write what a notebook keeps of an explorer: the static overview, and the recording where it is small enough.

The output is one element of HTML. While the kernel runs, and where the recording is in the file, the front end shows
the explorer in the overview's place; elsewhere (no kernel, no script, an untrusted notebook) the overview stays.
Recording and front end are attributes of a `div`, which sanitizers remove; texts of scripts may be left over. The
widget's own view is not part of the output: where its kernel is gone, hosts show an error in its place.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from html import escape
from typing import Any

from tracer_core.recording import Trace, views
from tracewalk import feed, front_end, summary

EMBEDDED_BYTES = 2_000_000
"""A recording of up to so many compressed bytes is kept in the notebook without being asked for."""

LEAST_BYTES = 20
"""A step takes more than so many bytes, compressed."""


_MOST_PIXELS = 1200
"""The static overview is no higher: Notebook puts a higher output, and then the explorer, into a box that scrolls."""


class Carrier:
    """The output that contains the front end for all explorers of the notebook: the first one. Once its cell runs
    again, the next explorer's output carries it."""

    def __init__(self) -> None:
        self._cell: object = None
        self._shell: object = None

    def take(self, shell: Any) -> bool:
        """Return whether the output that is written now has to contain the front end."""
        if shell is None:
            return True
        if shell is not self._shell:
            self._cell, self._shell = None, shell
            shell.events.register("pre_run_cell", self._runs)
        if self._cell is not None:
            return False
        self._cell = _running_cell(shell)
        return True

    def _runs(self, info: Any) -> None:
        if self._cell == getattr(info, "cell_id", None):
            self._cell = None


def _running_cell(shell: Any) -> object:
    """Return the host's name for the running cell, which its next run has too; where there is none, a new name."""
    parent = shell.get_parent() if hasattr(shell, "get_parent") else {}
    return parent.get("metadata", {}).get("cellId") or object()


carrier = Carrier()


def html(
    trace: Trace,
    place: str,
    settings: dict[str, Any],
    embed: bool | None,
    shell: Any,
    *,
    before: Trace | None = None,
    static: str | None = None,
) -> str:
    """Return the output of an explorer. `embed` says whether it contains the recording, and `before`, which it is
    compared with; None: if they are small. `static` is shown where no explorer can be; None for the overview."""
    name = f"tracewalk-{front_end.build()}"
    attributes = {
        "data-place": place,
        "data-settings": json.dumps(settings, separators=(",", ":")),
        "style": f"max-height: {_MOST_PIXELS}px; overflow: auto",
    }
    blocks = [] if embed is False else _blocks(trace, before, None if embed else EMBEDDED_BYTES)
    static = summary.html_summary(trace) if static is None else static
    front = start = ""
    if blocks:
        attributes["data-recording"] = " ".join(f"{block} {packed}" for block, packed in blocks)
        if carrier.take(shell):
            attributes["data-build"] = front_end.build()
            front = f' data-front-end="{front_end.packed()}"'
            start = f"<script>{front_end.inline('boot')}</script>"
    written = "".join(f' {key}="{escape(value)}"' for key, value in attributes.items())
    return f"<{name}><div{written}{front}>{static}</div></{name}>{start}"


def _blocks(trace: Trace, before: Trace | None, limit: int | None) -> list[tuple[str, str]]:
    """Return the packed pieces of a recording, with those of the one before if both fit, and what shows them; none,
    if they take more than `limit` bytes."""
    own = _packed(feed.blocks(trace), trace.data.steps, limit)
    if not own:
        return []
    others: list[tuple[str, str]] = []
    if before is not None:
        left = None if limit is None else limit - sum(len(block) for _, block in own) * 3 // 4
        others = _packed(feed.blocks_before(before, trace), before.data.steps, left)
    return [*own, *others, *_panes(shown=bool(others or trace.data.lowered or len(trace.dispatch)))]


def _panes(*, shown: bool) -> Iterator[tuple[str, str]]:
    """Yield the panes that need a kernel, or a recording of a kind that few are, if they have something to show."""
    if shown:
        yield "panes", feed.written(feed.packed(front_end.source("panes").encode()))


def _packed(pieces: Iterator[tuple[str, bytes]], steps: int, limit: int | None) -> list[tuple[str, str]]:
    """Return pieces of a recording of so many steps, packed; none, if they take more than `limit` bytes."""
    found: list[tuple[str, str]] = []
    size = others = 0
    if limit is not None and steps * LEAST_BYTES > limit:
        return []
    windows = -(-steps // views.WINDOW)
    for name, data in pieces:
        block = feed.packed(data)
        size += len(block)
        kind, _, index = name.removeprefix("before-").partition("-")
        # The windows are alike, so the first ones tell early what all of them take.
        if kind != "window":
            others += len(block)
        early = kind == "window" and int(index) >= 3
        likely = others + (size - others) * windows / (int(index) + 1) if early else size
        if limit is not None and max(size, likely / 2) > limit:
            return []
        found.append((name, feed.written(block)))
    return found
