"""`bytearray`, `array.array` and `memoryview`: known numbers in memory that may change.

A tracker holds a copy of its own. Whatever the program asks is asked of the copy, and where that changes it, the
real one is written after the graph. Views are tracked where what they look into never changes.
"""

from __future__ import annotations

import array
import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from tracer_core.errors import Unsupported
from tracer_core.guards import make
from tracer_core.sources import Source
from tracer_core.variables.base import Tracing, VariableTracker, constant_or
from tracer_core.variables.builder import VariableBuilder
from tracer_core.variables.constant import NONE, ConstantVariable
from tracer_core.variables.exceptions import raise_real
from tracer_core.variables.methods import BuiltinMethodVariable
from tracer_core.variables.registry import builds, handles, method
from tracer_core.variables.sequences import ListVariable, TupleVariable
from tracer_core.variables.trace_state import TraceState

TYPES = (bytearray, array.array, memoryview)
#: Bytes of the largest that is looked into: all of it is compared at each call.
MAX_BYTES = 1 << 20
_UNKNOWN = object()


class BufferVariable(VariableTracker):
    """`held` is the copy; a view of bytes, which never change, is held itself. `place` is where the real one's bytes
    begin and end."""

    __slots__ = ("held", "place")
    kind = "buffer"
    mutable = True

    def __init__(self, held: Any, source: Source | None = None) -> None:
        super().__init__(source)
        self.held = held
        self.place: tuple[int, int] | None = None

    def python_type(self) -> type:
        return type(self.held)

    def describe(self) -> str:
        return f"{type(self.held).__name__} of {len(self.held)}"

    def truth(self, tx: Tracing) -> bool:
        return len(self.held) > 0

    def items_or_none(self, tx: Tracing) -> list[VariableTracker]:
        return [tx.constant(item) for item in self.held]

    def attribute(self, tx: Tracing, name: str) -> VariableTracker | None:
        if name in ("obj", "__class__") or not hasattr(self.held, name):
            return None
        found = getattr(self.held, name)
        return BuiltinMethodVariable(self, name) if callable(found) else tx.constant(found)


def contents(value: Any) -> bytes:
    return bytes(value) if isinstance(value, bytearray) else bytes(value.tobytes())


@builds(bytearray, array.array)
def _buffer(build: VariableBuilder, value: Any, source: Source) -> VariableTracker:
    if len(value) * getattr(value, "itemsize", 1) > MAX_BYTES:
        raise Unsupported("unknown-object", type=type(value).__qualname__, source=source.name)
    build.tx.guard(make.contents(source, value))
    tracker = BufferVariable(value[:], source)
    tracker.place = _place(np.frombuffer(value, np.uint8)) if len(value) else None
    return build.register(value, tracker)


def _place(value: Any) -> tuple[int, int] | None:
    """Where in memory a tensor or an array has its elements."""
    if isinstance(value, np.ndarray):
        return np.lib.array_utils.byte_bounds(value)
    if type(value) not in (torch.Tensor, torch.nn.Parameter) or value.layout is not torch.strided:
        return None
    storage = value.untyped_storage()
    return storage.data_ptr(), storage.data_ptr() + storage.nbytes()


def shares_memory(trace: TraceState) -> BufferVariable | None:
    """A buffer from outside into which a tensor or an array looks that the trace has met: neither sees in the other
    what the trace changes."""
    known = [each for each in trace.trackers_by_object.values() if isinstance(each, BufferVariable)]
    others = list(filter(None, map(_place, trace.kept_alive))) if known else []
    for each in known:
        start, end = each.place or (0, 0)
        if any(first < end and start < last for first, last in others):
            return each
    return None


@builds(memoryview)
def _view(build: VariableBuilder, value: memoryview, source: Source) -> VariableTracker:
    if type(value.obj) is not bytes or value.nbytes > MAX_BYTES:
        raise Unsupported("unknown-object", type="memoryview", source=source.name)
    build.tx.guard(make.contents(source, value))
    return build.register(value, BufferVariable(value, source))


# --- what is asked ------------------------------------------------------------------------------------------


