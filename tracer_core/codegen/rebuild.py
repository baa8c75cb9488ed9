"""How each kind of value is made again by generated code: one rule per tracker class, under `@rebuilds`."""

from __future__ import annotations

import collections
import functools
import types
import weakref
from collections.abc import Callable
from typing import Any, TypeVar

from tracer_core.bytecode import CallShape
from tracer_core.codegen.emitter import CannotRebuild, Emitter
from tracer_core.sources import Source
from tracer_core.variables.base import VariableTracker
from tracer_core.variables.classes import KnownVariable
from tracer_core.variables.constant import ConstantVariable, NullVariable
from tracer_core.variables.dicts import DictVariable, DictViewVariable, MappingProxyVariable, SetVariable
from tracer_core.variables.exceptions import ExceptionVariable
from tracer_core.variables.functions import (
    BuiltinMethodVariable,
    CellVariable,
    MethodVariable,
    NestedFunctionVariable,
    PartialVariable,
    SkippedFunctionVariable,
    UserFunctionVariable,
)
from tracer_core.variables.iterators import ComposedIterator, DictIterator, SequenceIterator
from tracer_core.variables.lazy import LazyVariable
from tracer_core.variables.library_objects import ReversedIterator, WeakReferenceVariable
from tracer_core.variables.parts import PARTS, DequePart, DictPart, SetPart
from tracer_core.variables.sequences import (
    DequeVariable,
    ListVariable,
    NamedTupleVariable,
    RangeVariable,
    SequenceVariable,
    SizeVariable,
    SliceVariable,
    TupleVariable,
)
from tracer_core.variables.stand_ins import StandInVariable
from tracer_core.variables.tensor import InGraphVariable
from tracer_core.variables.user_objects import InstanceDictVariable, UserObjectVariable

Rule = Callable[[Emitter, Any], None]
R = TypeVar("R", bound=Callable[..., None])
_rules: dict[type, Rule] = {}


def rebuilds(*kinds: type) -> Callable[[R], R]:
    """Register `rule(emitter, tracker)`, which pushes the value of trackers of these kinds."""

    def register(rule: R) -> R:
        for kind in kinds:
            _rules[kind] = rule
        return rule

    return register


def rebuild(emitter: Emitter, tracker: VariableTracker) -> None:
    """Push the value of any tracker.

    Raises:
        CannotRebuild: the value cannot be made by code.
    """
    if isinstance(tracker, LazyVariable):
        if tracker.realized is not None:
            emitter.load(tracker.realized)
        else:
            emitter.load_source(_source_of(tracker))
        return
    if isinstance(tracker, InGraphVariable) and tracker in emitter.outputs:
        emitter.emit("LOAD_FAST", OUTPUTS)
        emitter.const(emitter.outputs[tracker])
        emitter.emit("BINARY_SUBSCR")
        return
    if tracker.source is not None and not isinstance(tracker, (ConstantVariable, KnownVariable)):
        emitter.load_source(tracker.source)
        return
    for cls in type(tracker).__mro__:
        rule = _rules.get(cls)
        if rule is not None:
            rule(emitter, tracker)
            return
    raise CannotRebuild(tracker)


OUTPUTS = "___outputs"


def _source_of(tracker: VariableTracker) -> Source:
    if tracker.source is None:
        raise CannotRebuild(tracker)
    return tracker.source


def needs(tracker: VariableTracker) -> list[VariableTracker]:
    """The trackers that rebuilding this one loads."""
    if isinstance(tracker, LazyVariable):
        return [tracker.realized] if tracker.realized is not None else []
    if tracker.source is not None or isinstance(tracker, (ConstantVariable, KnownVariable)):
        return []
    parts = _PARTS.get(type(tracker))
    return parts(tracker) if parts is not None else [part for _, part in tracker.parts()]


def _nested_needs(tracker: NestedFunctionVariable) -> list[VariableTracker]:
    optional = (tracker.defaults, tracker.kwdefaults, tracker.annotations)
    return [*tracker.closure, *(part for part in optional if part is not None), *tracker.attributes.values()]


