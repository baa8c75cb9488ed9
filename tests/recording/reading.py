"""Reads all of a recording that a person, or the explorer, can read."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from tracer_core.recording import Step, Trace, Value
from tracer_core.recording.tables import TABLES, rows
from tracewalk import feed, summary

Read = Callable[[], Any]

_OF_VALUES = ("kind", "cls", "py_type", "text", "source", "fake", "node", "more", "guards", "made_by", "history")
_OF_STEPS = (
    *("frame", "code", "instruction", "opname", "line", "depth", "attempt", "ended", "until"),
    *("nodes", "guards", "symbols", "side_effects", "break_", "raised", "handlers", "inlined", "sentence"),
)
_OF_TRACES = (
    *("label", "codes", "frames", "attempts", "compilations", "graphs", "all_graphs", "nodes", "guards", "breaks"),
    *("break_places", "calls", "symbols", "side_effects", "generated", "faults", "timings", "lost"),
)


def reads(trace: Trace, every: int = 1) -> Iterator[Read]:
    """Functions that read one thing each, between them everything, of steps each `every`-th."""
    yield from (lambda name=name: getattr(trace, name) for name in _OF_TRACES)  # type: ignore[misc]
    yield lambda: str(trace)
    yield lambda: repr(trace)
    yield lambda: trace.story()
    yield lambda: summary.html_summary(trace)
    yield lambda: list(feed.blocks(trace))
    for table in TABLES:
        yield lambda table=table: rows(trace, table)  # type: ignore[misc]
    for wanted in ({"line": 1}, {"text": "a"}, {"node": 0}, {"guard": "a"}, {"break_": True}, {"op": "CALL"}):
        yield lambda wanted=wanted: trace.find(**wanted, attempts="last")  # type: ignore[misc,arg-type]
    for at in range(0, len(trace), every):
        step = trace.steps[at]
        yield from (lambda step=step, name=name: getattr(step, name) for name in _OF_STEPS)  # type: ignore[misc]
        yield lambda step=step: repr(step)  # type: ignore[misc]
        yield lambda step=step: _read_values(step)  # type: ignore[misc]


def read_all(trace: Trace) -> None:
    for read in reads(trace):
        read()


def _read_values(step: Step) -> None:
    for view in (step.before, step.after, *(activation.view for activation in step.frames)):
        if view is not None:
            for value in (*view.stack, *view.locals.values(), *view.cells.values()):
                _read_value(value)


def _read_value(value: Value, depth: int = 1) -> None:
    for name in _OF_VALUES:
        getattr(value, name)
    for label, part in value.parts:
        value[label]
        if depth:
            _read_value(part, depth - 1)
