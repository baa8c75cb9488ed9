"""Compare two recordings of a program: before and after a change, or two runs of the same.

Ids and line numbers differ between recordings, so records are matched by what they are for a person: functions by
name, lines by their text, breaks by reason and line, guards by function, source and text. (Guards that every version
has, on settings and libraries, are left out.)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import TYPE_CHECKING, Generic, TypeVar

from tracer_core.recording import schema
from tracer_core.recording.codes import line_of
from tracer_core.recording.damage import reading
from tracer_core.recording.overview import where
from tracer_core.recording.story import SETTINGS
from tracer_core.recording.summary import MOST
from tracer_core.recording.words import count

if TYPE_CHECKING:
    from tracer_core.recording.trace import Trace

T = TypeVar("T")
LineVisit = tuple[str, str]
"""A function's name, and the text of the line it runs."""


@dataclass(frozen=True)
class Figure:
    """One number of both recordings."""

    name: str
    before: float
    after: float


@dataclass(frozen=True)
class Changes(Generic[T]):
    """The records that only one of the recordings has."""

    gone: list[T]
    new: list[T]


@dataclass(frozen=True)
class Comparison:
    """The differences of two recordings. `print` shows them."""

    before: Trace
    after: Trace
    figures: list[Figure]
    breaks: Changes[schema.Break]
    guards: Changes[schema.Guard]
    parts_at: (
        tuple[int, int] | None
    )  # the first steps, in the last attempts, that run different lines; None if none do

    @property
    def same(self) -> bool:
        """Whether both ran the same lines, with the same breaks, guards, and numbers of graphs and versions."""
        figures = all(one.before == one.after for one in self.figures if one.name != "seconds")
        changes = (self.breaks.gone, self.breaks.new, self.guards.gone, self.guards.new)
        return figures and not any(changes) and self.parts_at is None

    def __str__(self) -> str:
        return "\n".join(_text(self))


@reading
def compare(before: Trace, after: Trace) -> Comparison:
    """Compare two recordings."""
    return Comparison(
        before,
        after,
        [Figure(name, _figures(before)[name], _figures(after)[name]) for name in _figures(before)],
        _breaks(before, after),
        _guards(before, after),
        _parting(before, after),
    )


def _figures(trace: Trace) -> dict[str, float]:
    compiled = [one for one in trace.compilations if one.outcome == "compiled"]
    live = [node for graph in trace.graphs for node in map(trace.nodes.__getitem__, graph.nodes) if node.live]
    return {
        "breaks": len(trace.break_places),
        "graphs": len(trace.graphs),
        "operations": sum(node.op.startswith("call") for node in live),
        "compilations": len(compiled),
        "recompilations": sum(one.version > 1 for one in compiled),
        "calls as plain Python": sum(call.outcome in ("skipped", "fault") for call in trace.calls),
        "seconds": sum(one.seconds for one in trace.compilations if one.during_step is None),
    }


def _breaks(before: Trace, after: Trace) -> Changes[schema.Break]:
    def keyed(trace: Trace) -> list[tuple[Hashable, schema.Break]]:
        return [((one.reason_id, _line(trace, one.code, one.line)), one) for one in trace.break_places]

    return Changes(*_only(keyed(before), keyed(after)))


def _guards(before: Trace, after: Trace) -> Changes[schema.Guard]:
    def keyed(trace: Trace) -> list[tuple[Hashable, schema.Guard]]:
        kept = {one.attempts[-1]: one for one in trace.compilations if one.outcome == "compiled" and one.attempts}
        return [
            ((_function(trace, kept[guard.attempt].code), guard.kind, guard.source, guard.text), guard)
            for guard in trace.guards
            if guard.attempt in kept and guard.kind not in SETTINGS
        ]

    return Changes(*_only(keyed(before), keyed(after)))


def _only(before: list[tuple[Hashable, T]], after: list[tuple[Hashable, T]]) -> tuple[list[T], list[T]]:
    """Return the records whose key the other list has less often."""
    return _without(before, Counter(key for key, _ in after)), _without(after, Counter(key for key, _ in before))


def _without(keyed: list[tuple[Hashable, T]], others: Counter[Hashable]) -> list[T]:
    left = []
    for key, record in keyed:
        if others[key]:
            others[key] -= 1
        else:
            left.append(record)
    return left


# --- stepping side by side --------------------------------------------------------------------------------------


