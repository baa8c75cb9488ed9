"""Excursions: at random instructions a trace goes on for a while, goes back, and does as if nothing had been."""

from __future__ import annotations

import contextlib
import random
from collections.abc import Callable, Iterator
from typing import Any
from unittest import mock

from tests.variables.whole_state import State
from tracer_core.bytecode import Instruction
from tracer_core.errors import Unsupported
from tracer_core.host import noticed_warnings
from tracer_core.interpreter import machine
from tracer_core.interpreter.machine import Interpreter, MustRestart
from tracer_core.variables.core.base import NotConstant
from tracer_core.variables.core.tracing import ObservedException
from tracer_core.variables.functions.frames import Frame

Handler = Callable[[Any, Frame, Instruction], Any]
ENDS = (Unsupported, NotConstant, ObservedException, MustRestart, RecursionError)
MOST_NESTED = 2
MOST = 40


class Excursions:
    """One before every `each`th instruction or so, of up to `longest` instructions of the frame, with all that they
    call; in all `MOST`. `count` says how many there were; `wrong` what was not as before after one."""

    def __init__(self, seed: int, each: int, longest: int = 30) -> None:
        self._draw = random.Random(seed)
        self._each = each
        self._longest = longest
        self._within = 0
        self.count = 0
        self.wrong: list[str] = []

    @contextlib.contextmanager
    def taken(self) -> Iterator[Excursions]:
        """Inside the block, traces take them."""
        plain = machine.handlers_of

        def with_excursions(code: Any) -> list[Handler]:
            return [self._after_excursion(plain(code), handler) for handler in plain(code)]

        with mock.patch.object(machine, "handlers_of", with_excursions):
            yield self

    def _after_excursion(self, handlers: list[Handler], handler: Handler) -> Handler:
        def run(tx: Any, frame: Frame, instruction: Instruction) -> Any:
            # (The namespace of a class body may be one of the library's, which cannot be put back.)
            in_class_body = any(each.namespace is not None for each in _callers(frame))
            wanted = self.count < MOST and self._within < MOST_NESTED
            if wanted and not in_class_body and not self._draw.randrange(self._each):
                self._within += 1
                self._take(tx, frame, instruction, handlers)
                self._within -= 1
            return handler(tx, frame, instruction)

        return run

    def _take(self, tx: Interpreter, frame: Frame, instruction: Instruction, handlers: list[Handler]) -> None:
        self.count += 1
        before, where = State(tx), (tx.frame, tx.instruction, frame.pc)
        with _unobserved(tx):
            mark = tx.trace.mark()
            tx.trace.journal.save(frame)
            frame.pc -= 1
            with contextlib.suppress(*ENDS):
                _go_on(tx, frame, handlers, self._draw.randint(1, self._longest))
            noticed_warnings.noticed.clear()
            tx.trace.roll_back(mark)
        tx.frame, tx.instruction, _ = where
        assert frame.pc == where[2]
        self.wrong += [f"{frame.code.co_name}, {instruction.op}: {text}" for text in before.differences(State(tx))]


def _callers(frame: Frame | None) -> Iterator[Frame]:
    while frame is not None:
        yield frame
        frame = frame.parent


def _go_on(tx: Interpreter, frame: Frame, handlers: list[Handler], steps: int) -> None:
    for _ in range(steps):
        position, frame.pc = frame.pc, frame.pc + 1
        tx.instruction = instruction = frame.decoded.instructions[position]
        try:
            result = handlers[position](tx, frame, instruction)
        except ObservedException as raised:
            tx.unwind(frame, instruction, raised)
            continue
        if result is not None or noticed_warnings.noticed:
            return


@contextlib.contextmanager
def _unobserved(tx: Interpreter) -> Iterator[None]:
    """Inside the block, nobody is told what the trace does."""
    context = tx.output._context
    before = tx.observer, tx.output.observer, context.observer
    tx.observer = tx.output.observer = context.observer = None
    try:
        yield
    finally:
        tx.observer, tx.output.observer, context.observer = before
