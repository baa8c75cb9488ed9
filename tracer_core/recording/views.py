"""Encode a trace for the front end: `Meta` once, then steps and trackers in pieces on request."""

from __future__ import annotations

import base64
from array import array
from collections.abc import Collection

import msgspec

from tracer_core.recording import columns, messages, schema, snapshots
from tracer_core.recording.comparison import Comparison, differences
from tracer_core.recording.damage import reading
from tracer_core.recording.happened import Described
from tracer_core.recording.recompiling import rounded
from tracer_core.recording.trace import Trace

WINDOW = 2 * columns.BLOCK
CHUNK = 128
LATER = snapshots.BLOCK

LONG = 32
"""A tracker's later snapshots are not sent with the first one if they are more than so many."""

TOLD = 16
"""How many of the steps that touched a tracker are sent."""

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


def later(trace: Trace, index: int) -> bytes:
    """Return `LaterChunk` number `index` as JSON: `Meta.later` snapshots, fewer at the end. Raises IndexError."""
    return _encode(later_view(trace, index))


def touched(trace: Trace, index: int) -> bytes:
    """Return `TouchedChunk` number `index` as JSON, of the same trackers as `chunk`. Raises IndexError."""
    return _encode(touched_view(trace, index))


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
        later=LATER,
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
    index, reader = trace.index, trace.index.steps
    befores, views = _states(trace, first, stop)
    window = messages.Window(first, views, [], [], [], [], {})
    numbers: dict[str, int] = {}
    followings = _followings(reader, first, stop)
    for step, (before, following) in enumerate(zip(befores, followings, strict=True), first):
        after: columns.State | None = None
        if not reader.ended[step]:
            window.after.append(None)
        elif following is not None and following < stop:
            after = befores[following - first]
            window.after.append(following - first)
        else:
            after = reader.exit_state(step, before.copy()) if following is None else reader.before(following)
            window.after.append(None if after is None else _state(trace, reader.frame[step], after))
        described = Described(index, step, before, after, following)
        window.inlined.append(described.until - step)
        window.sentence.append(numbers.setdefault(trace.sentences.of(described), len(numbers)))
    window.texts = list(numbers)
    window.handlers = {step - first: names for step, names in index.handlers_within(first, stop).items()}
    return window


def _followings(reader: columns.Reader, first: int, stop: int) -> list[int | None]:
    """Return the next step of the same frame, for each of some steps."""
    seen: dict[int, int] = {}
    found: list[int | None] = []
    for step in range(stop - 1, first - 1, -1):
        frame = reader.frame[step]
        found.append(seen[frame] if frame in seen else reader.next_own(step))
        seen[frame] = step
    return found[::-1]


def _states(trace: Trace, first: int, stop: int) -> tuple[list[columns.State], list[messages.State]]:
    """Return the states before steps, as read and as sent. Steps of a frame share the slots until one changes."""
    befores: list[columns.State] = []
    views: list[messages.State] = []
    states: dict[int, columns.State] = {}
    latest: dict[int, tuple[columns.State, messages.State]] = {}
    for _, frame, change in trace.index.steps.walk(first, stop, states):
        last = latest.get(frame)
        if last is None or change.slots or change.fresh:
            before = states[frame].copy()
            view = _state(trace, frame, before)
        else:
            if change.came:
                _check(trace, change.came)
            before = columns.State(states[frame].stack.copy(), last[0].slots)
            view = messages.State(before.stack, last[1].locals, last[1].cells)
        latest[frame] = before, view
        befores.append(before)
        views.append(view)
    trace.index.steps.keep_tops(first, befores)
    return befores, views


def _state(trace: Trace, frame: int, state: columns.State) -> messages.State:
    slots = state.slots
    _check(trace, state.stack)
    _check(trace, slots.values())
    code = trace.data.codes[trace.data.frames[frame].code]
    return messages.State(
        stack=state.stack,
        locals=[slots.get(2 * i) for i in range(len(code.locals))],
        cells=[slots.get(2 * i + 1) for i in range(len(code.cells))],
    )


def _check(trace: Trace, trackers: Collection[int]) -> None:
    if trackers and not 0 <= min(trackers) <= max(trackers) < trace.data.snapshots.trackers:
        raise ValueError(f"there are no trackers {min(trackers)} to {max(trackers)}")


def chunk_view(trace: Trace, index: int) -> messages.TrackerChunk:
    return _chunk(trace, *_bounds("chunk", index, CHUNK, trace.data.snapshots.trackers))


@reading
def _chunk(trace: Trace, first: int, stop: int) -> messages.TrackerChunk:
    lookups, reader = trace.index, trace.index.trackers
    views = []
    for tracker in range(first, stop):
        opening, later = _told(trace, reader.first(tracker)), reader.later_of(tracker)
        steps: list[int] = []
        shown = [opening]
        if len(later) > LONG:
            steps = reader.later_steps(tracker)
        else:
            shown += (_told(trace, reader.later(number)) for number in later)
            later = ()
        made_by, changed = lookups.made_by(tracker), lookups.changed(opening)
        views.append(messages.TrackerView(shown, list(later), steps, made_by, changed))
    return messages.TrackerChunk(first, views)


def _told(trace: Trace, snapshot: schema.Snapshot) -> schema.Snapshot:
    """Add to a snapshot what people are told of it."""
    snapshot.guards = trace.index.guards_on(snapshot)
    snapshot.text = trace.index.explained(snapshot)
    snapshot.name = trace.index.name(snapshot)
    return snapshot


def later_view(trace: Trace, index: int) -> messages.LaterChunk:
    return _later(trace, *_bounds("chunk of later snapshots", index, LATER, trace.index.trackers.later_count))


@reading
def _later(trace: Trace, first: int, stop: int) -> messages.LaterChunk:
    reader = trace.index.trackers
    return messages.LaterChunk(first, [_told(trace, reader.later(number)) for number in range(first, stop)])


def touched_view(trace: Trace, index: int) -> messages.TouchedChunk:
    return _touched(trace, *_bounds("chunk", index, CHUNK, trace.data.snapshots.trackers))


@reading
def _touched(trace: Trace, first: int, stop: int) -> messages.TouchedChunk:
    touched = map(trace.index.touched, range(first, stop))
    return messages.TouchedChunk(first, [messages.Touched(list(steps[:TOLD]), len(steps)) for steps in touched])


def _bounds(what: str, index: int, size: int, total: int) -> tuple[int, int]:
    count = -(-total // size)
    if not 0 <= index < count:
        raise IndexError(f"There is no {what} {index}; this trace has {count}.")
    return index * size, min(total, (index + 1) * size)
