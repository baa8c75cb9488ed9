"""Raising and handling exceptions."""

from __future__ import annotations

from tracer_core.bytecode import Instruction
from tracer_core.errors import Unsupported
from tracer_core.interpreter.ops.table import op
from tracer_core.variables.core.base import VariableTracker, constant_or
from tracer_core.variables.core.constant import ConstantVariable, is_none
from tracer_core.variables.core.tracing import ObservedException, Tracing
from tracer_core.variables.exceptions.exceptions import ExceptionVariable, matches
from tracer_core.variables.functions.frames import Frame
from tracer_core.variables.objects.classes import ClassVariable


@op("RAISE_VARARGS")
def raise_varargs(tx: Tracing, frame: Frame, ins: Instruction) -> None:
    if ins.arg == 0:
        handled = tx.handled()
        if handled is None:
            tx.raise_(RuntimeError, "No active exception to reraise")
        raise ObservedException(handled)
    parts = [part.realize() for part in frame.pop_n(ins.arg)]
    exception = as_exception(tx, parts[0], "exceptions must derive from BaseException")
    if ins.arg == 2:
        _set_cause(tx, exception, parts[1])
    tx.raise_tracker(exception)


def as_exception(tx: Tracing, tracker: VariableTracker, message: str) -> ExceptionVariable:
    """Return the exception that `raise tracker` raises: itself, or a new instance of a class."""
    if isinstance(tracker, ClassVariable) and issubclass(tracker.known, BaseException):
        tracker = tx.call(tracker, [])
    if not isinstance(tracker, ExceptionVariable):
        tx.raise_(TypeError, message)
    return tracker


def _set_cause(tx: Tracing, exception: ExceptionVariable, cause: VariableTracker) -> None:
    if not is_none(cause):
        cause = as_exception(tx, cause, "exception causes must derive from BaseException")
    tx.trace.journal.save(exception)
    exception.attributes["__cause__"] = cause
    exception.attributes["__suppress_context__"] = ConstantVariable(True)


class HandledMark(ConstantVariable):
    """The item that PUSH_EXC_INFO leaves on the stack: in Python, the exception handled before. Here it keeps the one
    being handled, `exception`."""

    __slots__ = ("exception",)
    kind = "exception handled before"

    def __init__(self, exception: ExceptionVariable) -> None:
        super().__init__(None)
        self.exception = exception


NO_MARK = ConstantVariable(None)


@op("PUSH_EXC_INFO")
def push_exc_info(tx: Tracing, frame: Frame, ins: Instruction) -> None:
    exception = frame.pop().realize()
    assert isinstance(exception, ExceptionVariable)
    frame.push(HandledMark(exception))
    frame.push(exception)
    frame.caught.append(exception)


@op("POP_EXCEPT")
def pop_except(tx: Tracing, frame: Frame, ins: Instruction) -> None:
    mark = frame.pop()
    frame.caught.pop()
    # Clean-up code pops a copy: the mark itself is still below, where nothing reads it any more. If the graph ended
    # now, it would make Python handle the exception again, for ever.
    frame.stack[:] = [NO_MARK if item is mark else item for item in frame.stack]


@op("CHECK_EXC_MATCH")
def check_exc_match(tx: Tracing, frame: Frame, ins: Instruction) -> None:
    wanted = constant_or(frame.pop().realize(), None)
    classes = wanted if isinstance(wanted, tuple) else (wanted,)
    if not all(isinstance(cls, type) and issubclass(cls, BaseException) for cls in classes):
        tx.raise_(TypeError, "catching classes that do not inherit from BaseException is not allowed")
    exception = frame.stack[-1].realize()
    frame.push(ConstantVariable(matches(exception.python_type(), wanted)))


@op("CHECK_EG_MATCH")
def check_eg_match(tx: Tracing, frame: Frame, ins: Instruction) -> None:
    raise Unsupported("except-star")


@op("RERAISE")
def reraise(tx: Tracing, frame: Frame, ins: Instruction) -> None:
    exception = frame.pop().realize()
    assert isinstance(exception, ExceptionVariable)
    raise ObservedException(exception)