def visits(trace: Trace) -> Iterator[tuple[int, LineVisit]]:
    """Yield each line that the last attempts run, with the first step of the visit. A line is visited again where
    another line or frame was between, or its instructions begin anew."""
    steps = trace.index.steps
    last: tuple[int, int | None] | None = None
    reached = -1
    for attempt in trace.attempts:
        if attempt.outcome == "restarted":
            continue
        for step in range(attempt.first_step, attempt.last_step + 1):
            frame = trace.frames[steps.frame[step]]
            instruction = steps.instruction[step]
            line = line_of(trace.codes[frame.code].instructions, instruction)
            if line is not None and ((frame.id, line) != last or instruction <= reached):
                yield step, _line(trace, frame.code, line)
            last, reached = (frame.id, line), instruction


def side_by_side(before: Trace, after: Trace) -> list[tuple[int | None, int | None]]:
    """Return the visits of lines in both recordings, aligned: pairs of steps, None where only the other has it.

    The alignment is that of `difflib`: lines are matched by function and text, in order.
    """
    ours, theirs = list(visits(before)), list(visits(after))
    pairs: list[tuple[int | None, int | None]] = []
    matcher = SequenceMatcher(None, [line for _, line in ours], [line for _, line in theirs], autojunk=False)
    for tag, a, a_end, b, b_end in matcher.get_opcodes():
        if tag == "equal":
            pairs += zip((step for step, _ in ours[a:a_end]), (step for step, _ in theirs[b:b_end]), strict=True)
        else:
            pairs += [(step, None) for step, _ in ours[a:a_end]]
            pairs += [(None, step) for step, _ in theirs[b:b_end]]
    return pairs


def _parting(before: Trace, after: Trace) -> tuple[int, int] | None:
    ours, theirs = visits(before), visits(after)
    ends = (len(before) - 1, -1), (len(after) - 1, -1)
    while True:
        a, b = next(ours, None), next(theirs, None)
        if a is None or b is None:
            return None if a is b else ((a or ends[0])[0], (b or ends[1])[0])
        if a[1] != b[1]:
            return a[0], b[0]


def _function(trace: Trace, code: int) -> str:
    """Return a function's name; a resume function is named by the line where it goes on."""
    found = trace.codes[code]
    if found.resumes is None or found.resumes_at is None:
        return found.qualname
    original = trace.codes[found.resumes]
    line = line_of(original.instructions, found.resumes_at)
    return f"{original.qualname} after {_text_of(original, line)}"


def _line(trace: Trace, code: int, line: int | None) -> LineVisit:
    function = trace.function_of(code)
    return function.qualname, _text_of(function, line)


def _text_of(code: schema.Code, line: int | None) -> str:
    lines = code.source.split("\n")
    at = -1 if line is None else line - code.first_line
    return lines[at].strip() if 0 <= at < len(lines) and code.source else f"line {line}"


# --- as text ----------------------------------------------------------------------------------------------------


def _text(found: Comparison) -> Iterator[str]:
    names = [trace.label or which for trace, which in ((found.before, "before"), (found.after, "after"))]
    yield f"{names[0]} and {names[1]}: {'no difference' if found.same else 'what changed'}"
    for figure in found.figures:
        yield f"  {figure.name}: {_number(figure.before)} -> {_number(figure.after)}"
    yield from _listed("Breaks that are gone", [_of_break(found.before, one) for one in found.breaks.gone])
    yield from _listed("New breaks", [_of_break(found.after, one) for one in found.breaks.new])
    yield from _listed("Guards that are gone", [_of_guard(found.before, one) for one in found.guards.gone])
    yield from _listed("New guards", [_of_guard(found.after, one) for one in found.guards.new])
    if found.parts_at is not None:
        before, after = found.parts_at
        yield f"The first difference: {_at(found.before, before)}; {_at(found.after, after)}"


def _listed(title: str, lines: list[str]) -> Iterator[str]:
    if lines:
        yield f"{title} ({len(lines)})"
        yield from lines[:MOST]
        if len(lines) > MOST:
            yield f"  ... and {count(len(lines) - MOST, 'other')}"


def _of_break(trace: Trace, one: schema.Break) -> str:
    return f"  {where(trace, one.code, one.line)}: {one.message}"


def _of_guard(trace: Trace, one: schema.Guard) -> str:
    return f"  {one.text}" + ("" if one.code is None else f"  ({where(trace, one.code, one.line)})")


def _at(trace: Trace, step: int) -> str:
    found = trace.steps[step]
    return f"step {step} ({where(trace, found.code.id, found.line)})"


def _number(value: float) -> str:
    return f"{value:.3f}" if isinstance(value, float) else f"{value:,}"
