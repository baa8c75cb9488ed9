"""What each executed instruction does to the stack, and in which order an observer hears of things."""

from __future__ import annotations

from typing import Any

import pytest
import torch

import tracer_core
from tests.codegen.forced_programs import PROGRAMS, arguments_of
from tracer_core.bytecode import stack_depths, stack_effect
from tracer_core.codegen.resume.functions import name_of
from tracer_core.observer import Observer, observing


class Effects(Observer):
    """Checks depths of the stack before and after each step against what the bytecode says."""

    def __init__(self) -> None:
        self.steps = 0
        self.wrong: list[str] = []
        self._before: dict[int, list[int]] = {}
        self._depths: dict[int, Any] = {}

    def on_frame_enter(self, frame: Any) -> None:
        self._depths.setdefault(id(frame.program), stack_depths(frame.program))

    def on_step_start(self, frame: Any, instruction: Any) -> None:
        """What is sent to a generator at its start lies there from its beginning, where Python's own comes later."""
        depth = len(frame.stack)
        self._before.setdefault(frame.uid, []).append(depth)
        expected = self._depths[id(frame.program)].get(instruction)
        if self._starts_generator(frame, instruction):
            return
        if expected is not None and depth != expected:
            self.wrong.append(f"{frame.code.co_name}: {instruction.op} starts with {depth} items, not {expected}")

    @staticmethod
    def _starts_generator(frame: Any, instruction: Any) -> bool:
        instructions = frame.decoded.instructions
        return any(each.op == "RETURN_GENERATOR" for each in instructions[instructions.index(instruction) :])

    def on_step_end(self, frame: Any, instruction: Any) -> None:
        if self._starts_generator(frame, instruction):
            return
        if instruction.op == "YIELD_VALUE":  # what is sent comes when the frame goes on
            self._before[frame.uid][-1] -= 1
        self.steps += 1
        after, before = len(frame.stack), self._before[frame.uid][-1]
        jumped = instruction.target is not None and frame.pc == frame.decoded.index[instruction.target]
        allowed = {before + stack_effect(instruction, jumped)}
        if instruction.target is not None and frame.decoded.index[instruction.target] == frame.pc:
            following = frame.decoded.instructions.index(instruction) + 1
            if following == frame.pc:
                allowed.add(before + stack_effect(instruction, False))
        if after not in allowed:
            self.wrong.append(f"{frame.code.co_name}: {instruction.op} leaves {after} items, not {allowed}")


@pytest.mark.row("I1")
@pytest.mark.parametrize("fn", PROGRAMS, ids=lambda fn: fn.__name__)
def test_stack_effects(fn: Any) -> None:
    effects = Effects()
    with observing(effects):
        try:
            tracer_core.compile(fn, backend="eager")(*arguments_of(fn))
        except ValueError:
            pass
    assert effects.steps > 5
    assert effects.wrong == []


class Events(Observer):
    """Writes events down, with the depth of the frame they belong to."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def on_attempt_start(self, frame: Any, number: int) -> None:
        self.lines.append(f"attempt {number} of {frame.code.co_name}")

    def on_attempt_end(self, outcome: str, message: str) -> None:
        self.lines.append(outcome)

    def on_frame_enter(self, frame: Any) -> None:
        self.lines.append(f"enter {frame.code.co_name}")

    def on_frame_exit(self, frame: Any, result: Any) -> None:
        self.lines.append(f"exit {frame.code.co_name} {'by an error' if result is None else 'with a value'}")

    def on_step_start(self, frame: Any, instruction: Any) -> None:
        if instruction.op in ("CALL", "RAISE_VARARGS", "RETURN_VALUE"):
            self.lines.append(f"{instruction.op} in {frame.code.co_name}")

    def on_step_end(self, frame: Any, instruction: Any) -> None:
        if instruction.op in ("CALL", "RAISE_VARARGS", "RETURN_VALUE"):
            self.lines.append(f"done {instruction.op} in {frame.code.co_name}")

    def on_raise(self, frame: Any, instruction: Any, exception: Any) -> None:
        self.lines.append(f"{instruction.op} in {frame.code.co_name} raises {exception.describe()}")

    def on_break(self, unsupported: Any, frame: Any, instruction: Any) -> None:
        self.lines.append(f"break at {instruction.op} in {frame.code.co_name}")

    def on_node(self, node: Any, fake: Any) -> None:
        if node.op != "placeholder":
            self.lines.append(f"node {node.target.__name__}")

    def on_graph(self, graph: Any, name: str) -> None:
        self.lines.append("graph")

    def on_generated(self, code: Any, new_code: Any, listing: str, resumes: list[Any]) -> None:
        self.lines.append(f"generated, resumes in {[name_of(resume).split('_at_')[0] for resume in resumes]}")


def _told(fn: Any, *args: Any) -> list[str]:
    events = Events()
    with observing(events):
        tracer_core.compile(fn, backend="eager")(*args)
    return events.lines


def _add_one(x):
    return x + 1


def _inlines(x):
    return _add_one(x)


def _fails(x):
    raise ValueError("no")


def _catches(x):
    try:
        _fails(x)
    except ValueError:
        return x + 1


def _prints(x):
    y = x + 1
    print(end="")
    return y


@pytest.mark.row("I9")
def test_events_of_an_inlined_call() -> None:
    assert _told(_inlines, torch.ones(1)) == [
        "attempt 1 of _inlines",
        "enter _inlines",
        "CALL in _inlines",
        "enter _add_one",
        "node add",
        "RETURN_VALUE in _add_one",
        "done RETURN_VALUE in _add_one",
        "exit _add_one with a value",
        "done CALL in _inlines",
        "RETURN_VALUE in _inlines",
        "done RETURN_VALUE in _inlines",
        "exit _inlines with a value",
        "graph",
        "compiled",
        "generated, resumes in []",
    ]


@pytest.mark.row("I5")
def test_events_of_an_exception_that_is_caught_by_the_caller() -> None:
    told = _told(_catches, torch.ones(1))
    assert told[2:11] == [
        "CALL in _catches",
        "enter _fails",
        "CALL in _fails",
        "done CALL in _fails",
        "RAISE_VARARGS in _fails",
        "RAISE_VARARGS in _fails raises ValueError('no')",
        "exit _fails by an error",
        "CALL in _catches raises ValueError('no')",
        "node add",
    ]


@pytest.mark.row("I14")
def test_events_of_a_break() -> None:
    told = _told(_prints, torch.ones(1))
    second = told.index("attempt 2 of _prints")
    assert told[:second] == [
        "attempt 1 of _prints",
        "enter _prints",
        "node add",
        "CALL in _prints",
        "break at CALL in _prints",
        "exit _prints by an error",
        "restarted",
    ]
    assert told[second : second + 9] == [
        "attempt 2 of _prints",
        "enter _prints",
        "node add",
        "CALL in _prints",
        "break at CALL in _prints",
        "exit _prints by an error",
        "graph",
        "compiled",
        "generated, resumes in ['resume_in__prints']",
    ]
