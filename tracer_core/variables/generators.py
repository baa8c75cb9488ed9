"""Generators that the trace started: a frame that waits."""

from __future__ import annotations

import builtins
import types
from typing import Any

from tracer_core.errors import Unsupported
from tracer_core.variables.base import Tracing, VariableTracker
from tracer_core.variables.constant import NONE, ConstantVariable
from tracer_core.variables.exceptions import ExceptionVariable, ObservedException
from tracer_core.variables.iterators import IteratorVariable
from tracer_core.variables.registry import method


class GeneratorVariable(IteratorVariable):
    """`frame` is the interpreter's frame of the generator's code; it is resumed by `send`."""

    __slots__ = ("finished", "frame", "made_at", "name", "root_step", "running", "started")
    kind = "generator"

    def __init__(self, frame: Any, name: str, made_at: int) -> None:
        super().__init__()
        self.frame = frame
        # The root frame's instructions, by number, that made it for a context manager (else -1) and that started it.
        self.made_at = made_at
        self.root_step = -1
        self.name = name
        self.started = False
        self.running = False
        self.finished = False

    def python_type(self) -> type:
        return types.GeneratorType

    def describe(self) -> str:
        return f"generator {self.name}"

    def next(self, tx: Tracing) -> VariableTracker | None:
        yielded, value = self.resume(tx, NONE)
        return value if yielded else None

    def resume(self, tx: Any, value: VariableTracker) -> tuple[bool, VariableTracker]:
        """Run on with `value` as the result of the `yield` it waits at: (True, what it yields), or (False, what it
        returned)."""
        if self.finished:
            return False, NONE
        if self.running:
            tx.raise_(ValueError, "generator already executing")
        # At its start the value is None and is popped by the generator's first instructions.
        if not self.started:
            self.started = True
            self.root_step = tx.root_steps - 1
            tx.output.generators.append(self)
        self.frame.push(value)
        return self._run(tx)

    @property
    def has_blocks(self) -> bool:
        """Whether its code has `try` or `with` blocks."""
        return any(instruction.handler is not None for instruction in self.frame.decoded.instructions)

    @property
    def waits_in_a_block(self) -> bool:
        """Whether dropping it would run code: the `finally`, `with` or `except` around the `yield` it waits at."""
        if self.finished or not self.started:
            return False
        waiting = self.frame.decoded.instructions[self.frame.pc - 1]
        return waiting.handler is not None and not _passed_on(self.frame, waiting)

    def throw(self, tx: Any, exception: ExceptionVariable) -> tuple[bool, VariableTracker]:
        """Raise `exception` at the `yield` it waits at."""
        if self.finished or not self.started:
            self.finished = True
            tx.raise_tracker(exception)
        delegated = self._delegated()
        if delegated is not None:
            try:
                yielded, value = _thrown_into(tx, delegated, exception)
            except ObservedException as raised:
                return self._raise_at_yield(tx, raised)
            if yielded:
                return True, value
            self._leave_delegation(value)
            return self._run(tx)
        return self._raise_at_yield(tx, ObservedException(exception))

    def _raise_at_yield(self, tx: Any, raised: ObservedException) -> tuple[bool, VariableTracker]:
        instruction = self.frame.decoded.instructions[self.frame.pc - 1]
        try:
            tx._unwind(self.frame, instruction, raised)
        except ObservedException:
            self.finished = True
            raise
        return self._run(tx)

    def _delegated(self) -> VariableTracker | None:
        """The iterator that it gets its items from by `yield from` where it waits, if it does."""
        resumed = self.frame.decoded.instructions[self.frame.pc]
        return self.frame.stack[-1].realize() if resumed.op == "RESUME" and resumed.arg == _OF_YIELD_FROM else None

    def _leave_delegation(self, value: VariableTracker) -> None:
        """The iterator has come to its end with `value` as the result of the `yield from`."""
        frame, decoded = self.frame, self.frame.decoded
        sends = decoded.instructions[frame.pc + 1].target
        frame.pop()
        frame.push(value)
        frame.pc = decoded.index[sends.target]

    def _run(self, tx: Any) -> tuple[bool, VariableTracker]:
        self.running = True
        self.frame.suspended = False
        self.frame.parent, self.frame.depth = tx.frame, tx.frame.depth + 1
        try:
            result = tx.run_frame(self.frame)
        except ObservedException as raised:
            self.finished = True
            if issubclass(raised.tracker.cls, StopIteration):
                error = ExceptionVariable(RuntimeError, [ConstantVariable("generator raised StopIteration")])
                error.attributes["__cause__"] = error.attributes["__context__"] = raised.tracker
                raise ObservedException(error) from None
            raise
        finally:
            self.running = False
        if self.frame.suspended:
            return True, result
        self.finished = True
        return False, result


