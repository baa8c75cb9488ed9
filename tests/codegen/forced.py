"""Ends graphs where a test wants it: an observer that refuses the n-th instruction of a root frame."""

from __future__ import annotations

import contextlib
import io
import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from types import CodeType
from typing import Any

import tracer_core
from tests.conformance.snapshot import Snapshot, without_addresses
from tracer_core.codegen.resume.functions import resume_of
from tracer_core.errors import FaultWarning, Unsupported
from tracer_core.observer import Observer, observing


class Forced(Observer):
    """Refuses instruction number `at` (counted as they run, from 0) of root frames for which `applies(code)`, or the
    next one that can be refused; none if `at` is below 0."""

    def __init__(self, at: int, applies: Callable[[CodeType], bool]) -> None:
        self.at = at
        self.applies = applies
        self.steps = 0
        self.most_steps = 0
        self.forced = False
        self.frames = 0
        self.generated: list[CodeType] = []
        self._first = False

    def on_attempt_start(self, frame: Any, number: int) -> None:
        self._first = number == 1 and self.applies(frame.code)
        self.steps = 0
        self.forced = False

    def on_step_start(self, frame: Any, instruction: Any) -> None:
        if frame.parent is not None or _at_beginning(frame, instruction):
            return
        if self._first:
            self.most_steps = max(self.most_steps, self.steps + 1)
            if self.steps >= self.at >= 0 and not self.forced and may_break(frame, instruction):
                self.forced = True
                self.frames += 1
                raise Unsupported("instruction", name="FORCED")
        self.steps += 1

    def on_generated(self, code: CodeType, new_code: CodeType, listing: str, resumes: list[CodeType]) -> None:
        self.generated.append(new_code)


def _at_beginning(frame: Any, instruction: Any) -> bool:
    """Whether a resume function has not yet come to the user's own instructions."""
    resume = resume_of(frame.code)
    return resume is not None and frame.program.instructions.index(instruction) < resume.shift


def may_break(frame: Any, instruction: Any) -> bool:
    """Not between the copy of an exception's mark and its use: nothing there can go wrong."""
    position = frame.program.instructions.index(instruction)
    before, after = frame.program.instructions[position - 1], frame.program.instructions[position + 1 :][:1]
    copies = instruction.op == "COPY" and bool(after) and after[0].op == "POP_EXCEPT"
    return not copies and not (instruction.op == "POP_EXCEPT" and before.op == "COPY")


@dataclass(frozen=True)
class Outcome:
    """All that a caller can see of a call, as text."""

    result: str
    arguments: str
    output: str
    error: str
    handled: str


def outcome(fn: Callable[..., Any], arguments: tuple[Any, ...]) -> Outcome:
    """Call `fn`, and write down what came of it."""
    snapshot = Snapshot()
    printed = io.StringIO()
    result, error = None, ""
    with contextlib.redirect_stdout(printed):
        try:
            result = fn(*arguments)
        except Exception as raised:
            error = _chain(raised)
    result_text, argument_text = snapshot.text({"result": result}, {"arguments": arguments})
    return Outcome(result_text, argument_text, without_addresses(printed.getvalue()), error, repr(sys.exc_info()))


def _chain(error: BaseException | None) -> str:
    """The exception with its context and cause, and the functions that its traceback names."""
    texts = []
    while error is not None:
        cause = f" from {error.__cause__!r}" if error.__cause__ is not None else ""
        texts.append(f"{type(error).__name__}{error.args!r}{cause}")
        error = error.__context__
    return " in ".join(texts)


def traced(fn: Callable[..., Any], arguments: tuple[Any, ...], forced: Forced) -> Outcome:
    """The outcome of `fn` compiled afresh, with its graphs ended as `forced` says. Any fault of ours is raised."""
    tracer_core.reset()
    compiled = tracer_core.compile(fn, backend="eager", options={"raise_internal_faults": True})
    with warnings.catch_warnings(), observing(forced):
        warnings.simplefilter("error", FaultWarning)
        return outcome(compiled, arguments)


def steps_of(fn: Callable[..., Any], arguments: tuple[Any, ...], applies: Callable[[CodeType], bool]) -> int:
    """How many instructions the longest first attempt at a root frame runs."""
    counting = Forced(-1, applies)
    traced(fn, arguments, counting)
    return counting.most_steps
