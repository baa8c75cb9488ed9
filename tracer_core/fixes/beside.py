"""Compare what the engine and the installed `torch.compile` do with the recorded calls: where they part.

Both repeat the calls on copies of their inputs, and their results are compared with plain Python. Breaks are matched
by the program's line, graphs and compilations by function; the rest of a function after a break, by the break's line.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby, zip_longest

import torch

from tracer_core.fixes.isolation import why_not_repeatable
from tracer_core.fixes.kept import KeptCalls
from tracer_core.fixes.outside import ChangesOutside
from tracer_core.fixes.repeating import Change, Outcome, OutOfTime, run_compiled, run_engine, run_plainly
from tracer_core.fixes.torch_run import Function, TorchBreak, TorchRun, run_torch
from tracer_core.names.files import place
from tracer_core.recording import Trace, schema
from tracer_core.recording.beside_torch import (
    ENGINE,
    TITLES,
    BesideTorch,
    BesideTorchSoFar,
    TorchFigure,
    TorchRow,
)
from tracer_core.recording.codes import line_of, line_text
from tracer_core.recording.facts import target_text
from tracer_core.recording.overview import where
from tracer_core.recording.words import count, listed

_MOST_OPERATIONS = 8
_MOST_NAMED = 2
_TORCH = "`torch.compile`"
_WHOLE = "runs the whole function as plain Python"
_STAGES = ("the calls as plain Python", "the calls through the engine", "the calls through torch.compile")
_SAME_OPERATION = {"count_one_change_less": "_lower_version_count_by_1"}
"""Functions of the engine, and those of torch's compiler that do the same."""

Line = tuple[str, int | None]


def beside_torch(trace: Trace, kept: KeptCalls | None, seconds: float = 60.0) -> BesideTorch:
    """Repeat the recorded calls through both compilers, and compare what they do. No call starts after so many
    `seconds`."""
    *_, last = comparing_with_torch(trace, kept, seconds)
    return last.found


def comparing_with_torch(trace: Trace, kept: KeptCalls | None, seconds: float = 60.0) -> Iterator[BesideTorchSoFar]:
    """Do what `beside_torch` does, and yield the state before each repetition of the calls, and at the end. Nothing
    of the program is changed at these points, so the iteration may stop there."""
    found, total = BesideTorch(version=str(torch.__version__)), len(_STAGES)
    why_not = why_not_repeatable(kept)
    if kept is None or why_not is not None:
        found.notes.append(f"{why_not} So the calls cannot be repeated.")
        yield BesideTorchSoFar(found)
        return
    until = time.monotonic() + seconds
    found.notes += kept.notes
    try:
        yield BesideTorchSoFar(found, 0, total, _STAGES[0])
        plain, again = run_plainly(kept, until=until), run_plainly(kept, until=until)
        yield BesideTorchSoFar(found, 1, total, _STAGES[1])
        engine, _ = run_compiled(kept, Change(), until)
        ours = run_engine(kept, Change(), until=until)
        yield BesideTorchSoFar(found, 2, total, _STAGES[2])
        theirs = run_torch(kept, until)
    except OutOfTime:
        found.notes.append(f"Repeating the calls takes more than {seconds:g} seconds, so nothing was compared.")
        yield BesideTorchSoFar(found)
        return
    except ChangesOutside as outside:
        found.notes.append(f"Repeated, the calls would {outside} again. So nothing was compared.")
        yield BesideTorchSoFar(found)
        return
    results = [] if _wrong(plain, again) else list(_results(plain, ours, theirs.outcomes))
    if not results:
        found.notes.append("Plain Python gives other results when the calls are repeated, so they are not compared.")
    kinds = [results, list(_breaks(trace, engine, theirs)), _graphs(trace, engine, theirs), _compiled(engine, theirs)]
    found.rows = [row for rows in kinds for row in sorted(rows, key=lambda row: row.same)]
    found.figures = _figures(engine, theirs, ours)
    found.headline = _headline(found)
    yield BesideTorchSoFar(found, total, total)