def _object_needs(tracker: UserObjectVariable) -> list[VariableTracker]:
    return [*tracker.attributes.values(), *_part_needs(tracker.part)]


def _part_needs(part: VariableTracker | None) -> list[VariableTracker]:
    if part is None:
        return []
    if isinstance(part, DictPart):
        return _dict_needs(part)
    return [item for _, item in part.parts()] if isinstance(part, PARTS) else [part]


def _dict_needs(tracker: DictVariable) -> list[VariableTracker]:
    factory = [] if tracker.default_factory is None else [tracker.default_factory]
    return [part for entry in tracker.entries(None) for part in entry] + factory


_PARTS: dict[type, Callable[[Any], list[VariableTracker]]] = {
    NestedFunctionVariable: _nested_needs,
    UserObjectVariable: _object_needs,
    StandInVariable: _object_needs,
    PartialVariable: lambda p: [p.function, *p.args, *p.keywords.values(), *p.attributes.values()],
    **dict.fromkeys(PARTS, lambda part: [part.whole]),
    DictVariable: _dict_needs,
    DictViewVariable: lambda view: [view.of],
    MappingProxyVariable: lambda proxy: [proxy.of],
    InstanceDictVariable: lambda view: [view.of],
    DictIterator: lambda iterator: [iterator.of],
    ComposedIterator: lambda iterator: [*iterator.rebuild_args()[0], *iterator.rebuild_args()[1].values()],
}


# --- constants and known objects ----------------------------------------------------------------------------


@rebuilds(ConstantVariable)
def _constant(emitter: Emitter, tracker: ConstantVariable) -> None:
    emitter.const(tracker.value())


@rebuilds(NullVariable)
def _null(emitter: Emitter, tracker: NullVariable) -> None:
    emitter.emit("PUSH_NULL")


@rebuilds(KnownVariable, UserFunctionVariable, SkippedFunctionVariable)
def _known(emitter: Emitter, tracker: VariableTracker) -> None:
    emitter.const(tracker.value())


# --- sequences ----------------------------------------------------------------------------------------------


@rebuilds(TupleVariable)
def _tuple(emitter: Emitter, tracker: TupleVariable) -> None:
    for item in tracker.items:
        emitter.load(item)
    emitter.emit("BUILD_TUPLE", len(tracker.items))


@rebuilds(SizeVariable)
def _size(emitter: Emitter, tracker: SizeVariable) -> None:
    import torch

    emitter.call_const(torch.Size, lambda: _tuple(emitter, tracker))


@rebuilds(NamedTupleVariable)
def _named_tuple(emitter: Emitter, tracker: NamedTupleVariable) -> None:
    if hasattr(tracker.named_cls, "_fields"):
        emitter.call_const(tuple.__new__, lambda: emitter.const(tracker.named_cls), lambda: _tuple(emitter, tracker))
    else:
        emitter.call_const(tracker.named_cls, lambda: _tuple(emitter, tracker))


@rebuilds(ListVariable)
def _list(emitter: Emitter, tracker: ListVariable) -> None:
    """Made empty and remembered before its items, so that a list may hold itself."""
    emitter.emit("BUILD_LIST", 0)
    emitter.keep(tracker)
    for item in tracker.items:
        emitter.load(item)
        emitter.emit("LIST_APPEND", 1)


def list_of(emitter: Emitter, items: list[VariableTracker]) -> None:
    """Push a new list of these values."""
    for item in items:
        emitter.load(item)
    emitter.emit("BUILD_LIST", len(items))


@rebuilds(DequeVariable)
def _deque(emitter: Emitter, tracker: DequeVariable) -> None:
    emitter.call_const(collections.deque, lambda: emitter.const(()), lambda: emitter.const(tracker.maxlen))
    emitter.keep(tracker)
    _extend(emitter, tracker, "extend", lambda: list_of(emitter, tracker.items))


def _extend(emitter: Emitter, tracker: VariableTracker, method: str, push: Callable[[], None]) -> None:
    """Call `tracker.method(pushed)` for its effect."""
    emitter.emit("PUSH_NULL")
    emitter.load(tracker)
    emitter.emit("LOAD_ATTR", method)
    push()
    emitter.emit("CALL", CallShape(1))
    emitter.emit("POP_TOP")


