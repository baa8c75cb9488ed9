"""`match` statements."""

from __future__ import annotations

from tracer_core.bytecode import Instruction
from tracer_core.errors import Unsupported
from tracer_core.interpreter.ops.table import op
from tracer_core.variables.builtins.attributes import is_instance
from tracer_core.variables.containers.dicts import ConstDictVariable
from tracer_core.variables.containers.sequences import SequenceVariable, TupleVariable
from tracer_core.variables.core.base import VariableTracker, constant_or
from tracer_core.variables.core.constant import ConstantVariable
from tracer_core.variables.core.tracing import Tracing
from tracer_core.variables.functions.frames import Frame


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
    if not isinstance(subject, ConstDictVariable) or not isinstance(keys, SequenceVariable):
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


# Py_TPFLAGS_MATCH_SELF: the class's positional pattern matches the subject itself.
_MATCHES_ITSELF = 1 << 22


def _match_args(tx: Tracing, cls: VariableTracker, wanted: type, count: int) -> list[str]:
    """Return the names of the attributes that the first `count` positional patterns read."""
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
