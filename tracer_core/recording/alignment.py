"""Align two recordings by the lines that they run, to step through both side by side."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from difflib import SequenceMatcher
from itertools import islice, takewhile
from typing import TYPE_CHECKING

from tracer_core.recording import schema
from tracer_core.recording.codes import line_of
from tracer_core.recording.overview import line_text

if TYPE_CHECKING:
    from tracer_core.recording.trace import Trace

LineVisit = tuple[str, str]
"""A function's name, and the text of the line it runs."""
_MOST_ALIGNED = 2000


def visits(trace: Trace) -> Iterator[tuple[int, LineVisit]]:
    """Yield each line that the last attempts run, with the first step of the visit. A line is visited again where
    another line or frame was between, or its instructions begin anew."""
    steps = trace.index.steps
    last: tuple[int, int | None] | None = None
    reached = -1
    for attempt in trace.attempts:
        if attempt.outcome == "restarted":
            continue
        for step in trace.index.steps_of(attempt.id):
            frame = trace.frames[steps.frame[step]]
            if step < trace.index.begin(frame):
                continue
            instruction = steps.instruction[step]
            line = line_of(trace.codes[frame.code].instructions, instruction)
            if line is not None and ((frame.id, line) != last or instruction <= reached):
                yield step, line_visit(trace, frame.code, line)
            last, reached = (frame.id, line), instruction


def side_by_side(before: Trace, after: Trace) -> list[tuple[int | None, int | None]]:
    """Return the visits of lines in both recordings, aligned: pairs of steps, None where only the other has it.

    Lines are matched by function and text, in order: those at both ends that are equal, and those between by
    `difflib`.
    """
    ours, theirs = list(visits(before)), list(visits(after))
    names, others = [line for _, line in ours], [line for _, line in theirs]
    start = _common(zip(names, others, strict=False))
    rest = min(len(names), len(others)) - start
    end = _common(islice(zip(reversed(names), reversed(others), strict=False), rest))
    a_stop, b_stop = len(names) - end, len(others) - end
    # It takes time that grows with the square of how often a line is repeated, unless it may neglect such lines.
    neglect = max(a_stop, b_stop) - start > _MOST_ALIGNED
    matcher = SequenceMatcher(None, names[start:a_stop], others[start:b_stop], autojunk=neglect)
    pairs: list[tuple[int | None, int | None]] = _paired(ours[:start], theirs[:start])
    for tag, a, a_end, b, b_end in matcher.get_opcodes():
        left, right = ours[start + a : start + a_end], theirs[start + b : start + b_end]
        if tag == "equal":
            pairs += _paired(left, right)
        else:
            pairs += [(step, None) for step, _ in left]
            pairs += [(None, step) for step, _ in right]
    return pairs + _paired(ours[a_stop:], theirs[b_stop:])


def _common(pairs: Iterable[tuple[LineVisit, LineVisit]]) -> int:
    """Return how many pairs at the start are equal."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def _paired(
    ours: list[tuple[int, LineVisit]], theirs: list[tuple[int, LineVisit]]
) -> list[tuple[int | None, int | None]]:
    return [(a, b) for (a, _), (b, _) in zip(ours, theirs, strict=True)]


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
