"""Align two recordings by the lines that they run, to step through both side by side."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from difflib import SequenceMatcher
from typing import TYPE_CHECKING

from tracer_core.recording import schema
from tracer_core.recording.codes import line_of, line_text
from tracer_core.recording.pace import paced, tell

if TYPE_CHECKING:
    from tracer_core.recording.trace import Trace

LineVisit = tuple[str, str]
"""A function's name, and the text of the line it runs."""
_WINDOW = 400


def visits(trace: Trace) -> Iterator[tuple[int, LineVisit]]:
    """Yield each line that the last attempts run, with the first step of the visit. A line is visited again where
    another line or frame was between, or its instructions begin anew."""
    steps = trace.index.steps
    last: tuple[int, int | None] | None = None
    reached = -1
    for attempt in trace.attempts:
        if attempt.outcome == "restarted":
            continue
        own = trace.index.steps_of(attempt.id)
        for step in paced(own, len(own)):
            frame = trace.frames[steps.frame[step]]
            if step < trace.index.begin(frame):
                continue
            instruction = steps.instruction[step]
            line = line_of(trace.codes[frame.code].instructions, instruction)
            if line is not None and ((frame.id, line) != last or instruction <= reached):
                yield step, line_visit(trace, frame.code, line)
            last, reached = (frame.id, line), instruction


def side_by_side(before: Trace, after: Trace) -> list[tuple[int | None, int | None]]:
    """Return the visits of lines in both recordings, aligned: pairs of steps, None where only the other has it. Lines
    are matched by function and text, in order."""
    ours, theirs = list(visits(before)), list(visits(after))
    pairs: list[tuple[int | None, int | None]] = []
    at = 0, 0
    for a, b in [*matches([line for _, line in ours], [line for _, line in theirs]), (len(ours), len(theirs))]:
        pairs += [(step, None) for step, _ in ours[at[0] : a]]
        pairs += [(None, step) for step, _ in theirs[at[1] : b]]
        pairs += [(mine[0], other[0]) for mine, other in zip(ours[a : a + 1], theirs[b : b + 1], strict=True)]
        at = a + 1, b + 1
    return pairs


def matches(ours: Sequence[Hashable], theirs: Sequence[Hashable]) -> Iterator[tuple[int, int]]:
    """Yield the positions of equal items, in order.

    `difflib` finds them, window by window, since the time it takes grows with the square of how often an item is
    repeated, as lines in loops are.
    """
    a = b = 0
    while a < len(ours) and b < len(theirs):
        tell(a, len(ours))
        window = ours[a : a + _WINDOW], theirs[b : b + _WINDOW]
        is_last = a + _WINDOW >= len(ours) and b + _WINDOW >= len(theirs)
        # Near the end of a window, an item may belong to one beyond it.
        certain = _WINDOW if is_last else _WINDOW * 3 // 4
        moved = certain, certain
        for i, j in _matches(*window):
            if max(i, j) < certain:
                yield a + i, b + j
                moved = i + 1, j + 1
        if is_last:
            return
        a, b = a + moved[0], b + moved[1]


def _matches(ours: Sequence[Hashable], theirs: Sequence[Hashable]) -> Iterator[tuple[int, int]]:
    for i, j, size in SequenceMatcher(None, ours, theirs, autojunk=False).get_matching_blocks():
        yield from ((i + n, j + n) for n in range(size))


def parting(before: Trace, after: Trace) -> tuple[int, int] | None:
    ours, theirs = visits(before), visits(after)
    ends = (len(before) - 1, -1), (len(after) - 1, -1)
    while True:
        a, b = next(ours, None), next(theirs, None)
        if a is None or b is None:
            return None if a is b else ((a or ends[0])[0], (b or ends[1])[0])
        if a[1] != b[1]:
            return a[0], b[0]


def line_visit(trace: Trace, code: int, line: int | None) -> LineVisit:
    function = trace.function_of(code)
    return function.qualname, text_of(function, line)


def text_of(code: schema.Code, line: int | None) -> str:
    return line_text(code, line) or f"line {line}"
