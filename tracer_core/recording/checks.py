"""Check that the parts of a loaded trace fit together, as far as each list and column shows it.

Single steps and values are checked when they are read (`damage.py`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any

from tracer_core.recording import columns, schema, snapshots

ATTEMPTS, CODES, STEPS, TRACKERS = "attempts", "codes", "steps", "trackers"

_REFERENCES: tuple[tuple[str, str, str, int], ...] = (
    ("codes", "resumes", CODES, 0),
    ("frames", "code", CODES, 0),
    ("frames", "attempt", ATTEMPTS, 0),
    ("frames", "parent", "frames", 0),
    ("frames", "call_step", STEPS, 0),
    ("frames", "last_step", STEPS, -1),
    ("frames", "end_step", STEPS, -1),
    ("attempts", "compilation", "compilations", 0),
    ("attempts", "last_step", STEPS, -1),
    ("compilations", "code", CODES, 0),
    ("compilations", "attempts", ATTEMPTS, 0),
    ("compilations", "graph", "graphs", 0),
    ("compilations", "generated", "generated", 0),
    ("compilations", "during_step", STEPS, 0),
    ("nodes", "graph", "graphs", 0),
    ("nodes", "inputs", "nodes", 0),
    ("nodes", "step", STEPS, 0),
    ("nodes", "after", STEPS, -1),
    ("graphs", "attempt", ATTEMPTS, -1),
    ("graphs", "nodes", "nodes", 0),
    ("guards", "attempt", ATTEMPTS, -1),
    ("guards", "step", STEPS, 0),
    ("guards", "code", CODES, 0),
    ("breaks", "attempt", ATTEMPTS, -1),
    ("breaks", "step", STEPS, 0),
    ("breaks", "code", CODES, 0),
    ("breaks", "root_code", CODES, 0),
    ("breaks", "resumes", CODES, 0),
    ("breaks", "final_step", STEPS, 0),
    ("notices", "attempt", ATTEMPTS, -1),
    ("notices", "step", STEPS, 0),
    ("notices", "code", CODES, 0),
    ("calls", "code", CODES, 0),
    ("calls", "compilation", "compilations", 0),
    ("symbols", "attempt", ATTEMPTS, -1),
    ("symbols", "step", STEPS, 0),
    ("side_effects", "attempt", ATTEMPTS, -1),
    ("side_effects", "tracker", TRACKERS, 0),
    ("side_effects", "step", STEPS, 0),
    ("generated", "compilation", "compilations", 0),
    ("generated", "original", CODES, 0),
    ("generated", "code", CODES, 0),
    ("generated", "resumes", CODES, 0),
    ("faults", "attempt", ATTEMPTS, 0),
    ("faults", "step", STEPS, 0),
    ("raised", "step", STEPS, 0),
    ("raised", "tracker", TRACKERS, 0),
    ("lost", "attempt", ATTEMPTS, 0),
    ("lost", "step", STEPS, 0),
    ("graphs", "body", "bodies", 0),
    ("lowered", "graph", "graphs", 0),
    ("bodies", "attempt", ATTEMPTS, -1),
    ("bodies", "parent", "bodies", 0),
    ("bodies", "graph", "graphs", 0),
    ("bodies", "step", STEPS, 0),
    ("bodies", "last_step", STEPS, -1),
    ("bodies", "holders", "nodes", 0),
    ("bodies", "calls", "nodes", 0),
)
"""Fields that hold positions, the lists they refer to, and their lowest valid position (-1: none)."""

_NUMBERED = (
    *("codes", "frames", "attempts", "compilations", "graphs", "nodes", "guards", "breaks", "calls"),
    *("side_effects", "generated", "notices", "bodies"),
)
"""Lists whose records hold their own position."""


def fits(data: schema.Recording) -> bool:
    """Return whether the parts fit together."""
    return (
        data.steps >= 0
        and _columns_fit(data)
        and _snapshots_fit(data.snapshots)
        and all([record.id for record in getattr(data, name)] == [*range(_size(data, name))] for name in _NUMBERED)
        and all(_leads_somewhere(data, *reference) for reference in _REFERENCES)
        and all(map(_frame_fits, data.frames))
        and all(0 <= attempt.first_step <= attempt.last_step + 1 for attempt in data.attempts)
        and _within((place.code for place in _places(data)), 0, len(data.codes))
        and _within((check.failed for call in data.calls for check in call.checks), 0, _size(data, "guards"))
        and _within(
            (one.guard for call in data.calls for check in call.checks for one in check.failures),
            0,
            _size(data, "guards"),
        )
        and all(_body_fits(data, body) for body in data.bodies)
        and _dispatcher_fits(data)
        and all(map(_code_fits, data.codes))
        and all(code.resumes is None or _code_resumes(data, code) for code in data.codes)
    )


def _places(data: schema.Recording) -> Iterator[schema.Place]:
    records: list[schema.Guard | schema.Break | schema.Notice] = [*data.guards, *data.breaks, *data.notices]
    for record in records:
        if record.library is not None:
            yield record.library
    for call in data.calls:
        for check in call.checks:
            found: list[schema.Check | schema.FailedGuard] = [check, *check.failures]
            for one in found:
                yield from (place for place in (one.place, one.library) if place is not None)


def _leads_somewhere(data: schema.Recording, name: str, field: str, where: str, lowest: int) -> bool:
    values = [getattr(record, field) for record in getattr(data, name)]
    if values and isinstance(values[0], list):
        values = list(chain.from_iterable(values))
    return _within(values, lowest, _size(data, where))


def _size(data: schema.Recording, where: str) -> int:
    if where == STEPS:
        return data.steps
    if where == TRACKERS:
        return data.snapshots.trackers
    found: list[Any] = getattr(data, where)
    return len(found)


def _within(numbers: Iterable[int | None], lowest: int, end: int) -> bool:
    given = [number for number in numbers if number is not None]
    return not given or (min(given) >= lowest and max(given) < end)


def _below(column: bytes, end: int) -> bool:
    """Return whether all numbers of a column are below `end`."""
    return max(columns.u32_array(column), default=-1) < end


def _frame_fits(frame: schema.Frame) -> bool:
    """Return whether a frame's steps are in order, and its parent precedes it, so that chains of frames end."""
    return 0 <= frame.first_step <= frame.last_step + 1 <= frame.end_step + 1 and (
        frame.parent is None or frame.parent < frame.id
    )


