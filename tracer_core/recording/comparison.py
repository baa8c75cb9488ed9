"""Compare two recordings of a program: before and after a change, or two runs of the same.

Ids and line numbers differ between recordings, so records are matched by what they are for a person: functions by
name, lines by their text, breaks by reason and line, graphs by function and operations, guards by function, source and
text. (Guards that every version has, on settings and libraries, are left out.)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import islice, takewhile
from typing import TYPE_CHECKING, Generic, TypeVar

from tracer_core.recording import schema
from tracer_core.recording.codes import line_of
from tracer_core.recording.damage import reading
from tracer_core.recording.dot import RecordedGraph
from tracer_core.recording.messages import Figure
from tracer_core.recording.overview import is_recompilation, line_text, plain_calls
from tracer_core.recording.story import SETTINGS

if TYPE_CHECKING:
    from tracer_core.recording.trace import Trace

T = TypeVar("T")
_MOST_ALIGNED = 2000
LineVisit = tuple[str, str]
"""A function's name, and the text of the line it runs."""


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
    graphs: Changes[RecordedGraph]
    guards: Changes[schema.Guard]
    parts_at: tuple[int, int] | None
    """The first steps, in the last attempts, that run different lines; None if none do."""

    @property
    def same(self) -> bool:
        """Whether both ran the same lines, with the same breaks, guards, and numbers of graphs and versions."""
        figures = all(one.before == one.after for one in self.figures if one.name != "seconds")
        changes = (self.breaks, self.graphs, self.guards)
        return figures and not any(one.gone or one.new for one in changes) and self.parts_at is None

    def __str__(self) -> str:
        from tracer_core.recording.differences import text

        return text(self)


@reading
def compare(before: Trace, after: Trace) -> Comparison:
    """Compare two recordings."""
    ours, theirs = _figures(before), _figures(after)
    return Comparison(
        before,
        after,
        [Figure(name, value, theirs[name]) for name, value in ours.items()],
        _breaks(before, after),
        _graphs(before, after),
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
        "recompilations": sum(map(is_recompilation, compiled)),
        "calls as plain Python": len(plain_calls(trace)),
        "seconds": sum(one.seconds for one in trace.compilations if one.during_step is None),
    }


def _breaks(before: Trace, after: Trace) -> Changes[schema.Break]:
    def keyed(trace: Trace) -> list[tuple[Hashable, schema.Break]]:
        return [((one.reason_id, _line(trace, one.code, one.line)), one) for one in trace.break_places]

    return Changes(*_only(keyed(before), keyed(after)))


def _graphs(before: Trace, after: Trace) -> Changes[RecordedGraph]:
    def keyed(trace: Trace) -> list[tuple[Hashable, RecordedGraph]]:
        return [((_function(trace, code_of(trace, graph)), *operations(trace, graph)), graph) for graph in trace.graphs]

    return Changes(*_only(keyed(before), keyed(after)))


def code_of(trace: Trace, graph: RecordedGraph) -> int:
    """Return the code whose graph it is."""
    return trace.compilations[trace.attempts[graph.attempt].compilation].code


def operations(trace: Trace, graph: RecordedGraph) -> list[str]:
    """Return the targets of the calls in a graph, in order."""
    nodes = (trace.nodes[number] for number in graph.nodes)
    return [node.target for node in nodes if node.live and node.op.startswith("call")]


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
        for step in trace.index.steps_of(attempt.id):
            frame = trace.frames[steps.frame[step]]
            instruction = steps.instruction[step]
            line = line_of(trace.codes[frame.code].instructions, instruction)
            if line is not None and ((frame.id, line) != last or instruction <= reached):
                yield step, _line(trace, frame.code, line)
            last, reached = (frame.id, line), instruction


def side_by_side(before: Trace, after: Trace) -> list[tuple[int | None, int | None]]:
    """Return the visits of lines in both recordings, aligned: pairs of steps, None where only the other has it.

    Lines are matched by function and text, in order: those at both ends that are equal, and between them by `difflib`.
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
    return line_text(code, line) or f"line {line}"
