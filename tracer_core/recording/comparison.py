"""Compare two recordings of a program: before and after a change, or two runs of the same.

Ids and line numbers differ between recordings, so records are matched by what they are for a person: functions by
name, lines by their text, breaks by reason and line, graphs by function and operations, guards by function, source
and text. (Guards that every version has, on settings and libraries, are left out.)
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

from tracer_core.recording import schema
from tracer_core.recording.alignment import line_visit, parting, side_by_side, text_of
from tracer_core.recording.codes import line_of, line_text
from tracer_core.recording.damage import reading
from tracer_core.recording.dot import RecordedGraph
from tracer_core.recording.messages import Change, Differences, Figure, Row, Section
from tracer_core.recording.overview import is_recompilation, plain_calls, where
from tracer_core.recording.story import SETTINGS
from tracer_core.recording.summary import MOST
from tracer_core.recording.words import count, listed, seconds

if TYPE_CHECKING:
    from tracer_core.recording.trace import Trace

T = TypeVar("T")
_TITLES = {"breaks": "Breaks", "graphs": "Graphs", "guards": "Guards"}
_SHOWN_OPERATIONS = 6
_PLACE = re.compile(r" \([^()]*:\d+\)")
"""Where a function is, in the text of a guard: lines move."""


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
        parting(before, after),
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
        return [((one.reason_id, line_visit(trace, one.code, one.line)), one) for one in trace.break_places]

    return Changes(*_only(keyed(before), keyed(after)))


def _graphs(before: Trace, after: Trace) -> Changes[RecordedGraph]:
    def keyed(trace: Trace) -> list[tuple[Hashable, RecordedGraph]]:
        functions = ((_key_of(trace, _compilation_of(trace, graph).code), graph) for graph in trace.graphs)
        return [((function, *_operations(trace, graph)), graph) for function, graph in functions]

    return Changes(*_only(keyed(before), keyed(after)))


def _compilation_of(trace: Trace, graph: RecordedGraph) -> schema.Compilation:
    return trace.compilations[trace.attempts[graph.attempt].compilation]


def _operations(trace: Trace, graph: RecordedGraph) -> list[str]:
    """Return the targets of the calls in a graph, in order."""
    nodes = (trace.nodes[number] for number in graph.nodes)
    return [node.target for node in nodes if node.live and node.op.startswith("call")]


def _guards(before: Trace, after: Trace) -> Changes[schema.Guard]:
    def keyed(trace: Trace) -> list[tuple[Hashable, schema.Guard]]:
        kept = {one.attempts[-1]: one for one in trace.compilations if one.outcome == "compiled" and one.attempts}
        return [
            (
                (_key_of(trace, kept[guard.attempt].code), guard.kind, guard.source, _PLACE.sub("", guard.text)),
                guard,
            )
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


def _key_of(trace: Trace, code: int) -> tuple[str, str]:
    """Return what tells a function from others of the same recording, and finds it in the other one: a resume
    function is known by the text of the line where it goes on, since its name has the number of a line."""
    found = trace.codes[code]
    if found.resumes is None or found.resumes_at is None:
        return found.qualname, ""
    original = trace.codes[found.resumes]
    return original.qualname, text_of(original, line_of(original.instructions, found.resumes_at))


# --- as data ----------------------------------------------------------------------------------------------------


@reading
def differences(found: Comparison) -> Differences:
    """Return a comparison as data."""
    before, after = _names(found)
    pairs = side_by_side(found.before, found.after)
    return Differences(before, after, headline(found), found.figures, _changes(found), found.parts_at, pairs)


def _names(found: Comparison) -> list[str]:
    """Return what the two are called. Two runs of one function are told apart."""
    labels = found.before.label, found.after.label
    alike = labels[0] == labels[1]
    return [
        f"{label} ({which})" if label and alike else label or which
        for label, which in zip(labels, ("before", "after"), strict=True)
    ]


def headline(found: Comparison) -> str:
    """Return the differences in one sentence."""
    if found.same:
        return "Both ran the same lines, with the same breaks, graphs and guards."
    changed = [f"{one.name} {number(one, one.before)} → {number(one, one.after)}" for one in _counted(found)]
    if changed:
        return f"{', '.join(changed)}."
    kinds = [kind for kind in ("breaks", "graphs", "guards") if _differs(getattr(found, kind))]
    if not kinds:
        return "The numbers are the same, but other lines ran."
    return f"The numbers are the same, but other {listed(kinds)} came."


def _counted(found: Comparison) -> list[Figure]:
    return [one for one in found.figures if one.before != one.after and one.name != "seconds"]


def _differs(changes: Changes[T]) -> bool:
    return bool(changes.gone or changes.new)


def _changes(found: Comparison) -> list[Change]:
    return [
        _change("breaks", found, found.breaks, _of_break),
        _change("graphs", found, found.graphs, _of_graph),
        _change("guards", found, found.guards, _of_guard, lambda guard: guard.name),
    ]


def _change(
    kind: str,
    found: Comparison,
    changes: Changes[T],
    row: Callable[[Trace, T], Row],
    group: Callable[[T], str] = lambda _: "",
) -> Change:
    def sections(trace: Trace, records: Iterable[T]) -> list[Section]:
        groups: dict[str, list[Row]] = {}
        for record in records:
            groups.setdefault(group(record), []).append(row(trace, record))
        return [Section(kind, title, rows) for title, rows in groups.items()]

    return Change(kind, sections(found.before, changes.gone), sections(found.after, changes.new))


def _of_break(trace: Trace, one: schema.Break) -> Row:
    return Row(
        one.message,
        place=where(trace, one.code, one.line),
        source=line_text(trace.codes[one.code], one.line),
        step=one.step if one.final_step is None else one.final_step,
        pane="breaks",
        item=one.id,
    )


def _of_graph(trace: Trace, graph: RecordedGraph) -> Row:
    targets = [target.rpartition(".")[2] for target in _operations(trace, graph)]
    shown = ", ".join([*targets[:_SHOWN_OPERATIONS], *(["..."] if len(targets) > _SHOWN_OPERATIONS else [])])
    compilation = _compilation_of(trace, graph)
    steps = trace.index.steps_of(graph.attempt)
    return Row(
        f"{trace.codes[compilation.code].qualname}, version {compilation.version}: "
        f"{count(len(targets), 'operation')}{f' ({shown})' if shown else ''}",
        step=steps[-1] if steps else None,
        pane="graph",
        item=graph.id,
    )


def _of_guard(trace: Trace, one: schema.Guard) -> Row:
    at = "" if one.code is None else where(trace, one.code, one.line)
    return Row(one.text, place=at, step=one.step, pane="guards", item=one.id)


def number(figure: Figure, value: float) -> str:
    """Return one of a figure's numbers as people read it."""
    return seconds(value) if figure.name == "seconds" else f"{value:,}"