def _headline(found: BesideTorch) -> str:
    """Return where they part, in a few sentences."""
    parts = {kind: [row for row in found.differences if row.kind == kind] for kind in TITLES}
    said = [row.text for row in parts["results"]]
    for who, rows in (
        (_TORCH, [row for row in parts["breaks"] if not row.engine]),
        (ENGINE, [row for row in parts["breaks"] if not row.torch]),
    ):
        said += [f"Only {who} breaks the graph at {_places(rows)}."] if rows else []
    said += [f"At {row.place}: {row.text}" for row in parts["breaks"] if row.engine and row.torch][:1]
    if not said and (parts["graphs"] or parts["compilations"]):
        first = (parts["graphs"] or parts["compilations"])[0]
        broken = any(row.kind == "breaks" for row in found.rows)
        breaks = "They break the graph at the same lines" if broken else "Neither breaks the graph"
        graphs = "" if parts["graphs"] else ", and their graphs are the same"
        said.append(f"{breaks}{graphs}. In {first.place}: {first.text}")
    return " ".join(said) or f"{_capital(ENGINE)} and {_TORCH} capture the same graphs, with the same breaks."


def _places(rows: list[TorchRow]) -> str:
    more = len(rows) - _MOST_NAMED
    return listed([*(row.place for row in rows[:_MOST_NAMED]), *([count(more, "other line")] if more > 0 else [])])


def _capital(text: str) -> str:
    return text if text == _TORCH else text[:1].upper() + text[1:]


def _figures(engine: Trace, theirs: TorchRun, ours: list[Outcome]) -> list[TorchFigure]:
    operations = sum(len(_operations(engine, graph)) for graph in _outer_graphs(engine))
    compiled = [one for one in engine.compilations if one.outcome == "compiled"]
    pairs = {
        "graphs": (len(_outer_graphs(engine)), len(theirs.graphs)),
        "operations": (operations, sum(len(nodes) for _, nodes in theirs.graphs)),
        "lines with a break": (len(_our_breaks(engine)), len(_their_breaks(theirs))),
        "compilations": (len(compiled), len(theirs.compiled)),
        "seconds": (sum(one.seconds for one in ours), sum(one.seconds for one in theirs.outcomes)),
    }
    return [TorchFigure(name, *both) for name, both in pairs.items()]


# --- results ------------------------------------------------------------------------------------------------------


def _wrong(plain: list[Outcome], others: list[Outcome]) -> list[int]:
    """Return the numbers of the calls, from 1, whose outcome is not that of plain Python."""
    return [number for number, (one, other) in enumerate(zip(plain, others, strict=True), 1) if not one.equals(other)]


def _results(plain: list[Outcome], ours: list[Outcome], theirs: list[Outcome]) -> Iterator[TorchRow]:
    calls = count(len(plain), "call")
    for who, outcomes in ((ENGINE, ours), (_TORCH, theirs)):
        wrong = _wrong(plain, outcomes)
        if wrong:
            first = outcomes[wrong[0] - 1]
            raised = f" It raises {first.error.splitlines()[0]}." if first.error else ""
            which = f"{'call' if len(wrong) == 1 else 'calls'} {listed([str(number) for number in wrong])}"
            yield TorchRow("results", False, f"{_capital(who)} differs from plain Python in {which}.{raised}")
        else:
            yield TorchRow("results", True, f"{_capital(who)} gives the results of plain Python ({calls}).")


# --- breaks -------------------------------------------------------------------------------------------------------


def _our_breaks(trace: Trace) -> dict[Line, schema.Break]:
    found: dict[Line, schema.Break] = {}
    for one in trace.break_places:
        found.setdefault((trace.codes[one.code].filename, one.line), one)
    return found


def _their_breaks(theirs: TorchRun) -> dict[Line, TorchBreak]:
    found: dict[Line, TorchBreak] = {}
    for one in theirs.breaks:
        found.setdefault((one.file, one.line), one)
    return found