def _body_fits(data: schema.Recording, body: schema.Body) -> bool:
    """Return whether a body's steps are in order, its parent precedes it, so that the bodies around one end, and what
    it lifted exists."""
    return (
        0 <= body.first_step <= body.last_step + 1
        and (body.parent is None or body.parent < body.id)
        and _within((node for lift in body.lifted for node in (lift.outer, lift.inner)), 0, len(data.nodes))
        and _within((lift.step for lift in body.lifted), 0, data.steps)
    )


def _dispatcher_fits(data: schema.Recording) -> bool:
    """Return whether the parts of the recording at the dispatcher refer to each other, and steps are inside those
    that precede them, so that each chain of parents ends."""
    given = data.dispatcher
    runs, steps, nodes, fakes = len(given.runs), len(given.steps), len(given.nodes), len(given.fakes)
    return (
        all([one.id for one in part] == [*range(len(part))] for part in (given.runs, given.steps, given.nodes))
        and _within((run.node for run in given.runs), 0, len(data.nodes))
        and _within((run.last_step for run in given.runs), -1, steps)
        and all(0 <= run.first_step <= run.last_step + 1 for run in given.runs)
        and _within((step.run for step in given.steps), 0, runs)
        and _within((node.run for node in given.nodes), 0, runs)
        and _within((one.step for one in given.nodes), 0, steps)
        and _within((step.modes for step in given.steps), 0, len(given.stacks))
        and _within((node for step in given.steps for node in step.nodes), 0, nodes)
        and _within((fake for step in given.steps for fake in (*step.inputs, *step.results)), 0, fakes)
        and all(step.id <= step.last_step < steps for step in given.steps)
        and all(step.parent is None or 0 <= step.parent < step.id for step in given.steps)
        and all(_is_deeper(step, given.steps) for step in given.steps)
    )


def _is_deeper(step: schema.DispatchStep, steps: list[schema.DispatchStep]) -> bool:
    return step.depth == (0 if step.parent is None else steps[step.parent].depth + 1)


def _code_fits(code: schema.Code) -> bool:
    instructions = code.instructions
    return (
        min((min(one.takes, one.leaves) for one in instructions), default=0) >= 0
        and _within((one.target for one in instructions), 0, len(instructions))
        and (code.resumes is not None or code.resumes_at is None)
    )


def _code_resumes(data: schema.Recording, code: schema.Code) -> bool:
    assert code.resumes is not None
    return _within([code.resumes_at], 0, len(data.codes[code.resumes].instructions))


def _columns_fit(data: schema.Recording) -> bool:
    stored, steps = data.columns, data.steps
    blocks = -(-steps // columns.BLOCK)
    dispatches = data.dispatches
    return (
        len(stored.frame) == len(stored.instruction) == 4 * steps
        and len(stored.ended) == steps
        and len(stored.exit_at) == 4 * len(data.frames)
        and len(stored.delta_at) == len(stored.keyframe_at) == 4 * blocks
        and len(dispatches.step) == len(dispatches.name)
        and len(dispatches.step) % 4 == 0
        and _below(stored.frame, len(data.frames))
        and _below(stored.delta_at, len(stored.delta))
        and _below(stored.keyframe_at, len(stored.keyframes))
        and _below(dispatches.name, len(dispatches.names))
        and _below(dispatches.step, steps)
    )


def _snapshots_fit(stored: schema.Snapshots) -> bool:
    later = len(stored.later_tracker) // 4
    return (
        len(stored.later_tracker) % 4 == 0
        and len(stored.later_step) == len(stored.later_tracker)
        and len(stored.first_step) == 4 * stored.trackers
        and len(stored.first) == -(-stored.trackers // snapshots.BLOCK)
        and len(stored.later) == -(-later // snapshots.BLOCK)
        and _below(stored.later_tracker, stored.trackers)
    )
