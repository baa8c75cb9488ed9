"""Tell the differences of two recordings: as data for the explorer, and as text."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, TypeVar

from tracer_core.recording import schema
from tracer_core.recording.comparison import Changes, Comparison, code_of, operations, side_by_side
from tracer_core.recording.damage import reading
from tracer_core.recording.dot import RecordedGraph
from tracer_core.recording.messages import Change, Differences, Figure, Row, Section
from tracer_core.recording.overview import line_text, where
from tracer_core.recording.summary import MOST
from tracer_core.recording.words import as_written, count, listed, seconds

if TYPE_CHECKING:
    from tracer_core.recording.trace import Trace

T = TypeVar("T")
_TITLES = {"breaks": "Breaks", "graphs": "Graphs", "guards": "Guards"}
_SHOWN_OPERATIONS = 6


@reading
def differences(found: Comparison) -> Differences:
    """Return a comparison as data."""
    before, after = (trace.label or which for trace, which in ((found.before, "before"), (found.after, "after")))
    changes = _changes(found)
    return Differences(
        before, after, headline(found), found.figures, changes, found.parts_at, side_by_side(found.before, found.after)
    )


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
        _change("guards", found, found.guards, _of_guard, lambda guard: as_written(guard.source)),
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
    targets = [target.rpartition(".")[2] for target in operations(trace, graph)]
    shown = ", ".join([*targets[:_SHOWN_OPERATIONS], *(["..."] if len(targets) > _SHOWN_OPERATIONS else [])])
    compilation = trace.compilations[trace.attempts[graph.attempt].compilation]
    steps = trace.index.steps_of(graph.attempt)
    return Row(
        f"{trace.codes[code_of(trace, graph)].qualname}, version {compilation.version}: "
        f"{count(len(targets), 'operation')}{f' ({shown})' if shown else ''}",
        step=steps[-1] if steps else None,
        pane="graph",
        item=graph.id,
    )


def _of_guard(trace: Trace, one: schema.Guard) -> Row:
    at = "" if one.code is None else where(trace, one.code, one.line)
    return Row(as_written(one.text), place=at, step=one.step, pane="guards", item=one.id)


def number(figure: Figure, value: float) -> str:
    """Return one of a figure's numbers as people read it."""
    return seconds(value) if figure.name == "seconds" else f"{value:,}"


# --- as text ----------------------------------------------------------------------------------------------------


@reading
def text(found: Comparison) -> str:
    """Return the differences as `print` shows them."""
    return "\n".join(_lines(found))


def _lines(found: Comparison) -> Iterator[str]:
    names = [trace.label or which for trace, which in ((found.before, "before"), (found.after, "after"))]
    yield f"{names[0]} and {names[1]}: {'no difference' if found.same else 'what changed'}"
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
