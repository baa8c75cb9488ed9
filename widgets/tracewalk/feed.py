"""A recording in the pieces that the front end reads, for the widget and for the page alike."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import msgspec

from tracer_core.recording import Trace as Recording
from tracer_core.recording.schema import Meta


def meta(trace: Recording) -> Meta:
    """Everything but steps and values."""
    return trace.meta()


def steps(trace: Recording) -> int:
    """How many steps there are."""
    return len(trace.steps)


_BLOCKS: dict[str, Callable[[Recording, int], object]] = {
    "meta": lambda trace, _index: trace.meta(),
    "window": lambda trace, index: trace.window(index),
    "chunk": lambda trace, index: trace.chunk(index),
}


def block(trace: Recording, kind: str, index: int) -> bytes:
    """One piece as JSON. `kind` is `meta`, `window` (of steps) or `chunk` (of trackers).

    Raises:
        KeyError: there is no such kind of piece.
        IndexError: there is no piece of that number.
    """
    return msgspec.json.encode(_BLOCKS[kind](trace, index))


def blocks(trace: Recording) -> Iterator[tuple[str, bytes]]:
    """All pieces, named as the stand-alone page names them."""
    about = meta(trace)
    yield "meta", msgspec.json.encode(about)
    for kind, count, size in (("window", about.steps, about.window), ("chunk", about.trackers, about.chunk)):
        for index in range(-(-count // size)):
            yield f"{kind}-{index}", block(trace, kind, index)
