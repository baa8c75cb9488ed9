"""Encode a trace for the front end: `Meta` once, then steps and trackers in pieces on request."""

from __future__ import annotations

import base64
from array import array

import msgspec

from tracer_core.recording import columns, messages, schema
from tracer_core.recording.comparison import Comparison, differences
from tracer_core.recording.damage import reading
from tracer_core.recording.recompiling import rounded
from tracer_core.recording.steps import Step
from tracer_core.recording.trace import Trace

WINDOW = 2 * columns.BLOCK
CHUNK = 128

_encode = msgspec.json.Encoder().encode


def meta(trace: Trace) -> bytes:
    """Return `Meta` as JSON."""
    return _encode(meta_view(trace))


def under(trace: Trace, node: int) -> bytes:
    """Return the whole `Dispatcher` as JSON, with the steps under a node of a captured graph, which are recorded now
    if they were not before. Raises LookupError."""
    trace.dispatch.under(trace.nodes[node])
    return _encode(trace.data.dispatcher)


def window(trace: Trace, index: int) -> bytes:
    """Return `Window` number `index` as JSON: `Meta.window` steps, fewer at the end. Raises IndexError."""
    return _encode(window_view(trace, index))


def chunk(trace: Trace, index: int) -> bytes:
    """Return `TrackerChunk` number `index` as JSON: `Meta.chunk` trackers, fewer at the end. Raises IndexError."""
    return _encode(chunk_view(trace, index))


def compared(comparison: Comparison) -> bytes:
    """Return `Differences` as JSON."""
    return _encode(differences(comparison))


@reading
def meta_view(trace: Trace) -> messages.Meta:
    data = trace.data
    return messages.Meta(
        version=data.version,
        label=data.label,
        overview=trace.overview(),
        steps=data.steps,
        window=WINDOW,
        chunk=CHUNK,
        trackers=data.snapshots.trackers,
        frame=base64.b64encode(data.columns.frame).decode("ascii"),
        instruction=base64.b64encode(data.columns.instruction).decode("ascii"),
        begins=base64.b64encode(columns.u32_bytes(array("I", map(trace.index.begin, data.frames)))).decode("ascii"),
        codes=data.codes,
        frames=data.frames,
        attempts=data.attempts,
        compilations=data.compilations,
        graphs=data.graphs,
        nodes=data.nodes,
        guards=data.guards,
        breaks=data.breaks,
        calls=[_rounded(call) for call in data.calls],
        symbols=data.symbols,
        side_effects=[
            msgspec.structs.replace(one, message=trace.index.effect_text(one)) for one in data.side_effects
        ],
        generated=data.generated,
        faults=data.faults,
        raised=data.raised,
        timings=data.timings,
        notices=data.notices,
        lost=data.lost,
        bodies=data.bodies,
        recompilations=trace.recompilations,
        dispatcher=data.dispatcher,
        story=list(trace.story()),
        lowered=data.lowered,
    )


def _rounded(call: schema.Call) -> schema.Call:
    """Return the call with its numbers as people read them."""
    return msgspec.structs.replace(call, checks=[_rounded_check(check) for check in call.checks])


def _rounded_check(check: schema.Check) -> schema.Check:
    text, seen = rounded([check.text, check.seen])
    failures = []
    for one in check.failures:
        expected, came = rounded([one.text, one.seen])
        failures.append(msgspec.structs.replace(one, text=expected, seen=came))
    return msgspec.structs.replace(check, text=text, seen=seen, failures=failures)


def window_view(trace: Trace, index: int) -> messages.Window:
    return _window(trace, *_bounds("window", index, WINDOW, trace.data.steps))


@reading
def _window(trace: Trace, first: int, stop: int) -> messages.Window:
    reader = trace.index.steps
    befores: dict[int, columns.State] = {}
    frames: dict[int, int] = {}
    states: dict[int, columns.State] = {}
    for step, frame, _ in reader.walk(first, stop, states):
        befores[step] = states[frame].copy()
        frames[step] = frame
    views = []
    for step in range(first, stop):
        after = _after(trace, step, befores)
        one = Step(trace.index, step, befores[step], after)
        code = trace.codes[trace.frames[frames[step]].code]
        views.append(
            messages.StepView(
                before=_state(trace, code, befores[step]),
                after=None if after is None else _state(trace, code, after),
                until=one.until,
                sentence=one.sentence,
                handlers=one.handlers,
            )
        )
    return messages.Window(first, views)


def chunk_view(trace: Trace, index: int) -> messages.TrackerChunk:
    return _chunk(trace, *_bounds("chunk", index, CHUNK, trace.data.snapshots.trackers))


@reading
def _chunk(trace: Trace, first: int, stop: int) -> messages.TrackerChunk:
    lookups = trace.index
    views = []
    for tracker in range(first, stop):
        history = lookups.trackers.history(tracker)
        for snapshot in history:
            snapshot.guards = list(lookups.guards_on(snapshot))
            snapshot.text = lookups.explained(snapshot)
            snapshot.name = lookups.name(snapshot)
        touched, changed = list(lookups.touched(tracker)), lookups.changed(history)
        views.append(messages.TrackerView(history, lookups.made_by(tracker), touched, changed))
    return messages.TrackerChunk(first, views)


def _bounds(what: str, index: int, size: int, total: int) -> tuple[int, int]:
    count = -(-total // size)
    if not 0 <= index < count:
        raise IndexError(f"There is no {what} {index}; this trace has {count}.")
    return index * size, min(total, (index + 1) * size)


def _after(trace: Trace, step: int, befores: dict[int, columns.State]) -> columns.State | None:
    """Return the state after a step, from those already read where possible."""
    reader = trace.index.steps
    if not reader.ended[step]:
        return None
    following = reader.next_own(step)
    if following is None:
        return reader.exit_state(step, befores[step].copy())
    return befores[following] if following in befores else reader.before(following)


def _state(trace: Trace, code: schema.Code, state: columns.State) -> messages.State:
    slots = state.slots
    for tracker in (*state.stack, *slots.values()):
        if not 0 <= tracker < trace.data.snapshots.trackers:
            raise ValueError(f"there is no tracker {tracker}")
    return messages.State(
        stack=state.stack,
        locals=[slots.get(2 * i) for i in range(len(code.locals))],
        cells=[slots.get(2 * i + 1) for i in range(len(code.cells))],
    )
