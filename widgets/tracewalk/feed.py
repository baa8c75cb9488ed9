"""Split a recording into the pieces that the front end reads, for the widget and the page alike."""

from __future__ import annotations

import base64
import gzip
from collections.abc import Callable, Iterator

from tracer_core.recording import Trace, views
from tracer_core.recording.comparison import compare

_BLOCKS: dict[str, Callable[[Trace, int], bytes]] = {
    "meta": lambda trace, _index: views.meta(trace),
    "window": views.window,
    "chunk": views.chunk,
    "later": views.later,
    "touched": views.touched,
    "under": views.under,
}


def differences(before: Trace, after: Trace) -> bytes:
    """Return the differences of two recordings as JSON."""
    return views.compared(compare(before, after))


def block(trace: Trace, kind: str, index: int) -> bytes:
    """Return one piece as JSON. `kind` is `meta`, `window` (of steps), `chunk` (of trackers), `later` (their
    snapshots, where there are many), `touched` (by steps), or `under` (a node, which is traced now if it was not
    before).

    Raises:
        KeyError: there is no such kind of piece.
        LookupError: there is no piece of that number.
    """
    return _BLOCKS[kind](trace, index)


def blocks(trace: Trace) -> Iterator[tuple[str, bytes]]:
    """Yield all pieces, with the names used in the stand-alone page."""
    yield "meta", views.meta(trace)
    trackers = trace.index.trackers
    sizes = (
        ("window", trace.data.steps, views.WINDOW),
        ("chunk", trackers.trackers, views.CHUNK),
        ("later", trackers.later_count if trackers.longest > views.LONG else 0, views.LATER),
        ("touched", trackers.trackers, views.CHUNK),
    )
    for kind, count, size in sizes:
        for index in range(-(-count // size)):
            yield f"{kind}-{index}", block(trace, kind, index)


def blocks_before(before: Trace, after: Trace) -> Iterator[tuple[str, bytes]]:
    """Yield the pieces of a recording that another one is compared with, and their differences."""
    yield "differences-0", differences(before, after)
    for name, data in blocks(before):
        yield f"before-{name}", data


def packed(data: bytes) -> bytes:
    """Return a piece as a page or a notebook keeps it. The front end (`store/page.ts`) unpacks it."""
    return gzip.compress(data, 6, mtime=0)


def written(block: bytes) -> str:
    """Return a packed piece as text."""
    return base64.b64encode(block).decode("ascii")