def _breaks(trace: Trace, engine: Trace, theirs: TorchRun) -> Iterator[TorchRow]:
    recorded, ours, other = _our_breaks(trace), _our_breaks(engine), _their_breaks(theirs)
    for line in dict.fromkeys([*ours, *other]):
        mine, its = ours.get(line), other.get(line)
        known = recorded.get(line)
        row = TorchRow("breaks", mine is not None and its is not None, "Both break the graph here.")
        if mine is not None and its is not None and its.whole and mine.resumes:
            row.same = False
            row.text = f"Both break here; {_TORCH} {_WHOLE}, {ENGINE} compiles the rest."
        if mine is not None:
            row.place, row.source = where(engine, mine.code, mine.line), line_text(engine.codes[mine.code], mine.line)
            row.engine = mine.message
        if its is not None:
            row.place = row.place or f"{place(its.file, its.line)}, in {its.function}"
            row.source = row.source or _text_at(engine, line)
            row.torch = its.reason
        if mine is None and its is not None:
            instead = f", and {_WHOLE}" if its.whole else ""
            row.text = f"Only {_TORCH} breaks the graph here{instead}; {ENGINE} goes on."
        elif its is None:
            row.text = f"Only {ENGINE} breaks the graph here; {_TORCH} goes on."
        if known is not None:
            row.step = known.step if known.final_step is None else known.final_step
            row.pane, row.item = "breaks", known.id
        else:
            row.step = _step_at(trace, line)
        yield row


def _text_at(trace: Trace, line: Line) -> str:
    texts = (line_text(code, line[1]) for code in trace.codes if code.filename == line[0])
    return next((text for text in texts if text), "")


def _step_at(trace: Trace, line: Line) -> int | None:
    """Return the first step of the recording at a line."""
    codes = {code.id for code in trace.codes if code.filename == line[0]}
    steps = trace.index.steps
    for step, number in enumerate(steps.instruction):
        code = trace.frames[steps.frame[step]].code
        if code in codes and line_of(trace.codes[code].instructions, number) == line[1]:
            return step
    return None


# --- graphs -------------------------------------------------------------------------------------------------------


def _function(trace: Trace, code: int) -> Function:
    """Return the function of a code; a resume function is named by the line of the break, as torch's are."""
    found, original = trace.codes[code], trace.function_of(code)
    if found.resumes_at is None:
        return Function(original.filename, original.name, original.first_line)
    at = next((one.root_line for one in trace.breaks if code in one.resumes), None)
    at = line_of(original.instructions, found.resumes_at) if at is None else at
    return Function(original.filename, original.name, at, resumed=True)


def _named(trace: Trace, function: Function) -> str:
    """Return `Net.forward`, or `Net.forward, after line 12`."""
    line = function.line or 0
    codes = [code for code in trace.codes if (code.filename, code.name) == (function.file, function.name)]
    around = [code for code in codes if code.first_line == line or (function.resumed and code.first_line <= line)]
    name = max(around, key=lambda code: code.first_line).qualname if around else function.name
    return f"{name}, after line {line}" if function.resumed else name


def _outer_graphs(trace: Trace) -> list[schema.Graph]:
    completed = {one.graph for one in trace.compilations}
    return [one for one in trace.data.graphs if one.body is None and one.id in completed]


def _operations(trace: Trace, graph: schema.Graph) -> list[str]:
    nodes = map(trace.nodes.__getitem__, graph.nodes)
    return [_short(node.target) for node in nodes if node.live and node.op.startswith("call")]


def _short(target: str) -> str:
    name = target.rpartition(".")[2] if not target.endswith(".default") else target.split(".")[-2]
    return _SAME_OPERATION.get(name, name)


