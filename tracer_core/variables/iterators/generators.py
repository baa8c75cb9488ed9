"""Generators that the trace started: a suspended frame."""

from __future__ import annotations

import builtins
import types

from tracer_core.bytecode import Instruction
from tracer_core.errors import Unsupported
from tracer_core.variables.core.base import VariableTracker
from tracer_core.variables.core.constant import NONE, ConstantVariable
from tracer_core.variables.core.registry import method
from tracer_core.variables.core.tracing import ObservedException, Tracing
from tracer_core.variables.exceptions.exceptions import ExceptionVariable
from tracer_core.variables.functions.frames import Frame
from tracer_core.variables.iterators.iterators import IteratorVariable
from tracer_core.variables.objects.classes import ClassVariable


class LocalGeneratorObjectVariable(IteratorVariable):
    """`frame` is the interpreter's frame of the generator's code; it is resumed by `send`."""

    __slots__ = ("created_at", "finished", "frame", "name", "names", "root_step", "running", "started")
    kind = "generator"

    def __init__(
        self, frame: Frame, name: str, created_at: int, names: tuple[VariableTracker | None, ...] = (None, None)
    ) -> None:
        super().__init__()
        self.frame = frame
        # The function's `__name__` and `__qualname__` when it was called; None where they are those of its code.
        self.names = names
        # The root frame's instructions, by number, that created it for a context manager (else -1) and that started
        # it.
        self.created_at = created_at
        self.root_step = -1
        self.name = name
        self.started = False
        self.running = False
        self.finished = False

    def python_type(self) -> type:
        return types.GeneratorType

    def describe(self) -> str:
        return f"generator {self.name}"

    def attribute(self, tx: Tracing, name: str) -> VariableTracker | None:
        if name not in ("__name__", "__qualname__"):
            return None
        own, code = self.names[name == "__qualname__"], self.frame.code
        return own or ConstantVariable(code.co_name if name == "__name__" else code.co_qualname)

    def next(self, tx: Tracing) -> VariableTracker | None:
        yielded, value = self.resume(tx, NONE)
        return value if yielded else None

    def resume(self, tx: Tracing, value: VariableTracker) -> tuple[bool, VariableTracker]:
        """Resume with `value` as the result of the `yield` it waits at; return (True, the yielded value) or (False,
        the return value)."""
        if self.finished:
            return False, NONE
        self._about_to_move(tx)
        # At its start the value is None and is popped by the generator's first instructions.
        if not self.started:
            self.started = True
            self.root_step = tx.root_step
            tx.trace.generators.append(self)
        self.frame.push(value)
        return self._run(tx)

    @property
    def has_blocks(self) -> bool:
        """Return whether its code has `try` or `with` blocks."""
        return any(instruction.handler is not None for instruction in self.frame.decoded.instructions)

    @property
    def waits_in_a_block(self) -> bool:
        """Return whether dropping it would run code: the `finally`, `with` or `except` around the `yield` it waits
        at."""
        if self.finished or not self.started:
            return False
        waiting = self.frame.decoded.instructions[self.frame.pc - 1]
        return waiting.handler is not None and not _passed_on(self.frame, waiting)

    def throw(self, tx: Tracing, exception: ExceptionVariable) -> tuple[bool, VariableTracker]:
        """Raise `exception` at the `yield` it waits at."""
        self._about_to_move(tx)
        if self.finished or not self.started:
            self.finished = True
            raise ObservedException(exception)
        send = self.frame.decoded.send_at(self.frame.pc)
        if send is not None:
            try:
                yielded, value = _thrown_into(tx, self.frame.stack[-1].realize(), exception)
            except ObservedException as raised:
                return self._raise_at_yield(tx, raised)
            if yielded:
                return True, value
            self.frame.leave_delegation(send, value)
            return self._run(tx)
        return self._raise_at_yield(tx, ObservedException(exception))

    def check_idle(self, tx: Tracing) -> None:
        if self.running:
            tx.raise_(ValueError, "generator already executing")

    def _about_to_move(self, tx: Tracing) -> None:
        self.check_idle(tx)
        tx.trace.journal.save(self)
        tx.trace.journal.save(self.frame)

    def _raise_at_yield(self, tx: Tracing, raised: ObservedException) -> tuple[bool, VariableTracker]:
        """Raise at the `yield`. The context is the exception that the generator itself is handling, whatever is
        handled outside."""
        handled = self.frame.caught[-1] if self.frame.caught else None
        if handled is not None and handled is not raised.tracker:
            raised.tracker.set_context(tx, handled)
        instruction = self.frame.decoded.instructions[self.frame.pc - 1]
        try:
            tx.unwind(self.frame, instruction, raised)
        except ObservedException:
            self.finished = True
            raise
        return self._run(tx)

    def _run(self, tx: Tracing) -> tuple[bool, VariableTracker]:
        self.running = True
        self.frame.suspended = False
        self.frame.called_by(tx.frame)
        try:
            result = tx.run_frame(self.frame)
        except ObservedException as raised:
            self.finished = True
            if issubclass(raised.tracker.cls, StopIteration):
                error = ExceptionVariable(RuntimeError, [ConstantVariable("generator raised StopIteration")])
                error.attributes["__cause__"] = error.attributes["__context__"] = raised.tracker
                error.attributes["__suppress_context__"] = ConstantVariable(True)
                raise ObservedException(error) from None
            raise
        finally:
            self.running = False
        if self.frame.suspended:
            return True, result
        self.finished = True
        return False, result