# How RESUME says that the frame waited in a `yield from`.
_OF_YIELD_FROM = 2


def _thrown_into(tx: Any, iterator: VariableTracker, exception: ExceptionVariable) -> tuple[bool, VariableTracker]:
    """Hand an exception on to what a generator delegates to; one that is to end it closes that first."""
    if not isinstance(iterator, GeneratorVariable):
        if not isinstance(iterator, IteratorVariable) or iterator.source is not None:
            raise Unsupported("method", name="throw", type=iterator.python_type_name())
        raise ObservedException(exception)
    if issubclass(exception.cls, GeneratorExit):
        close(tx, iterator)
        raise ObservedException(exception)
    return iterator.throw(tx, exception)


# What an `except` clause does with an exception that is none of its own.
_LOOKS_FURTHER = frozenset({"PUSH_EXC_INFO", "COPY", "POP_EXCEPT", "BUILD_TUPLE", "CHECK_EXC_MATCH", "NOP"})


def _passed_on(frame: Any, instruction: Any) -> bool:
    """Whether a GeneratorExit at `instruction` leaves the frame without running anything of the user's: all blocks
    around it are `except` clauses for other exceptions, which are named by globals."""
    while instruction.handler is not None:
        instruction = instruction.handler.target
        while instruction.op != "RERAISE":
            if instruction.op == "POP_JUMP_IF_FALSE":
                instruction = instruction.target
                continue
            if instruction.op == "LOAD_GLOBAL":
                named = frame.globals.get(instruction.arg, getattr(builtins, instruction.arg, None))
                if not isinstance(named, type) or issubclass(GeneratorExit, named):
                    return False
            elif instruction.op not in _LOOKS_FURTHER:
                return False
            instruction = frame.decoded.instructions[frame.decoded.index[instruction] + 1]
    return True


def _sent(tx: Tracing, result: tuple[bool, VariableTracker]) -> VariableTracker:
    yielded, value = result
    if yielded:
        return value
    is_none = isinstance(value, ConstantVariable) and value.value() is None
    return tx.raise_(StopIteration, *([] if is_none else [value]))  # type: ignore[no-any-return]


@method(GeneratorVariable, "send")
def send(tx: Tracing, self: GeneratorVariable, value: VariableTracker) -> VariableTracker:
    if not self.started and not (isinstance(value, ConstantVariable) and value.value() is None):
        tx.raise_(TypeError, "can't send non-None value to a just-started generator")
    return _sent(tx, self.resume(tx, value))


@method(GeneratorVariable, "__next__")
def next_(tx: Tracing, self: GeneratorVariable) -> VariableTracker:
    return _sent(tx, self.resume(tx, NONE))


@method(GeneratorVariable, "__iter__")
def iter_(tx: Tracing, self: GeneratorVariable) -> VariableTracker:
    return self


@method(GeneratorVariable, "throw")
def throw(
    tx: Tracing, self: GeneratorVariable, exception: VariableTracker, *rest: VariableTracker
) -> VariableTracker:
    given = rest[0].realize() if rest else NONE
    if isinstance(given, ExceptionVariable):
        exception = given
    elif not isinstance(exception, ExceptionVariable):
        made = tx.call(exception, _arguments_of(tx, given))
        assert isinstance(made, ExceptionVariable)
        exception = made
    return _sent(tx, self.throw(tx, exception))


def _arguments_of(tx: Tracing, given: VariableTracker) -> list[VariableTracker]:
    """What the value beside an exception's class stands for: nothing, its arguments, or the only one."""
    if given.is_constant() and given.value() is None:
        return []
    return list(given.items_or_none(tx) or []) if given.python_type() is tuple else [given]


@method(GeneratorVariable, "close")
def close(tx: Tracing, self: GeneratorVariable) -> VariableTracker:
    if self.finished or not self.started:
        self.finished = True
        return NONE
    try:
        yielded, _ = self.throw(tx, ExceptionVariable(GeneratorExit, []))
    except ObservedException as raised:
        if issubclass(raised.tracker.cls, (GeneratorExit, StopIteration)):
            return NONE
        raise
    if yielded:
        tx.raise_(RuntimeError, "generator ignored GeneratorExit")
    return NONE
