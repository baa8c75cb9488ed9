"""Summarize a recording in a page of text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

from tracer_core.names.files import place
from tracer_core.recording import schema
from tracer_core.recording.damage import reading
from tracer_core.recording.recompiling import Recompilation, recompilations, rounded

if TYPE_CHECKING:
    from tracer_core.recording.trace import Trace

MOST = 20
"""How many entries of a list are shown."""


@reading
def summary(trace: Trace) -> str:
    """Return the text of `print(trace)`: the outcome, graphs, bodies, breaks, notices, calls, faults and losses."""
    parts = [
        _head(trace),
        *_graphs(trace),
        *_bodies(trace),
        *_breaks(trace),
        *_notices(trace),
        *_recompilations(trace),
        *_calls(trace),
        *_faults(trace),
    ]
    parts += _lost(trace)
    return "\n".join(parts)


def count(number: int, noun: str) -> str:
    """Return `1 step`, `2 steps`, `3 branches`."""
    if number == 1:
        return f"1 {noun}"
    return f"{number:,} {noun}{'es' if noun.endswith(('s', 'ch')) else 's'}"


def outcome(trace: Trace) -> str:
    """Return the outcome of the recorded run in one sentence."""
    compiled = [one for one in trace.compilations if one.outcome == "compiled"]
    if trace.faults:
        return f"The engine failed {count(len(trace.faults), 'time')}; there the program ran as plain Python."
    if not trace.compilations:
        return "Nothing was compiled."
    if not compiled:
        return "Nothing was compiled; everything ran as plain Python."
    if trace.breaks:
        return f"Compiled with graph breaks at {count(len(trace.break_places), 'place')} in the program."
    return "Compiled without a graph break."


def _head(trace: Trace) -> str:
    name = f"Trace of {trace.label}" if trace.label else "Trace"
    restarted = sum(attempt.outcome == "restarted" for attempt in trace.attempts)
    facts = [
        count(len(trace), "step"),
        count(len(trace.graphs), "graph"),
        count(len(trace.break_places), "break location"),
        count(len(trace.guards), "guard"),
        count(len(trace.calls), "call"),
    ]
    if trace.notices:
        facts.append(count(len(trace.notices), "notice"))
    if restarted:
        facts.append(count(restarted, "restart"))
    return f"{name}: {outcome(trace)}\n  {', '.join(facts)}"


def _shown(lines: list[str]) -> Iterator[str]:
    yield from lines[:MOST]
    if len(lines) > MOST:
        yield f"  ... and {len(lines) - MOST} more"


def _graphs(trace: Trace) -> Iterator[str]:
    lines = []
    for compilation in trace.compilations:
        if compilation.graph is None:
            continue
        graph = trace.all_graphs[compilation.graph]
        nodes = [trace.nodes[number] for number in graph.nodes if trace.nodes[number].live]
        calls = sum(node.op.startswith("call") for node in nodes)
        code = trace.codes[compilation.code]
        lines.append(
            f"  {code.qualname} version {compilation.version} ({_defined(code)}): "
            f"{count(len(nodes), 'node')}, {count(calls, 'operation')}, {compilation.seconds:.3f} s"
        )
    if lines:
        yield "Graphs"
        yield from _shown(lines)


def _bodies(trace: Trace) -> Iterator[str]:
    """Say which bodies the last attempts traced, and what became inputs of them."""
    lines = []
    for body in trace.bodies:
        if body.attempt >= 0 and trace.attempts[body.attempt].outcome == "restarted":
            continue
        lines.append(f"  {body.text}")
        lines += [f"    {lift.text}" for lift in body.lifted]
    if lines:
        yield "Bodies of operators"
        yield from _shown(lines)


def _breaks(trace: Trace) -> Iterator[str]:
    lines = []
    for broken in trace.break_places:
        said = _said(trace, broken)
        if broken.action:
            said.append(f"    Instead: {broken.action}")
        lines.append("\n".join(said))
    if lines:
        yield "Breaks"
        yield from _shown(lines)


def _notices(trace: Trace) -> Iterator[str]:
    if trace.notices:
        yield "Notices"
        yield from _shown(["\n".join(_said(trace, notice)) for notice in trace.notices])


def _said(trace: Trace, found: schema.Break | schema.Notice) -> list[str]:
    said = [f"  {where(trace, found.code, found.line)}: {found.message}"]
    if found.library is not None:
        said.append(f"    in a library: {where(trace, found.library.code, found.library.line)}")
    return [*said, *(f"    Try: {hint}" for hint in found.hints)]


def where(trace: Trace, code: int | None, line: int | None) -> str:
    """Return `model.py:12, in forward`; a resume function counts as the function it resumes."""
    if code is None:
        return f"line {line}"
    function = trace.function_of(code)
    return f"{place(function.filename, line)}, in {function.qualname}"


def _recompilations(trace: Trace) -> Iterator[str]:
    lines = ["\n".join(_cause(trace, cause)) for cause in recompilations(trace)]
    if lines:
        yield "Recompilations"
        yield from _shown(lines)


def _cause(trace: Trace, cause: Recompilation) -> Iterator[str]:
    yield f"  {cause.text}"
    yield f"    {cause.change}"
    if cause.place is not None:
        line = f": {cause.line}" if cause.line else ""
        yield f"    Asked for by {where(trace, cause.place.code, cause.place.line)}{line}"
    if cause.library is not None:
        yield f"    in a library: {where(trace, cause.library.code, cause.library.line)}"
    yield from (f"    Try: {remedy}" for remedy in cause.remedies)


def _calls(trace: Trace) -> Iterator[str]:
    if trace.calls:
        yield "Calls"
        yield from _shown([_call(trace, call, name) for call, name in _named(trace)])


def _named(trace: Trace) -> Iterator[tuple[schema.Call, str]]:
    """Yield each call with a unique name: functions of one name are shown with their places, calls are numbered."""
    codes = [trace.codes[number] for number in {call.code for call in trace.calls}]
    places = Counter(name for name, _ in {(code.qualname, _defined(code)) for code in codes})
    number: Counter[str] = Counter()
    for call in trace.calls:
        code = trace.codes[call.code]
        name = code.qualname if places[code.qualname] == 1 else f"{code.qualname} ({_defined(code)})"
        number[name] += 1
        yield call, f"{name} #{number[name]}"


def _defined(code: schema.Code) -> str:
    return place(code.filename, code.first_line)


def _call(trace: Trace, call: schema.Call, name: str) -> str:
    version = f" version {call.version}" if call.version is not None else ""
    text = f"  {name}: {call.outcome}{version}{f' ({call.message})' if call.message else ''}"
    for failed in (check for check in call.checks if not check.reused):
        expected, seen = rounded([failed.text, failed.seen])
        text += f"\n    version {failed.version}: a guard failed: expected: {expected}; but {seen}"
        if len(failed.failures) > 1:
            text += f" (and {count(len(failed.failures) - 1, 'further guard')})"
        if failed.place is not None:
            text += f"\n      guard installed at {where(trace, failed.place.code, failed.place.line)}"
        if failed.library is not None:
            text += f"\n      in a library: {where(trace, failed.library.code, failed.library.line)}"
    return text


def _faults(trace: Trace) -> Iterator[str]:
    lines = [
        f"  {fault.text.strip().splitlines()[-1] if fault.text.strip() else 'unknown'}" for fault in trace.faults
    ]
    if lines:
        yield "Internal errors (please report them)"
        yield from _shown(lines)


def _lost(trace: Trace) -> Iterator[str]:
    if trace.lost:
        yield "Missing from this recording (please report it)"
        yield from _shown([f"  {lost_text(one)}" for one in trace.lost])


def lost_text(lost: schema.Lost) -> str:
    """Return what is missing from the recording, how often, and why."""
    times = f" (and {count(lost.count - 1, 'time')} more)" if lost.count > 1 else ""
    return f"{lost.what}{times}: {lost.error}"