def ask(tx: Tracing, function: Callable[..., Any], *args: VariableTracker, **kwargs: VariableTracker) -> Any:
    """`function(*args)` on the copies, with what it changed noted.

    Raises:
        Unsupported: an argument is not known.
    """
    given = [arg.realize() for arg in args]
    buffers = [arg for arg in given if isinstance(arg, BufferVariable)]
    values = [_value(tx, function, arg) for arg in given]
    named = {name: _value(tx, function, arg.realize()) for name, arg in kwargs.items()}
    before = [contents(each.held) for each in buffers]
    try:
        result = function(*values, **named)
    except Exception as error:  # noqa: BLE001 - raised in the traced program
        _note_changes(tx, buffers, before)
        raise_real(tx, error)
    _note_changes(tx, buffers, before)
    itself = next((each for each in buffers if result is each.held), None)
    return itself or _tracker(tx, result)


def _value(tx: Tracing, function: Any, tracker: VariableTracker) -> Any:
    if isinstance(tracker, BufferVariable):
        return tracker.held
    value = constant_or(tracker, _UNKNOWN)
    if value is not _UNKNOWN:
        return value
    items = tracker.items_or_none(tx)
    known = [constant_or(item.realize(), _UNKNOWN) for item in items or [tracker]]
    if any(item is _UNKNOWN for item in known):
        raise Unsupported("method", name=function.__name__, type=tracker.python_type_name())
    return _GATHERED.get(tracker.python_type(), list)(known)


# (Errors name the type.)
_GATHERED: dict[type, Callable[[list[Any]], Any]] = {
    tuple: tuple,
    set: set,
    frozenset: frozenset,
    dict: dict.fromkeys,
}


def _note_changes(tx: Tracing, buffers: list[BufferVariable], before: list[bytes]) -> None:
    for each, was in zip(buffers, before, strict=True):
        if contents(each.held) != was:
            tx.trace.side_effects.changes(each, "buffer", f"a {each.python_type_name()} is changed")


def _tracker(tx: Tracing, result: Any) -> VariableTracker:
    if isinstance(result, TYPES):
        return BufferVariable(result)
    if type(result) in (list, tuple) and any(isinstance(item, TYPES) for item in result):
        made = [_tracker(tx, item) for item in result]
        return ListVariable(made) if type(result) is list else TupleVariable(made)
    return tx.constant(result)


def _method_called(name: str) -> Callable[..., Any]:
    def handler(tx: Tracing, self: BufferVariable, /, *args: VariableTracker, **kwargs: VariableTracker) -> Any:
        return ask(tx, getattr(type(self.held), name), self, *args, **kwargs)

    return handler


_NOT_ASKED = frozenset(
    "__iter__ __class__ __init__ __new__ __reduce__ __reduce_ex__ __setattr__ __delattr__ __getattribute__ __dir__ "
    "__init_subclass__ __subclasshook__ __sizeof__ __hash__ __enter__ __exit__ release tofile fromfile "
    "buffer_info".split()
)
for _name in {name for cls in TYPES for name in dir(cls) if callable(getattr(cls, name))} - _NOT_ASKED:
    method(BufferVariable, _name)(_method_called(_name))


# --- functions and operators --------------------------------------------------------------------------------


def _asks(function: Any, *kinds: type) -> None:
    @handles(function, *kinds)
    def handler(tx: Tracing, *args: VariableTracker) -> Any:
        return ask(tx, function, *args)


_OF_THE_FIRST: tuple[Any, ...] = (
    operator.getitem, operator.delitem, operator.contains, operator.add, operator.mul, operator.iadd, operator.imul,
    operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge, len, bytes, repr, hash,
)  # fmt: skip
_OF_THE_SECOND: tuple[Any, ...] = (
    operator.contains, operator.add, operator.mul, operator.eq, operator.ne, operator.lt, operator.gt,
)  # fmt: skip
for _function in _OF_THE_FIRST:
    _asks(_function, BufferVariable)
for _function in _OF_THE_SECOND:
    _asks(_function, ConstantVariable, BufferVariable)


@handles(operator.setitem, BufferVariable, VariableTracker, VariableTracker)
def setitem(tx: Tracing, buffer: BufferVariable, key: VariableTracker, value: VariableTracker) -> VariableTracker:
    ask(tx, operator.setitem, buffer, key, value)
    return NONE


def _makes(cls: Any) -> None:
    @handles(cls)
    def make_(tx: Tracing, /, *args: VariableTracker, **kwargs: VariableTracker) -> Any:
        return ask(tx, cls, *args, **kwargs)


for _cls in (bytearray, array.array):
    _makes(_cls)


@handles(memoryview, ConstantVariable)
def memoryview_(tx: Tracing, data: ConstantVariable) -> Any:
    return ask(tx, memoryview, data)
