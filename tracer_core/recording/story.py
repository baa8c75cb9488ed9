"""Tell a recording as a story: some ten stations, from the first call to the second compilation.

Each kind of station is a function that finds its place in a recording, or nothing where the program has no such
event. The order of `STATIONS` is that in which they are told.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from tracer_core.names.files import place
from tracer_core.recording import schema
from tracer_core.recording.damage import reading
from tracer_core.recording.messages import Station
from tracer_core.recording.overview import headline, where
from tracer_core.recording.sentence_parts import closed, node_text
from tracer_core.recording.words import count

if TYPE_CHECKING:
    from tracer_core.recording.steps import Step
    from tracer_core.recording.trace import Trace

SETTINGS = frozenset({"GLOBAL_STATE", "LIBRARIES"})
"""Kinds of guards that every version has, whatever the program does."""


def _line(step: Step) -> str:
    """Return `Line 2 of forward`; where a notebook's cell itself is traced, `Cell In[4], line 2`."""
    code = step.code
    if code.qualname == "cell" and code.filename.startswith("Cell "):
        return place(code.filename, step.line)
    return f"Line {step.line} of {code.qualname}"


class Story(tuple[Station, ...]):
    """The stations of one recording, in order."""

    def __str__(self) -> str:
        if not self:
            return "There is no story to tell: nothing was traced."
        return "\n".join(
            f"{number}. {station.title}{'' if station.step is None else f' (step {station.step})'}\n"
            f"   {station.text}\n   Look: {station.hint}"
            for number, station in enumerate(self, 1)
        )


@reading
def story(trace: Trace) -> Story:
    """Return the stations of a recording: those of all kinds that it has."""
    return Story(station for find in STATIONS if (station := find(trace)) is not None)


STATIONS: list[Callable[[Trace], Station | None]] = []


def station(find: Callable[[Trace], Station | None]) -> Callable[[Trace], Station | None]:
    """Register a kind of station, told after those before it."""
    STATIONS.append(find)
    return find


@station
def the_call(trace: Trace) -> Station | None:
    first = next(_traced(trace), None)
    if first is None:
        return None
    code = trace.codes[first.code]
    step = _begin(trace, first.attempts[0])
    return Station(
        "The call",
        f"`{code.qualname}` ({place(code.filename, code.first_line)}) was called. Before it ran, the compiler "
        "traced its instructions one by one, with proxies in place of its values.",
        step,
        "source",
        "the line about to run, and the arguments among the locals: tensors without data.",
    )


@station
def the_inlined_call(trace: Trace) -> Station | None:
    frame = next((frame for frame in trace.frames if frame.call_step is not None and frame.last_step >= 0), None)
    if frame is None or frame.call_step is None:
        return None
    caller, callee = trace.steps[frame.call_step], trace.codes[frame.code]
    return Station(
        "A call is inlined",
        f"{_line(caller)} calls `{callee.qualname}` "
        f"({place(callee.filename, callee.first_line)}). The compiler traces it in place: its operations become "
        "nodes of the same graph.",
        frame.call_step,
        "frames",
        "the frames: the callee's appears below its caller's at the next step.",
    )


@station
def the_first_operation(trace: Trace) -> Station | None:
    node = next((node for node in trace.nodes if node.step is not None and node.op.startswith("call")), None)
    if node is None or node.step is None:
        return None
    step = trace.steps[node.step]
    return Station(
        "An operation becomes a node",
        f"{_line(step)} works on a tensor. Nothing is computed: the node "
        f"`{node_text(node)}` is added to the graph, and its result is another proxy.",
        node.step,
        "graph",
        "the new node, and the proxy of its result on top of the stack.",
        item=node.id,
    )


@station
def the_body(trace: Trace) -> Station | None:
    body = next((body for body in trace.bodies if body.outcome == "kept" and body.first_step <= body.last_step), None)
    if body is None:
        return None
    return Station(
        "A function becomes a graph of its own",
        body.text,
        body.first_step,
        "body",
        "the stack of graphs, and which values of the outer graph became inputs.",
        item=body.id,
    )


@station
def the_guard(trace: Trace) -> Station | None:
    """Tell of a guard that fails later, if there is one, where it was first installed."""
    fails = {check.text for call in trace.calls for check in call.checks if check.failed is not None}
    own = [one for one in trace.guards if one.step is not None and one.kind not in SETTINGS]
    guard = next((one for one in own if one.text in fails), own[0] if own else None)
    if guard is None:
        return None
    at = "" if guard.code is None else f" at {where(trace, guard.code, guard.line)}"
    return Station(
        "An assumption becomes a guard",
        f"The compiler relied on a fact{at}: `{guard.text}`. It installs this as a guard, which is checked "
        "before the compiled code is used again.",
        guard.step,
        "guards",
        "the guard, under the value that it is about.",
        item=guard.id,
    )


@station
def the_symbol(trace: Trace) -> Station | None:
    return _symbol(trace, first=True)


@station
def the_break(trace: Trace) -> Station | None:
    broken = next((one for one in trace.break_places if one.step is not None), None)
    if broken is None:
        return None
    return Station(
        "The graph breaks",
        f"{where(trace, broken.code, broken.line)}: {closed(broken.message)} No graph can contain this.",
        broken.step,
        "breaks",
        "why it broke, and what to try.",
        item=broken.id,
    )