@rebuilds(SliceVariable)
def _slice(emitter: Emitter, tracker: SliceVariable) -> None:
    for item in tracker.items:
        emitter.load(item)
    emitter.emit("BUILD_SLICE", 3)


@rebuilds(RangeVariable)
def _range(emitter: Emitter, tracker: RangeVariable) -> None:
    emitter.call_const(range, *(functools.partial(emitter.load, item) for item in tracker.items))


# --- dicts and sets -----------------------------------------------------------------------------------------


@rebuilds(DictVariable)
def _dict(emitter: Emitter, tracker: DictVariable) -> None:
    if tracker.cls is dict:
        emitter.emit("BUILD_MAP", 0)
    elif tracker.cls is collections.defaultdict:
        factory = tracker.default_factory
        emitter.call_const(tracker.cls, lambda: emitter.const(None) if factory is None else emitter.load(factory))
    else:
        emitter.call_const(tracker.cls)
    emitter.keep(tracker)
    for key, value in tracker.entries(None):
        emitter.load(value)
        emitter.load(tracker)
        emitter.load(key)
        emitter.emit("STORE_SUBSCR")


def dict_of(emitter: Emitter, entries: list[tuple[VariableTracker, VariableTracker]]) -> None:
    """Push a new plain dict of these entries."""
    for key, value in entries:
        emitter.load(key)
        emitter.load(value)
    emitter.emit("BUILD_MAP", len(entries))


@rebuilds(DictViewVariable)
def _view(emitter: Emitter, tracker: DictViewVariable) -> None:
    emitter.emit("PUSH_NULL")
    emitter.load(tracker.of)
    emitter.emit("LOAD_ATTR", tracker.which)
    emitter.emit("CALL", CallShape(0))


@rebuilds(MappingProxyVariable)
def _mapping_proxy(emitter: Emitter, tracker: MappingProxyVariable) -> None:
    emitter.call_const(types.MappingProxyType, lambda: emitter.load(tracker.of))


@rebuilds(SetVariable)
def _set(emitter: Emitter, tracker: SetVariable) -> None:
    if tracker.cls is frozenset:
        emitter.call_const(frozenset, lambda: list_of(emitter, tracker.keys()))
        emitter.keep(tracker)
        return
    emitter.emit("BUILD_SET", 0)
    emitter.keep(tracker)
    for item in tracker.keys():  # noqa: SIM118
        emitter.load(item)
        emitter.emit("SET_ADD", 1)


# --- objects ------------------------------------------------------------------------------------------------


@rebuilds(UserObjectVariable)
def _object(emitter: Emitter, tracker: UserObjectVariable) -> None:
    if tracker.part is None:
        emitter.call_const(_new_of(tracker.cls), lambda: emitter.const(tracker.cls))
        emitter.keep(tracker)
    else:
        _with_part(emitter, tracker, tracker.part)
    for name, value in tracker.attributes.items():
        set_attribute(emitter, tracker, name, value)


def _new_of(cls: type) -> Any:
    """The `__new__` that makes bare instances: that of the class in C it comes from."""
    return next(owner.__new__ for owner in cls.__mro__ if not owner.__flags__ & _HEAP_TYPE)


_HEAP_TYPE = 1 << 9


def _with_part(emitter: Emitter, tracker: UserObjectVariable, part: VariableTracker) -> None:
    """A new instance whose builtin part is filled past what the class overrides."""
    base: Any = part.python_type()
    cls = functools.partial(emitter.const, tracker.cls)
    if not isinstance(part, PARTS):
        emitter.call_const(base.__new__, cls, lambda: emitter.load(part))
        emitter.keep(tracker)
        return
    emitter.call_const(base.__new__, cls)
    emitter.keep(tracker)
    if isinstance(part, DictPart):
        if part.default_factory is not None:
            factory = part.default_factory
            emitter.call_const(base.__init__, lambda: emitter.load(tracker), lambda: emitter.load(factory))
            emitter.emit("POP_TOP")
        for key, value in part.entries(None):
            emitter.call_const(base.__setitem__, *(functools.partial(emitter.load, t) for t in (tracker, key, value)))
            emitter.emit("POP_TOP")
        return
    items = part.keys() if isinstance(part, SetPart) else part.items
    extra = [lambda: emitter.const(part.maxlen)] if isinstance(part, DequePart) and part.maxlen is not None else []
    fill = base.__init__
    emitter.call_const(fill, lambda: emitter.load(tracker), lambda: list_of(emitter, items), *extra)
    emitter.emit("POP_TOP")


