"""Compute the overview of a recording: what happened, in rows ranked by what they cost, each with a step to go to.

`print(trace)`, the summary in HTML and the explorer's first pane show these rows, and nothing else.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from tracer_core.names.files import place
from tracer_core.recording import schema
from tracer_core.recording.codes import line_text
from tracer_core.recording.damage import reading
from tracer_core.recording.messages import Overview, Row, Section
from tracer_core.recording.recompiling import Recompilation
from tracer_core.recording.words import count, listed, seconds

if TYPE_CHECKING:
    from tracer_core.recording.trace import Trace

_WITHOUT_TENSORS = "no-tensor"
"""Reasons of this name: the function would have had no graph anyway."""
_MOST_CALLS = 6
_MOST_MESSAGES = 2
_TORCHS_COMPILER = "torch/_dynamo/eval_frame.py"


@reading
def overview(trace: Trace) -> Overview:
    """Return the overview of a recording. A section without rows is left out."""
    sections = (
        Section("advice", "What to do", _advice(trace)),
        Section("faults", "Internal errors (please report them)", list(_faults(trace))),
        Section("lost", "Missing from this recording (please report it)", list(_lost(trace))),
        Section("interrupted", "Interrupted", list(_interrupted(trace))),
        Section("breaks", "Breaks", list(_breaks(trace))),
        Section("plain", "Ran as plain Python", list(_plain(trace))),
        Section("recompilations", "Causes of recompilations", list(_recompilations(trace))),
        Section("notices", "Notices", list(_notices(trace))),
        Section("functions", "Compiled functions", list(_functions(trace))),
        Section("graphs", "Graphs", list(_graphs(trace))),
        Section("bodies", "Bodies of operators", list(_bodies(trace))),
        Section("dispatch", "At the dispatcher", list(_dispatched(trace))),
        Section("time", "Time", list(_time(trace))),
    )
    return Overview(trace.label, headline(trace), [section for section in sections if section.rows])


def headline(trace: Trace) -> str:
    """Return the outcome of the recorded run in one sentence."""
    plain = len(plain_calls(trace))
    ran = f"{count(plain, 'call')} ran as plain Python"
    if not any(one.outcome == "compiled" for one in trace.compilations):
        reused = sum(call.outcome == "reused" for call in trace.calls)
        served = f"Nothing was compiled: {count(reused, 'call')} reused what had been" if reused else ""
        said = f"Nothing was compiled; {ran}" if plain else served or ("Nothing was compiled" if trace.calls else "")
        at_dispatcher = trace.data.dispatcher.steps
        reached = f"{count(len(at_dispatcher), 'step')} at the dispatcher" if at_dispatcher else "Nothing was traced"
        parts = [said] if said else [reached]
    else:
        again = sum(map(is_recompilation, trace.compilations))
        broken = trace.break_places
        breaks = f"breaks at {count(len(broken), 'place')}" if broken else "no breaks"
        recompiled = count(again, "recompilation") if again else "no recompilations"
        parts = [f"{count(len(trace.graphs), 'graph')}, {breaks}, {recompiled}", *([ran] if plain else [])]
    if any(one.outcome == "interrupted" for one in trace.compilations):
        parts.append("tracing was interrupted")
    if trace.faults:
        parts.append(f"the engine failed {count(len(trace.faults), 'time')}")
    if trace.lost:
        parts.append("the recording is incomplete")
    return "; ".join(parts) + "."


def where(trace: Trace, code: int | None, line: int | None) -> str:
    """Return `model.py:12, in forward`; a resume function counts as the function it resumes."""
    if code is None:
        return f"line {line}"
    function = trace.function_of(code)
    return f"{place(function.filename, line)}, in {function.qualname}"


def _defined(code: schema.Code) -> str:
    """Return `forward (model.py:12)`."""
    return f"{code.qualname} ({place(code.filename, code.first_line)})"


def is_recompilation(one: schema.Compilation) -> bool:
    """Return whether the code had been compiled before, for other calls."""
    return one.version > 1 and one.outcome == "compiled"


def plain_calls(trace: Trace) -> list[schema.Call]:
    """Return the calls that ran as plain Python from the start, but those that would have had no graph anyway."""
    plain = [call for call in trace.calls if call.outcome in ("skipped", "fault")]
    return [call for call in plain if not call.reason_id.startswith(_WITHOUT_TENSORS)]


# --- sections -------------------------------------------------------------------------------------------------


def _advice(trace: Trace) -> list[Row]:
    """Say what to do where nothing was compiled, and nothing else says why."""
    if trace.only_reused:
        said = "Each call reused a version that was compiled before, so nothing was traced."
        again = "Try: `%%trace --fresh` forgets these versions, and `tracewalk.trace(fn, ...)` always traces anew."
        return [Row(said, notes=[again], pane="calls")]
    if trace.data.dispatcher.runs or any(one.outcome in ("compiled", "interrupted") for one in trace.compilations):
        return []
    called = [trace.codes[call.code] for call in trace.calls]
    if any(code.filename.replace("\\", "/").endswith(_TORCHS_COMPILER) for code in called):
        said = "torch.compile has compiled this function or module already, so it is not traced."
        return [Row(said, notes=["Try: Trace the original: the function as written, or `_orig_mod` of a module."])]
    if plain_calls(trace) or trace.faults or trace.breaks:
        return []
    if called and trace.label:  # A label names the function or the cell that was traced.
        messages = list(dict.fromkeys(call.message for call in trace.calls if call.message))
        notes = ["Try: Trace a function that computes with tensors."]
        return [Row(message, notes=notes, pane="calls") for message in messages[:_MOST_MESSAGES]]
    said = f"No function of yours{' that computes with tensors' if called else ''} was called."
    return [
        Row(
            said,
            notes=[
                "Try: Put the lines to trace into a function, and call it: the block's own lines are not traced. In "
                "a notebook, %%trace traces a cell's own lines.",
                "Try: Call the function itself if torch.compile has compiled it: such a function is not traced.",
            ],
        )
    ]


def _faults(trace: Trace) -> Iterator[Row]:
    for fault in trace.faults:
        text = fault.text.strip().splitlines()[-1:] or ["unknown"]
        yield Row(text[0], notes=["Your program ran as plain Python there."], step=fault.step, pane="breaks")


def _lost(trace: Trace) -> Iterator[Row]:
    for lost in trace.lost:
        times = f" (and {count(lost.count - 1, 'time')} more)" if lost.count > 1 else ""
        yield Row(f"{lost.what}{times}: {lost.error}", step=lost.step, pane="breaks")


def _interrupted(trace: Trace) -> Iterator[Row]:
    """Say where tracing was interrupted, by Ctrl-C or by a signal handler of the program."""
    for one in trace.compilations:
        if one.outcome != "interrupted" or one.during_step is not None:
            continue
        steps = trace.index.steps_of(one.attempts[-1]) if one.attempts else range(0)
        row = Row(
            f"Tracing of {_defined(trace.codes[one.code])} was interrupted.",
            notes=["The recording has what came before. Trace again to see the rest."],
            pane="calls",
        )
        if steps:
            last = trace.steps[steps[-1]]
            row.step, row.place = last.index, where(trace, last.code.id, last.line)
            row.source = line_text(last.code, last.line)
        yield row


def _breaks(trace: Trace) -> Iterator[Row]:
    for main, others in ranked_breaks(trace):
        row = _said(trace, main)
        ended = list(dict.fromkeys(trace.function_of(one.root_code).qualname for one in (main, *others)))
        if len(ended) > 1:
            row.notes.append(f"Ends the graphs of {count(len(ended), 'function')}: {listed(ended)}.")
        row.notes += [f"Try: {hint}" for hint in main.hints]
        if main.action:
            row.notes.append(f"Instead: {main.action}")
        row.item = main.id
        yield row


def ranked_breaks(trace: Trace) -> list[tuple[schema.Break, list[schema.Break]]]:
    """Return the breaks by place, those first that ended the most graphs."""
    places = trace.breaks_by_place
    return sorted(places, key=lambda place: -len(place[1]))


def _notices(trace: Trace) -> Iterator[Row]:
    for notice in trace.notices:
        row = _said(trace, notice)
        row.notes += [f"Try: {hint}" for hint in notice.hints]
        yield row


def _said(trace: Trace, found: schema.Break | schema.Notice) -> Row:
    step = found.final_step if isinstance(found, schema.Break) and found.final_step is not None else found.step
    row = Row(
        found.message,
        place=where(trace, found.code, found.line),
        source=line_text(trace.codes[found.code], found.line) if found.code is not None else "",
        step=step,
        pane="breaks",
    )
    if found.library is not None:
        row.notes.append(f"In a library: {where(trace, found.library.code, found.library.line)}.")
    return row


def _plain(trace: Trace) -> Iterator[Row]:
    by_code: dict[int, list[schema.Call]] = {}
    for call in plain_calls(trace):
        by_code.setdefault(call.code, []).append(call)
    for code, calls in sorted(by_code.items(), key=lambda pair: -len(pair[1])):
        record = trace.codes[code]
        messages = list(dict.fromkeys(call.message for call in calls if call.message))
        more = len(messages) - _MOST_MESSAGES
        yield Row(
            f"{_defined(record)} ran as plain Python in {_calls(calls)}.",
            notes=messages[:_MOST_MESSAGES] + ([f"... and {count(more, 'other reason')}."] if more > 0 else []),
            pane="calls",
        )


def _calls(calls: Sequence[schema.Call]) -> str:
    """Return `call 2`, or `7 calls (1, 2, 3, 4, 5, 6, ...)`."""
    numbers = [str(call.number) for call in calls]
    if len(numbers) == 1:
        return f"call {numbers[0]}"
    shown = [*numbers[:_MOST_CALLS], "..."] if len(numbers) > _MOST_CALLS else numbers
    return f"{len(numbers)} calls ({', '.join(shown)})"


def _recompilations(trace: Trace) -> Iterator[Row]:
    for cause in trace.recompilations:
        function, asked = trace.codes[cause.code], cause.place
        known = (
            place(function.filename, function.first_line) if asked is None else where(trace, asked.code, asked.line)
        )
        row = Row(
            f"{cause.text}.",
            place=known,
            source=cause.line,
            notes=[cause.change, *(f"Try: {remedy}" for remedy in cause.remedies)],
            step=_again(trace, cause),
            pane="recompiles",
            item=cause.id,
        )
        if cause.library is not None:
            row.notes.append(f"In a library: {where(trace, cause.library.code, cause.library.line)}.")
        yield row


def _again(trace: Trace, cause: Recompilation) -> int | None:
    """Return the first step of the first recompilation."""
    compiled = [trace.calls[call].compilation for call in cause.calls]
    return next((_start(trace, trace.compilations[one]) for one in compiled if one is not None), cause.step)


def _start(trace: Trace, compilation: schema.Compilation) -> int | None:
    """Return the first step of the attempt that was kept."""
    steps = trace.index.steps_of(compilation.attempts[-1]) if compilation.attempts else range(0)
    return steps[0] if steps else None


def _functions(trace: Trace) -> Iterator[Row]:
    by_function: dict[int, list[schema.Compilation]] = {}
    for one in trace.compilations:
        if one.outcome == "compiled":
            by_function.setdefault(trace.function_of(one.code).id, []).append(one)
    calls: dict[int, int] = {}
    for call in trace.calls:
        if call.outcome in ("compiled", "reused"):
            calls[call.code] = calls.get(call.code, 0) + 1
    for function, made in sorted(by_function.items(), key=lambda pair: -_total(pair[1])):
        record = trace.codes[function]
        own = [one for one in made if one.code == function]
        facts = [count(len(own), "version")] if own else []
        if calls.get(function):
            facts.append(count(calls[function], "call"))
        facts += [count(graphs, "graph") if (graphs := sum(one.graph is not None for one in made)) else "no graph"]
        yield Row(
            f"{_defined(record)}: {', '.join(facts)}, {seconds(_total(made))} to compile.",
            notes=list(_resumed(trace, [one for one in made if one.code != function])),
            step=_start(trace, made[0]),
            pane="calls",
        )


def _total(compilations: Iterable[schema.Compilation]) -> float:
    return sum(one.seconds for one in compilations)


def _resumed(trace: Trace, compilations: list[schema.Compilation]) -> Iterator[str]:
    """Say what was traced of a function after its breaks."""
    by_code: dict[int, list[schema.Compilation]] = {}
    for one in compilations:
        by_code.setdefault(one.code, []).append(one)
    for code, made in by_code.items():
        yield f"{trace.codes[code].qualname}: {count(len(made), 'version')}."


def _graphs(trace: Trace) -> Iterator[Row]:
    rows = []
    recorded = trace.nodes
    for compilation in trace.compilations:
        if compilation.graph is None:
            continue
        graph = trace.all_graphs[compilation.graph]
        nodes = [node for node in map(recorded.__getitem__, graph.nodes) if node.live]
        operations = sum(node.op.startswith("call") for node in nodes)
        code = trace.codes[compilation.code]
        steps = trace.index.steps_of(graph.attempt)
        row = Row(
            f"{graph.name}, of {code.qualname}, version {compilation.version}: {count(operations, 'operation')}, "
            f"{count(len(nodes), 'node')}.",
            step=steps[-1] if steps else None,
            pane="graph",
            item=graph.id,
        )
        rows.append((operations, row))
    yield from (row for _, row in sorted(rows, key=lambda pair: -pair[0]))


def _bodies(trace: Trace) -> Iterator[Row]:
    """Yield the bodies of kept attempts, with their inputs."""
    for body in trace.bodies:
        if body.attempt >= 0 and trace.attempts[body.attempt].outcome == "restarted":
            continue
        step = body.first_step if body.last_step >= body.first_step else body.step
        yield Row(body.text, notes=[lift.text for lift in body.lifted], step=step, pane="graph")


def _dispatched(trace: Trace) -> Iterator[Row]:
    """The traces at the dispatcher that are not about a node of a captured graph; of the others, how many."""
    runs = trace.dispatch.runs
    for run in runs:
        if run.data.node is None:
            notes = [f"It ended early: {run.data.error}"] if run.data.error else []
            yield Row(run.sentence, notes=notes, pane="dispatch", item=run.data.id)
    of_nodes = [run for run in runs if run.data.node is not None]
    if of_nodes:
        opened = len({run.data.node for run in of_nodes})
        steps = sum(len(run.steps) for run in of_nodes)
        yield Row(
            f"{count(opened, 'node')} of captured graphs, forward and backward: {count(steps, 'step')}.",
            pane="dispatch",
            item=of_nodes[0].data.id,
        )


def _time(trace: Trace) -> Iterator[Row]:
    total = sum(stage.seconds for stage in trace.timings)
    for stage in sorted(trace.timings, key=lambda stage: -stage.seconds):
        if total > 0:
            share = f"{100 * stage.seconds / total:.0f} %"
            yield Row(f"{stage.name}: {seconds(stage.seconds)} of {seconds(total)} ({share}).", pane="timings")