def _graphs(trace: Trace, engine: Trace, theirs: TorchRun) -> list[TorchRow]:
    ours: dict[Function, list[list[str]]] = {}
    other: dict[Function, list[list[str]]] = {}
    for graph in _outer_graphs(engine):
        code = engine.compilations[engine.attempts[graph.attempt].compilation].code
        ours.setdefault(_function(engine, code), []).append(_operations(engine, graph))
    for function, nodes in theirs.graphs:
        other.setdefault(function, []).append([_short(target_text(node.target)) for node in nodes])
    at: dict[Function, schema.Graph] = {}
    for one in trace.data.graphs:
        code = trace.compilations[trace.attempts[one.attempt].compilation].code
        at.setdefault(_function(trace, code), one)
    rows: list[TorchRow] = []
    for function in dict.fromkeys([*ours, *other]):
        pairs = list(zip_longest(ours.get(function, []), other.get(function, [])))
        for (mine, its), group in groupby(pairs):
            row = _graph_row(mine, its, len(list(group)))
            row.place = _named(engine, function)
            if function in at:
                steps = trace.index.steps_of(at[function].attempt)
                row.step, row.pane, row.item = (steps[-1] if steps else None), "graph", at[function].id
            rows.append(row)
    return rows


def _graph_row(mine: Sequence[str] | None, its: Sequence[str] | None, times: int) -> TorchRow:
    versions = f" ({count(times, 'version')})" if times > 1 else ""
    engine, other = ("" if one is None else _said(one) for one in (mine, its))
    if mine is None or its is None:
        text = f"Only {ENGINE if its is None else _TORCH} has this graph{versions}."
    elif list(mine) == list(its):
        return TorchRow("graphs", True, f"The same graph of {count(len(mine), 'operation')}{versions}: {engine}.")
    else:
        same = next((at for at, (one, two) in enumerate(zip(mine, its, strict=False)) if one != two), None)
        same = min(len(mine), len(its)) if same is None else same
        after = f"after {count(same, 'operation')} (`{mine[same - 1]}`)" if same else "from the first operation on"
        text = f"The graphs part {after}{versions}: {_next(ENGINE, mine, same)}, {_next(_TORCH, its, same)}."
    return TorchRow("graphs", False, text, engine=engine, torch=other)


def _next(who: str, operations: Sequence[str], at: int) -> str:
    return f"{who} goes on with `{operations[at]}`" if at < len(operations) else f"{who} ends the graph"


def _said(operations: Sequence[str]) -> str:
    more = len(operations) - _MOST_OPERATIONS
    shown = ", ".join(f"`{name}`" for name in operations[:_MOST_OPERATIONS])
    return f"{shown}, and {more} more" if more > 0 else shown or "no operation"


# --- compilations -------------------------------------------------------------------------------------------------


def _compiled(engine: Trace, theirs: TorchRun) -> list[TorchRow]:
    ours = Counter(_function(engine, one.code) for one in engine.compilations if one.outcome == "compiled")
    other = Counter(function for function, _ in theirs.compiled)
    rows = []
    for function in dict.fromkeys([*ours, *other]):
        mine, its = ours[function], other[function]
        why = [reason for one, reason in theirs.compiled if one == function and reason]
        causes = [
            f"{cause.text.split(' changed ')[0]} changed"
            for cause in engine.recompilations
            if any(_function(engine, engine.calls[call].code) == function for call in cause.calls)
        ]
        text = f"Both compile it {_times(mine)}." if mine == its else _unequal(mine, its)
        row = TorchRow("compilations", mine == its, text, _named(engine, function))
        row.engine = "; ".join(dict.fromkeys(causes))
        row.torch = "; ".join(dict.fromkeys(f"the guard `{reason}` failed" for reason in why))
        rows.append(row)
    return rows


def _unequal(mine: int, its: int) -> str:
    return f"{_capital(ENGINE)} compiles it {_times(mine)}, {_TORCH} {_times(its)}."


def _times(number: int) -> str:
    return {0: "not at all", 1: "once", 2: "twice"}.get(number, f"{number} times")