@rebuilds(*PARTS)
def _part(emitter: Emitter, tracker: Any) -> None:
    emitter.load(tracker.whole)


@rebuilds(StandInVariable)
def _stand_in(emitter: Emitter, tracker: StandInVariable) -> None:
    """Our object is made in its present state, and makes the real one."""
    if not hasattr(tracker.cls, "real"):
        raise CannotRebuild(tracker)
    _object(emitter, tracker)
    emitter.emit("POP_TOP")
    emitter.call_const(tracker.cls.real, lambda: emitter.load(tracker))
    emitter.keep(tracker)


def set_attribute(emitter: Emitter, tracker: VariableTracker, name: str, value: VariableTracker) -> None:
    """Set an attribute past what the class does at that."""
    emitter.call_const(
        object.__setattr__,
        lambda: emitter.load(tracker),
        lambda: emitter.const(name),
        lambda: emitter.load(value),
    )
    emitter.emit("POP_TOP")


@rebuilds(InstanceDictVariable)
def _instance_dict(emitter: Emitter, tracker: InstanceDictVariable) -> None:
    emitter.load(tracker.of)
    emitter.emit("LOAD_ATTR", "__dict__")


@rebuilds(ExceptionVariable)
def _exception(emitter: Emitter, tracker: ExceptionVariable) -> None:
    args = tracker.args
    new = functools.partial(emitter.call_const, tracker.cls.__new__, lambda: emitter.const(tracker.cls))
    new(*(functools.partial(emitter.load, arg) for arg in args))
    emitter.keep(tracker)
    for name, value in tracker.attributes.items():
        emitter.load(value)
        emitter.load(tracker)
        emitter.emit("STORE_ATTR", name)


# --- functions ----------------------------------------------------------------------------------------------


@rebuilds(CellVariable)
def _cell(emitter: Emitter, tracker: CellVariable) -> None:
    own = emitter.is_own_cell(tracker)
    if own is not None:
        emitter.emit("LOAD_CLOSURE", own)
        return
    emitter.call_const(types.CellType)
    emitter.keep(tracker)
    if tracker.contents is not None:
        emitter.load(tracker.contents)
        emitter.load(tracker)
        emitter.emit("STORE_ATTR", "cell_contents")


@rebuilds(NestedFunctionVariable)
def _nested_function(emitter: Emitter, tracker: NestedFunctionVariable) -> None:
    emitter.call_const(
        types.FunctionType,
        lambda: emitter.const(tracker.code),
        lambda: emitter.const(tracker.globals),
        lambda: emitter.const(tracker.code.co_name),
        lambda: emitter.const(None),
        lambda: _closure(emitter, tracker),
    )
    emitter.keep(tracker)
    parts = {"__defaults__": tracker.defaults, "__kwdefaults__": tracker.kwdefaults}
    parts.update(tracker.attributes)
    for name, value in parts.items():
        if value is not None:
            emitter.load(value)
            emitter.load(tracker)
            emitter.emit("STORE_ATTR", name)
    if tracker.annotations is not None:
        _annotations(emitter, tracker)


def _closure(emitter: Emitter, tracker: NestedFunctionVariable) -> None:
    if not tracker.closure:
        emitter.const(None)
        return
    for cell in tracker.closure:
        emitter.load(cell)
    emitter.emit("BUILD_TUPLE", len(tracker.closure))