# --- as text ----------------------------------------------------------------------------------------------------


@reading
def text(found: Comparison) -> str:
    """Return the differences as `print` shows them."""
    return "\n".join(_lines(found))


def _lines(found: Comparison) -> Iterator[str]:
    yield f"{' and '.join(_names(found))}: {'no difference' if found.same else 'what changed'}"
    for figure in found.figures:
        name = "time" if figure.name == "seconds" else figure.name
        yield f"  {name}: {number(figure, figure.before)} -> {number(figure, figure.after)}"
    for change in _changes(found):
        yield from _listed(f"{_TITLES[change.kind]} that are gone", change.gone)
        yield from _listed(f"New {change.kind}", change.new)
    if found.parts_at is not None:
        before, after = found.parts_at
        yield f"The first difference: {_at(found.before, before)}; {_at(found.after, after)}"


def _listed(title: str, sections: list[Section]) -> Iterator[str]:
    rows = [row for section in sections for row in section.rows]
    if rows:
        yield f"{title} ({len(rows)})"
        for row in rows[:MOST]:
            yield f"  {row.place}: {row.text}" if row.pane == "breaks" else _with_place(row)
        if len(rows) > MOST:
            yield f"  ... and {count(len(rows) - MOST, 'other')}"


def _with_place(row: Row) -> str:
    return f"  {row.text}" + (f"  ({row.place})" if row.place else "")


def _at(trace: Trace, step: int) -> str:
    found = trace.steps[step]
    return f"step {step} ({where(trace, found.code.id, found.line)})"
