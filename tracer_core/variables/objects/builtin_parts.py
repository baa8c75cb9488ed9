"""The builtin part of instances of classes that inherit from a builtin type: the items of a `class Stack(list)`.

`UserDefinedObjectVariable.part` is a tracker of the builtin type. Methods that the class inherits from it work on the
part; everything else about the object is as for any other.
"""

from __future__ import annotations

import collections
import operator
from collections.abc import Callable
from typing import Any

from tracer_core.errors import Unsupported
from tracer_core.variables.containers.dicts import ConstDictVariable, SetVariable
from tracer_core.variables.containers.sequences import DequeVariable, ListVariable, NamedTupleVariable, TupleVariable
from tracer_core.variables.core.base import VariableTracker
from tracer_core.variables.core.constant import NONE, ConstantVariable
from tracer_core.variables.core.registry import handles, method
from tracer_core.variables.core.tracing import Tracing
from tracer_core.variables.objects.class_lookup import static_lookup
from tracer_core.variables.objects.classes import ClassVariable
from tracer_core.variables.objects.user_objects import UserDefinedObjectVariable


class ListPart(ListVariable):
    """The items of `whole`, which inherits from list."""

    __slots__ = ("whole",)
    whole: UserDefinedObjectVariable


class DequePart(DequeVariable):
    __slots__ = ("whole",)
    whole: UserDefinedObjectVariable


class DictPart(ConstDictVariable):
    __slots__ = ("whole",)
    whole: UserDefinedObjectVariable


class SetPart(SetVariable):
    __slots__ = ("whole",)
    whole: UserDefinedObjectVariable


PARTS = (ListPart, DequePart, DictPart, SetPart)

_EMPTY: dict[type, Callable[[], VariableTracker]] = {
    list: lambda: ListPart([]),
    collections.deque: lambda: DequePart([]),
    dict: lambda: DictPart(),
    collections.OrderedDict: lambda: DictPart(cls=collections.OrderedDict),
    collections.defaultdict: lambda: DictPart(cls=collections.defaultdict),
    set: lambda: SetPart(),
}
_VALUES = (tuple, str, int, float, bytes, complex, frozenset)
BASES = (*_EMPTY, *_VALUES)


def base_of(cls: type) -> type | None:
    """Return the builtin type with a part that `cls` inherits from, or None."""
    return next((base for base in cls.__mro__ if base in BASES), None)


def with_part(cls: type, part: VariableTracker) -> UserDefinedObjectVariable:
    made = UserDefinedObjectVariable(cls)
    made.part = part
    if isinstance(part, PARTS):
        part.whole = made
    return made


def new_with_part(
    tx: Tracing, cls: type, base: type, args: list[VariableTracker], kwargs: dict[str, VariableTracker]
) -> VariableTracker:
    """Create the object for `base.__new__(cls, *args, **kwargs)`: mutable containers start empty, others have their
    value at once."""
    empty = _EMPTY.get(base)
    if empty is not None:
        return with_part(cls, empty())
    part = tx.call(ClassVariable(base), args, kwargs)
    if isinstance(part, TupleVariable):
        part = TupleVariable(list(part.items))
    elif not isinstance(part, (ConstantVariable, SetVariable)):
        raise Unsupported("builtin-subclass", cls=cls.__qualname__, base=base.__name__)
    return with_part(cls, part)


def init_part(
    tx: Tracing, part: VariableTracker, args: list[VariableTracker], kwargs: dict[str, VariableTracker]
) -> VariableTracker:
    """Call `list.__init__(self, ...)` and the like on the part."""
    if isinstance(part, ConstDictVariable):
        _init_dict(tx, part, args, kwargs)
    elif part.python_type() in _EMPTY:
        if args and args[0].realize() is part:
            args = [tx.constant(()), *args[1:]]  # it is emptied before its items are read
        filled = tx.call(ClassVariable(part.python_type()), args, kwargs)
        if isinstance(part, SetVariable):
            assert isinstance(filled, SetVariable)
            part.replace(tx, filled.by_key, filled.real)
        elif isinstance(part, (ListVariable, DequeVariable)):
            assert isinstance(filled, (ListVariable, DequeVariable))
            if isinstance(part, DequeVariable):
                assert isinstance(filled, DequeVariable)
                if part.source is not None and part.maxlen != filled.maxlen:
                    raise Unsupported("method", name="__init__", type="deque")
            part.changes(tx, "items are replaced")
            if isinstance(part, DequeVariable) and isinstance(filled, DequeVariable):
                part.maxlen = filled.maxlen
            part.items = list(filled.items)
    return NONE


