"""Instructions that choose where to go on: jumps, loops, returns, yields, exceptions, `with`."""

from __future__ import annotations

from tracer_core.bytecode import Instruction
from tracer_core.errors import Unsupported
from tracer_core.interpreter.checks import checked
from tracer_core.interpreter.ops import op
from tracer_core.variables.base import Tracing, VariableTracker, constant_or
from tracer_core.variables.builtin_attributes import is_instance
from tracer_core.variables.classes import ClassVariable
from tracer_core.variables.constant import ConstantVariable
from tracer_core.variables.dicts import DictVariable
from tracer_core.variables.exceptions import ExceptionVariable, matches
from tracer_core.variables.frames import Frame
from tracer_core.variables.generators import GeneratorVariable
from tracer_core.variables.sequences import SequenceVariable, TupleVariable
from tracer_core.variables.tracing import ObservedException
from tracer_core.variables.user_objects import UserObjectVariable


@op("JUMP", "JUMP_NO_INTERRUPT")
def jump(tx: Tracing, frame: Frame, ins: Instruction) -> None:
    frame.jump(ins)


@op("POP_JUMP_IF_FALSE")
def pop_jump_if_false(tx: Tracing, frame: Frame, ins: Instruction) -> None:
    _jump_and_pop(tx, frame, ins, on=False)


@op("POP_JUMP_IF_TRUE")
def pop_jump_if_true(tx: Tracing, frame: Frame, ins: Instruction) -> None:
    _jump_and_pop(tx, frame, ins, on=True)


def _jump_and_pop(tx: Tracing, frame: Frame, ins: Instruction, on: bool) -> None:
    """Jump where the truth of the topmost item is `on`. It stays on the stack until that is known."""
    jumps = checked(tx, frame, ins, on, frame.stack[-1])
    if jumps is None:
        jumps = tx.truth(frame.stack[-1]) == on
    if jumps:
        frame.jump(ins)
    frame.pop()


@op("POP_JUMP_IF_NONE")
def pop_jump_if_none(tx: Tracing, frame: Frame, ins: Instruction) -> None:
    if _is_none(frame.pop()):
        frame.jump(ins)


@op("POP_JUMP_IF_NOT_NONE")
def pop_jump_if_not_none(tx: Tracing, frame: Frame, ins: Instruction) -> None:
    if not _is_none(frame.pop()):
        frame.jump(ins)


def _is_none(tracker: VariableTracker) -> bool:
    return constant_or(tracker.realize(), 0) is None


@op("JUMP_IF_FALSE_OR_POP")
def jump_if_false_or_pop(tx: Tracing, frame: Frame, ins: Instruction) -> None:
    if not tx.truth(frame.stack[-1]):
        frame.jump(ins)
    else:
        frame.pop()


@op("JUMP_IF_TRUE_OR_POP")
def jump_if_true_or_pop(tx: Tracing, frame: Frame, ins: Instruction) -> None:
    if tx.truth(frame.stack[-1]):
        frame.jump(ins)
    else:
        frame.pop()


# --- loops --------------------------------------------------------------------------------------------------


@op("GET_ITER")
def get_iter(tx: Tracing, frame: Frame, ins: Instruction) -> None:
    frame.push(tx.iterate(frame.pop()))


@op("FOR_ITER")
def for_iter(tx: Tracing, frame: Frame, ins: Instruction) -> None:
    item = tx.next_item(frame.stack[-1])
    if item is None:
        frame.pop()
        frame.jump(ins)
    else:
        frame.push(item)


# --- leaving the frame --------------------------------------------------------------------------------------


@op("RETURN_VALUE")
def return_value(tx: Tracing, frame: Frame, ins: Instruction) -> VariableTracker:
    return frame.pop()


@op("YIELD_VALUE")
def yield_value(tx: Tracing, frame: Frame, ins: Instruction) -> VariableTracker:
    frame.suspended = True
    return frame.pop()


@op("GET_YIELD_FROM_ITER")
def get_yield_from_iter(tx: Tracing, frame: Frame, ins: Instruction) -> None:
    value = frame.pop().realize()
    frame.push(value if isinstance(value, GeneratorVariable) else tx.iterate(value))


@op("SEND")
def send(tx: Tracing, frame: Frame, ins: Instruction) -> None:
    """Send the top value to the iterator below it; at its end, push its result instead and jump."""
    value = frame.pop()
    iterator = frame.stack[-1].realize()
    if isinstance(iterator, GeneratorVariable):
        yielded, result = iterator.resume(tx, value)
    else:
        if not _is_none(value):
            raise Unsupported("method", name="send", type=iterator.python_type_name())
        item = tx.next_item(iterator)
        yielded, result = (True, item) if item is not None else (False, ConstantVariable(None))
    if yielded:
        frame.push(result)
    else:
        frame.pop()
        frame.push(result)
        frame.jump(ins)


