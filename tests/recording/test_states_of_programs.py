"""The recorder compares only what an instruction may change: its states of real programs against whole copies."""

from __future__ import annotations

from typing import Any

import pytest

from tests.conformance import ways
from tests.conformance.program import PROGRAMS, loaded
from tests.recording.naive import Both
from tracer_core.observer import Observer, observing
from tracer_core.recording import Recorder, Trace

FILES = ("breaks_in_blocks", "class_statements", "closures", "control_flow", "exceptions", "generators", "dicts")
MOST = 25
"""How many programs of each file."""


class Copies(Observer):
    """The whole state of the frame at each step: the trackers' uids, of the stack and by slot."""

    def __init__(self) -> None:
        self.states: list[tuple[list[int], dict[int, int]]] = []

    def on_step_start(self, frame: Any, instruction: Any) -> None:
        code = frame.code
        slots = {2 * code.co_varnames.index(name): one.uid for name, one in frame.locals.items()}
        cells = (*code.co_cellvars, *code.co_freevars)
        slots |= {2 * cells.index(name) + 1: one.uid for name, one in frame.cells.items()}
        self.states.append(([tracker.uid for tracker in frame.stack], slots))


def compared(copies: Copies, trace: Trace) -> int:
    """Check each step's state in the recording, tracker by tracker; return the number of steps."""
    numbers: dict[int, int] = {}
    reader = trace.index.steps
    assert len(trace) == len(copies.states)
    for step, (stack, slots) in zip(trace.steps, copies.states, strict=True):
        state = reader.before(step.index)
        assert len(state.stack) == len(stack), step
        assert state.slots.keys() == slots.keys(), step
        for uid, number in [*zip(stack, state.stack, strict=True), *((slots[at], state.slots[at]) for at in slots)]:
            assert numbers.setdefault(uid, number) == number, step
    assert len(set(numbers.values())) == len(numbers)
    return len(trace)


@pytest.mark.parametrize("file", FILES)
def test_states_are_those_of_whole_copies(file: str, monkeypatch: pytest.MonkeyPatch) -> None:
    path = PROGRAMS / f"{file}.py"
    with loaded(path) as programs:
        names = list(programs.programs)[:MOST]
    steps = 0
    for name in names:
        recorder, copies = Recorder(), Copies()
        with monkeypatch.context() as patch:
            patch.setattr(ways.OurWay, "watching", lambda self: observing(Both(recorder, copies)))  # noqa: B023
            patch.setattr(ways.OurWay, "unclear", lambda self: [])
            ways.run(path, name, "ours")
        data = recorder.finish()
        assert data.lost == [], name
        steps += compared(copies, Trace(data))
    assert steps > 1000