@method(ListVariable, "__init__")
@method(DequeVariable, "__init__")
@method(SetVariable, "__init__")
@method(ConstDictVariable, "__init__")
def init_again(
    tx: Tracing, self: VariableTracker, /, *args: VariableTracker, **kwargs: VariableTracker
) -> VariableTracker:
    """Call `items.__init__(...)` on an object that is initialized already."""
    if isinstance(self, ConstDictVariable) and self.cls is collections.defaultdict:
        raise Unsupported("method", name="__init__", type="defaultdict")
    return init_part(tx, self, list(args), kwargs)


def _init_dict(
    tx: Tracing, part: ConstDictVariable, args: list[VariableTracker], kwargs: dict[str, VariableTracker]
) -> None:
    args = list(args)
    if part.cls is collections.defaultdict and args:
        factory = args.pop(0).realize()
        tx.trace.journal.save(part)
        part.default_factory = None if isinstance(factory, ConstantVariable) and factory.value() is None else factory
    if len(args) > 1:
        tx.raise_(TypeError, f"{part.cls.__name__} expected at most 1 argument, got {len(args)}")
    tx.call_method(part, "update", args, kwargs)


def calls_overridden(obj: UserDefinedObjectVariable, name: str) -> bool:
    """Return whether the builtin base's method calls methods that the class overrides."""
    if not isinstance(obj.part, ConstDictVariable) or obj.part.cls is not collections.OrderedDict:
        return False
    return any(static_lookup(obj.cls, each)[1] is not obj.part.cls for each in _CALLED.get(name, ()))


_CALLED = {
    **dict.fromkeys(("__init__", "__ior__", "__or__", "__ror__", "update"), ("__setitem__",)),
    "setdefault": ("__contains__", "__getitem__", "__setitem__"),
    "pop": ("__contains__", "__getitem__", "__delitem__"),
    "copy": ("__class__",),
}
"""The methods that those of OrderedDict call on an object of a subclass."""


# --- copies, for which C calls the class ------------------------------------------------------------------------


@method(DequePart, "copy")
def deque_copy(tx: Tracing, self: DequePart) -> VariableTracker:
    limit = [] if self.maxlen is None else [ConstantVariable(self.maxlen)]
    return tx.call(tx.constant(self.whole.cls), [self.whole, *limit])


def _then(tx: Tracing, made: VariableTracker, name: str, *args: VariableTracker) -> VariableTracker:
    """Call `made.name(*args)`, bypassing overrides of its class; return `made`."""
    tx.call_method(part_of(made), name, list(args), {})
    return made


@handles(operator.add, DequePart, DequeVariable)
def add_deques(tx: Tracing, a: DequePart, b: DequeVariable) -> VariableTracker:
    return _then(tx, deque_copy(tx, a), "extend", b)


@handles(operator.mul, DequePart, VariableTracker)
def repeat_deque(tx: Tracing, a: DequePart, b: VariableTracker) -> VariableTracker | None:
    return _then(tx, deque_copy(tx, a), "__imul__", b) if issubclass(b.python_type(), int) else None


@method(DictPart, "copy")
def dict_copy(tx: Tracing, self: DictPart) -> VariableTracker:
    if self.cls is not collections.defaultdict:
        return self.copied()
    return tx.call(tx.constant(self.whole.cls), [self.default_factory or NONE, self.whole])


@handles(operator.or_, DictPart, ConstDictVariable)
def merge(tx: Tracing, a: DictPart, b: ConstDictVariable) -> VariableTracker | None:
    if a.cls is dict:
        return None
    made = dict_copy(tx, a) if a.cls is collections.defaultdict else tx.call(tx.constant(a.whole.cls), [a.whole])
    return _then(tx, made, "update", b)


def part_of(tracker: VariableTracker) -> VariableTracker:
    """Return the part if there is one, else the tracker itself."""
    return tracker.part if isinstance(tracker, UserDefinedObjectVariable) and tracker.part is not None else tracker


def _new_handler(base: type) -> Any:
    def new(
        tx: Tracing, cls: ClassVariable, /, *args: VariableTracker, **kwargs: VariableTracker
    ) -> VariableTracker | None:
        if cls.known in BASES:
            return tx.call(cls, list(args), kwargs)
        if NamedTupleVariable.is_named(cls.known):
            return None
        return new_with_part(tx, cls.known, base_of(cls.known) or base, list(args), kwargs)

    return new


for _base in BASES:
    handles(_base.__new__, ClassVariable)(_new_handler(_base))