def _thrown_into(
    tx: Tracing, iterator: VariableTracker, exception: ExceptionVariable
) -> tuple[bool, VariableTracker]:
    """Throw an exception into the iterator that a generator delegates to; a GeneratorExit closes that first."""
    if not isinstance(iterator, LocalGeneratorObjectVariable):
        if not isinstance(iterator, IteratorVariable) or iterator.source is not None:
            raise Unsupported("method", name="throw", type=iterator.python_type_name())
        raise ObservedException(exception)
    if issubclass(exception.cls, GeneratorExit):
        close(tx, iterator)
        raise ObservedException(exception)
    return iterator.throw(tx, exception)


# How an `except` clause treats an exception that it does not catch.
_LOOKS_FURTHER = frozenset({"PUSH_EXC_INFO", "COPY", "POP_EXCEPT", "BUILD_TUPLE", "CHECK_EXC_MATCH", "NOP"})


def _passed_on(frame: Frame, instruction: Instruction) -> bool:
    """Return whether a GeneratorExit at `instruction` leaves the frame without running any of the user's code: all
    blocks around it are `except` clauses for other exceptions, which are named by globals."""
    while instruction.handler is not None:
        instruction = instruction.handler.target
        while instruction.op != "RERAISE":
            if instruction.op == "POP_JUMP_IF_FALSE":
                assert instruction.target is not None
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
    return tx.raise_(StopIteration, *([] if is_none else [value]))


@method(LocalGeneratorObjectVariable, "send")
def send(tx: Tracing, self: LocalGeneratorObjectVariable, value: VariableTracker) -> VariableTracker:
    if not self.started and not (isinstance(value, ConstantVariable) and value.value() is None):
        tx.raise_(TypeError, "can't send non-None value to a just-started generator")
    return _sent(tx, self.resume(tx, value))


@method(LocalGeneratorObjectVariable, "__next__")
def next_(tx: Tracing, self: LocalGeneratorObjectVariable) -> VariableTracker:
    return _sent(tx, self.resume(tx, NONE))


@method(LocalGeneratorObjectVariable, "__iter__")
def iter_(tx: Tracing, self: LocalGeneratorObjectVariable) -> VariableTracker:
    return self


@method(LocalGeneratorObjectVariable, "throw")
def throw(
    tx: Tracing,
    self: LocalGeneratorObjectVariable,
    exception: VariableTracker,
    value: VariableTracker = NONE,
    traceback: VariableTracker = NONE,
    /,
) -> VariableTracker:
    if traceback.python_type() not in (type(None), types.TracebackType):
        tx.raise_(TypeError, "throw() third argument must be a traceback object")
    return _sent(tx, self.throw(tx, _thrown(tx, exception, value)))


def _thrown(tx: Tracing, exception: VariableTracker, value: VariableTracker) -> ExceptionVariable:
    """Return the exception that `throw(exception, value)` raises."""
    nothing = value.python_type() is type(None)
    if isinstance(exception, ExceptionVariable):
        if not nothing:
            tx.raise_(TypeError, "instance exception may not have a separate value")
        return exception
    if not isinstance(exception, ClassVariable) or not issubclass(exception.known, BaseException):
        name = exception.type_name_in_errors()
        tx.raise_(TypeError, f"exceptions must be classes or instances deriving from BaseException, not {name}")
    if isinstance(value, ExceptionVariable) and issubclass(value.cls, exception.known):
        return value
    args = list(value.items_or_none(tx) or []) if value.python_type() is tuple else [value]
    made = tx.call(exception, [] if nothing else args)
    if not isinstance(made, ExceptionVariable):
        raise Unsupported("call", what=f"class {exception.known.__qualname__}")
    return made


@method(LocalGeneratorObjectVariable, "close")
def close(tx: Tracing, self: LocalGeneratorObjectVariable) -> VariableTracker:
    self.check_idle(tx)
    if self.finished or not self.started:
        tx.trace.journal.save(self)
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