# --- exceptions ---------------------------------------------------------------------------------------------


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
    """The exception that `raise tracker` raises: itself, or a new instance of a class."""
    if isinstance(tracker, ClassVariable) and issubclass(tracker.known, BaseException):
        tracker = tx.call(tracker, [])
    if not isinstance(tracker, ExceptionVariable):
        if isinstance(tracker, UserObjectVariable) and issubclass(tracker.cls, BaseException):
            raise Unsupported("exception-object", what=tracker.describe())
        tx.raise_(TypeError, message)
    return tracker


def _set_cause(tx: Tracing, exception: ExceptionVariable, cause: VariableTracker) -> None:
    if not _is_none(cause):
        cause = as_exception(tx, cause, "exception causes must derive from BaseException")
    exception.attributes["__cause__"] = cause
    exception.attributes["__suppress_context__"] = ConstantVariable(True)


class HandledMark(ConstantVariable):
    """What PUSH_EXC_INFO leaves on the stack: which exception was handled before (Python's business). Here it keeps
    the one being handled, `exception`."""

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
    # Clean-up code pops a copy: the mark itself still lies below, where nothing looks at it any more. Were the graph
    # to end now, it would have Python handle the exception again, for ever.
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


# --- match --------------------------------------------------------------------------------------------------


@op("MATCH_SEQUENCE")
def match_sequence(tx: Tracing, frame: Frame, ins: Instruction) -> None:
    import collections.abc

    cls = frame.stack[-1].realize().python_type()
    frame.push(
        ConstantVariable(issubclass(cls, collections.abc.Sequence) and not issubclass(cls, (str, bytes, bytearray)))
    )


@op("MATCH_MAPPING")
def match_mapping(tx: Tracing, frame: Frame, ins: Instruction) -> None:
    import collections.abc

    frame.push(ConstantVariable(issubclass(frame.stack[-1].realize().python_type(), collections.abc.Mapping)))


@op("MATCH_KEYS")
def match_keys(tx: Tracing, frame: Frame, ins: Instruction) -> None:
    subject, keys = (tracker.realize() for tracker in frame.stack[-2:])
    if not isinstance(subject, DictVariable) or not isinstance(keys, SequenceVariable):
        raise Unsupported("match", what=subject.describe())
    values = [subject.get(tx, key) for key in keys.items]
    found = [value for value in values if value is not None]
    frame.push(TupleVariable(found) if len(found) == len(values) else ConstantVariable(None))


@op("MATCH_CLASS")
def match_class(tx: Tracing, frame: Frame, ins: Instruction) -> None:
    subject, cls, names = (tracker.realize() for tracker in frame.pop_n(3))
    wanted = constant_or(cls, None)
    if not isinstance(wanted, type):
        tx.raise_(TypeError, "called match pattern must be a class")
    if not is_instance(tx, subject, wanted):
        frame.push(ConstantVariable(None))
        return
    attributes = [name.realize().value() for name in (names.items_or_none(tx) or [])]
    found: list[VariableTracker | None] = []
    if ins.arg and wanted.__flags__ & _MATCHES_ITSELF:
        _check_positional(tx, wanted, 1, ins.arg)
        found.append(subject)
    elif ins.arg:
        attributes = [*_match_args(tx, cls, wanted, ins.arg), *attributes]
        twice = next((name for i, name in enumerate(attributes) if name in attributes[:i]), None)
        if twice is not None:
            tx.raise_(TypeError, f"{wanted.__name__}() got multiple sub-patterns for attribute {twice!r}")
    found += [tx.find_attr(subject, name) for name in attributes]
    present = [value for value in found if value is not None]
    frame.push(TupleVariable(present) if len(present) == len(found) else ConstantVariable(None))


# Py_TPFLAGS_MATCH_SELF: the class's positional pattern stands for the subject itself.
_MATCHES_ITSELF = 1 << 22


def _match_args(tx: Tracing, cls: VariableTracker, wanted: type, count: int) -> list[str]:
    """The names of the attributes that the first `count` positional patterns look at."""
    held = tx.find_attr(cls, "__match_args__")
    names = () if held is None else held.realize().value()
    if type(names) is not tuple:
        tx.raise_(TypeError, f"{wanted.__name__}.__match_args__ must be a tuple (got {type(names).__name__})")
    _check_positional(tx, wanted, len(names), count)
    wrong = next((name for name in names[:count] if not isinstance(name, str)), None)
    if wrong is not None:
        tx.raise_(TypeError, f"__match_args__ elements must be strings (got {type(wrong).__name__})")
    return list(names[:count])


def _check_positional(tx: Tracing, wanted: type, allowed: int, given: int) -> None:
    if given > allowed:
        plural = "" if allowed == 1 else "s"
        tx.raise_(TypeError, f"{wanted.__name__}() accepts {allowed} positional sub-pattern{plural} ({given} given)")


@op("GET_LEN")
def get_len(tx: Tracing, frame: Frame, ins: Instruction) -> None:

    frame.push(tx.length(frame.stack[-1]))