def _annotations(emitter: Emitter, tracker: NestedFunctionVariable) -> None:
    """The compiler gives annotations as a flat tuple of names and values."""
    assert tracker.annotations is not None
    flat = tracker.annotations.realize()
    assert isinstance(flat, SequenceVariable)
    for item in flat.items:
        emitter.load(item)
    emitter.emit("BUILD_MAP", len(flat.items) // 2)
    emitter.load(tracker)
    emitter.emit("STORE_ATTR", "__annotations__")


@rebuilds(MethodVariable)
def _method(emitter: Emitter, tracker: MethodVariable) -> None:
    emitter.call_const(types.MethodType, lambda: emitter.load(tracker.function), lambda: emitter.load(tracker.self_))


@rebuilds(BuiltinMethodVariable)
def _builtin_method(emitter: Emitter, tracker: BuiltinMethodVariable) -> None:
    emitter.load(tracker.self_)
    emitter.emit("LOAD_ATTR", tracker.name)


@rebuilds(PartialVariable)
def _partial(emitter: Emitter, tracker: PartialVariable) -> None:
    emitter.emit("PUSH_NULL")
    emitter.const(functools.partial)
    for value in (tracker.function, *tracker.args, *tracker.keywords.values()):
        emitter.load(value)
    shape = CallShape(1 + len(tracker.args) + len(tracker.keywords), tuple(tracker.keywords))
    emitter.emit("CALL", shape)
    emitter.keep(tracker)
    for name, value in tracker.attributes.items():
        emitter.load(value)
        emitter.load(tracker)
        emitter.emit("STORE_ATTR", name)


# --- iterators ----------------------------------------------------------------------------------------------


@rebuilds(SequenceIterator)
def _sequence_iterator(emitter: Emitter, tracker: SequenceIterator) -> None:
    if tracker.of is None or type(tracker.of) is SequenceVariable:
        emitter.call_const(iter, lambda: list_of(emitter, tracker.remaining()))
        emitter.keep(tracker)
        return
    of = tracker.of
    emitter.call_const(iter, lambda: emitter.load(of))
    emitter.keep(tracker)
    if tracker.index:
        _extend(emitter, tracker, "__setstate__", lambda: emitter.const(tracker.index))


@rebuilds(ReversedIterator)
def _reversed_iterator(emitter: Emitter, tracker: ReversedIterator) -> None:
    of = tracker.of
    emitter.call_const(reversed, lambda: emitter.const([]) if of is None else emitter.load(of))
    emitter.keep(tracker)
    if of is not None:
        _extend(emitter, tracker, "__setstate__", lambda: emitter.const(tracker.index))


@rebuilds(WeakReferenceVariable)
def _weak_reference(emitter: Emitter, tracker: WeakReferenceVariable) -> None:
    emitter.call_const(weakref.ref, lambda: emitter.load(tracker.to))
    emitter.keep(tracker)


def advanced(iterable: Any, count: int) -> Any:
    """An iterator over `iterable` with its first `count` items taken."""
    iterator = iter(iterable)
    for _ in range(count):
        next(iterator)
    return iterator


@rebuilds(DictIterator)
def _dict_iterator(emitter: Emitter, tracker: DictIterator) -> None:
    if tracker.index < 0:
        emitter.call_const(iter, lambda: emitter.const(()))
        emitter.keep(tracker)
        return
    if tracker.stale():
        raise CannotRebuild(tracker)

    def push() -> None:
        if tracker.which:
            emitter.emit("PUSH_NULL")
        emitter.load(tracker.of)
        if tracker.which:
            emitter.emit("LOAD_ATTR", tracker.which)
            emitter.emit("CALL", CallShape(0))

    emitter.call_const(advanced, push, lambda: emitter.const(tracker.index))
    emitter.keep(tracker)


@rebuilds(ComposedIterator)
def _composed_iterator(emitter: Emitter, tracker: ComposedIterator) -> None:
    args, kwargs = tracker.rebuild_args()
    emitter.emit("PUSH_NULL")
    emitter.const(tracker.cls)
    for value in (*args, *kwargs.values()):
        emitter.load(value)
    emitter.emit("CALL", CallShape(len(args) + len(kwargs), tuple(kwargs)))
    emitter.keep(tracker)