@station
def the_restart(trace: Trace) -> Station | None:
    attempt = next((one for one in trace.attempts if one.outcome == "restarted"), None)
    if attempt is None:
        return None
    again = next(
        (one for one in trace.attempts if one.compilation == attempt.compilation and one.id > attempt.id), None
    )
    if again is None:
        return None
    step = _begin(trace, again.id)
    line = None if step is None else trace.steps[step].line
    return Station(
        "Tracing starts over",
        f"The compiler discards this attempt, and traces again from line {line}. This time it knows where the graph "
        "ends, and compiles the part before that.",
        step,
        "graph",
        "the graph: it is empty again, and grows as before.",
    )


@station
def the_generated_code(trace: Trace) -> Station | None:
    generated = next(iter(trace.generated), None)
    if generated is None:
        return None
    attempts = trace.compilations[generated.compilation].attempts
    steps = trace.index.steps_of(attempts[-1]) if attempts else range(0)
    rest = "; after the break it calls functions for the rest" if generated.resumes else ""
    return Station(
        "New code is written",
        f"In place of `{trace.function_of(generated.original).qualname}`, code will run that calls the compiled graph"
        f"{rest}.",
        steps[-1] if steps else None,
        "generated",
        "the listing, beside the original bytecode.",
        item=generated.id,
    )


@station
def the_resume_function(trace: Trace) -> Station | None:
    rest = next((one for one in _traced(trace) if trace.codes[one.code].kind == "resume"), None)
    if rest is None:
        return None
    step = _begin(trace, rest.attempts[0])
    line = None if step is None else trace.steps[step].line
    return Station(
        "The rest is a function too",
        f"After the break, what remains of `{trace.function_of(rest.code).qualname}` runs as a function of its own, "
        f"from line {line}. It is traced and compiled like any other.",
        step,
        "source",
        "the same source, with the values that were left at the break as arguments.",
    )


@station
def the_reuse(trace: Trace) -> Station | None:
    call = next((one for one in trace.calls if one.outcome == "reused"), None)
    if call is None:
        return None
    return Station(
        "Compiled code is reused",
        f"At call {call.number} of `{trace.function_of(call.code).qualname}`, all guards of version {call.version} "
        "hold. Nothing is traced: the compiled code runs.",
        None,
        "calls",
        "the call, with the version that it used.",
        item=call.id,
    )


@station
def the_guard_that_fails(trace: Trace) -> Station | None:
    for call in trace.calls:
        for check in call.checks:
            if not check.reused:
                at = "" if check.place is None else f", needed at {where(trace, check.place.code, check.place.line)},"
                guard = None if check.failed is None else trace.guards[check.failed]
                return Station(
                    "A guard fails",
                    f"At call {call.number} of `{trace.function_of(call.code).qualname}`, version {check.version} "
                    f"cannot be reused. Its guard `{check.text}`{at} does not hold: {check.seen}.",
                    None if guard is None else guard.step,
                    "calls",
                    "which guard failed, and the value that the call passed.",
                    item=call.id,
                )
    return None


@station
def the_recompilation(trace: Trace) -> Station | None:
    again = next((one for one in _traced(trace) if one.version > 1), None)
    if again is None:
        return None
    versions = [one for one in trace.compilations if one.code == again.code and one.outcome == "compiled"]
    return Station(
        "The function is compiled again",
        f"`{trace.function_of(again.code).qualname}` is traced once more, for values like those of this call. It has "
        f"{count(len(versions), 'version')} at the end of the recording.",
        _begin(trace, again.attempts[0]),
        "calls",
        "the versions, and the calls that use each.",
        item=next((call.id for call in trace.calls if call.compilation == again.id), None),
    )


@station
def the_symbol_at_last(trace: Trace) -> Station | None:
    return _symbol(trace, first=False)


@station
def the_outcome(trace: Trace) -> Station | None:
    if not trace.compilations:
        return None
    text = f"{headline(trace)} The recording has {count(len(trace.guards), 'guard')}."
    return Station("The outcome", text, len(trace) - 1 if len(trace) else None, "calls", "all calls at a glance.")


def _traced(trace: Trace) -> Iterator[schema.Compilation]:
    """Yield the compilations that have steps."""
    for one in trace.compilations:
        if one.attempts and trace.index.steps_of(one.attempts[0]):
            yield one


def _begin(trace: Trace, attempt: int) -> int | None:
    """Return the first step of an attempt that is the program's own; None if it has no steps."""
    steps = trace.index.steps_of(attempt)
    return trace.index.begin(trace.frames[trace.index.steps.frame[steps[0]]]) if steps else None


def _symbol(trace: Trace, first: bool) -> Station | None:
    """Return the station of the first symbol, if it was created in the first compilation (`first`) or a later one."""
    symbol = next((one for one in trace.symbols if one.step is not None), None)
    if symbol is None or (trace.attempts[symbol.attempt].compilation == 0) != first:
        return None
    return Station(
        "A size becomes a symbol",
        f"`{symbol.meaning}` is not fixed: it is `{symbol.name}` (now {symbol.hint}), so that the graph serves other "
        "sizes too.",
        symbol.step,
        "values",
        f"`{symbol.name}` in the shapes of the values.",
        value=symbol.name,
    )
