"""Trackers of external sequences, dicts and sets: type, length or keys are guarded, items when they are read."""

from __future__ import annotations

import collections
import sys
import types
from typing import Any

import torch

from tracer_core.errors import Unsupported
from tracer_core.guards import make
from tracer_core.runtime.containers import dict_behind, dict_keys
from tracer_core.sources import (
    AttrSource,
    BehindSource,
    ConstantSource,
    DictKeySource,
    DictValueSource,
    GetItemSource,
    Source,
)
from tracer_core.variables.builders.builder import VariableBuilder
from tracer_core.variables.containers.dicts import (
    ConstDictVariable,
    DictViewVariable,
    MappingProxyVariable,
    SetVariable,
)
from tracer_core.variables.containers.sequences import (
    DequeVariable,
    ListVariable,
    RangeVariable,
    SizeVariable,
    SliceVariable,
    TupleVariable,
)
from tracer_core.variables.core.base import VariableTracker
from tracer_core.variables.core.constant import ConstantVariable
from tracer_core.variables.core.keys import external_key
from tracer_core.variables.core.registry import builds
from tracer_core.variables.objects.nn_module import member_source


def items_of(build: VariableBuilder, value: Any, source: Source) -> list[VariableTracker]:
    build.tx.guard(make.type_is(source, type(value)))
    build.tx.guard(make.length(source, len(value)))
    return [build.lazy(item, GetItemSource(source, i)) for i, item in enumerate(value)]


@builds(list)
def _list(build: VariableBuilder, value: list[Any], source: Source) -> VariableTracker:
    return build.register(value, ListVariable(items_of(build, value, source), source))


@builds(tuple)
def _tuple(build: VariableBuilder, value: tuple[Any, ...], source: Source) -> VariableTracker:
    return TupleVariable(items_of(build, value, source), source)


@builds(torch.Size)
def _size(build: VariableBuilder, value: torch.Size, source: Source) -> VariableTracker:
    return SizeVariable(items_of(build, value, source), source)


@builds(collections.deque)
def _deque(build: VariableBuilder, value: Any, source: Source) -> VariableTracker:
    items = items_of(build, value, source)
    build.tx.guard(make.constant(AttrSource(source, "maxlen"), value.maxlen))
    return build.register(value, DequeVariable(items, value.maxlen, source))


@builds(range)
def _range(build: VariableBuilder, value: range, source: Source) -> VariableTracker:
    build.tx.guard(make.constant(source, value))
    return RangeVariable([ConstantVariable(n) for n in (value.start, value.stop, value.step)], source)


@builds(slice)
def _slice(build: VariableBuilder, value: slice, source: Source) -> VariableTracker:
    build.tx.guard(make.type_is(source, slice))
    return SliceVariable([build(getattr(value, n), AttrSource(source, n)) for n in ("start", "stop", "step")], source)


def _entries(
    build: VariableBuilder, value: dict[Any, Any], source: Source
) -> list[tuple[VariableTracker, VariableTracker]]:
    entries = []
    for index, (key, item) in enumerate(value.items()):
        if ConstantVariable.holds(key) or (isinstance(key, tuple) and is_literal_tuple(key)):
            key_tracker = build.tx.constant(key)
            at: Source = member_source(source, key) or GetItemSource(source, key)
        else:
            key_tracker = build(key, DictKeySource(source, index))
            external_key(build.tx, key_tracker)
            at = DictValueSource(source, index)
        entries.append((key_tracker, build.lazy(item, at)))
    return entries


def _is_namespace(value: dict[Any, Any]) -> bool:
    """Return whether it is a module's dict, whose entries are also read as names."""
    name = dict.get(value, "__name__")
    return isinstance(name, str) and getattr(sys.modules.get(name), "__dict__", None) is value


def _refuse_hashing(value: dict[Any, Any]) -> None:
    """Break for an OrderedDict that hashes its keys when it is iterated over: the program would observe the read."""
    for key in dict.keys(value):
        if isinstance(type(key).__hash__, types.FunctionType):
            raise Unsupported("hash-user-object", cls=type(key).__name__)


def guard_keys(build: VariableBuilder, value: dict[Any, Any], source: Source) -> None:
    """Guard a dict's keys and their order.

    Raises:
        Unsupported: it cannot tell them, as an `OrderedDict` that was written to past its own methods.
    """
    try:
        guard = make.dict_keys_are(source, value)
    except Exception:  # noqa: BLE001
        raise Unsupported("unknown-object", type=type(value).__qualname__, source=source.written) from None
    if len(dict_keys(value)) != dict.__len__(value):
        raise Unsupported("unknown-object", type=type(value).__qualname__, source=source.written)
    build.tx.guard(guard)


@builds(dict, collections.OrderedDict, collections.defaultdict)
def _dict(build: VariableBuilder, value: dict[Any, Any], source: Source) -> VariableTracker:
    if _is_namespace(value):
        raise Unsupported("frame-namespace")
    if isinstance(value, collections.OrderedDict):
        _refuse_hashing(value)
    if id(value) in build.tx.trace.dict_owners:
        raise Unsupported("shared-instance-dict", source=source.written)
    build.tx.guard(make.type_is(source, type(value)))
    guard_keys(build, value, source)
    entries = _entries(build, value, source)
    factory = None
    if isinstance(value, collections.defaultdict) and value.default_factory is not None:
        factory = build(value.default_factory, AttrSource(source, "default_factory"))
    return build.register(value, ConstDictVariable(entries, type(value), source, factory))


def _behind(build: VariableBuilder, value: Any, source: Source) -> ConstDictVariable:
    """Return the dict of a view or a proxy."""
    held = dict_behind(value)
    # A class's own dict always has the text; attributes set on the class bypass a tracker of the dict.
    if not isinstance(held, dict) or "__doc__" in held:
        raise Unsupported("unknown-object", type=type(value).__name__, source=source.written)
    build.tx.guard(make.type_is(source, type(value)))
    of = build(held, BehindSource(source))
    part = getattr(of, "part", of)
    if not isinstance(part, ConstDictVariable):
        raise Unsupported("unknown-object", type=type(value).__name__, source=source.written)
    return part


_VIEWS = {
    type(getattr(cls(), which)()): which
    for cls in (dict, collections.OrderedDict)
    for which in ("keys", "values", "items")
}


@builds(*_VIEWS)
def _view(build: VariableBuilder, value: Any, source: Source) -> VariableTracker:
    return build.register(value, DictViewVariable(_behind(build, value, source), _VIEWS[type(value)], source))


@builds(types.MappingProxyType)
def _mapping_proxy(
    build: VariableBuilder, value: types.MappingProxyType[Any, Any], source: Source
) -> VariableTracker:
    if not isinstance(source.root, ConstantSource):
        return build.register(value, MappingProxyVariable(_behind(build, value, source), source))
    # It belongs to a known object. Reading the mapping behind it may run code of the program.
    kind = type(dict_behind(value))
    if kind not in (dict, collections.OrderedDict) or not all(isinstance(key, str) for key in value):
        raise Unsupported("unknown-object", type="mappingproxy", source=source.written)
    entries = [(build.tx.constant(key), build.lazy(item, GetItemSource(source, key))) for key, item in value.items()]
    return MappingProxyVariable(ConstDictVariable(entries, kind), source)


def is_literal_tuple(key: tuple[Any, ...]) -> bool:
    return all(ConstantVariable.holds(item) or (isinstance(item, tuple) and is_literal_tuple(item)) for item in key)


def _is_literal(item: Any) -> bool:
    """Return whether it is known by its value, or by itself: a constant, a tuple of such, a class or a function."""
    if isinstance(item, tuple):
        return is_literal_tuple(item)
    by_identity = type(item).__hash__ in _BY_IDENTITY and type(item).__eq__ in _BY_IDENTITY
    return ConstantVariable.holds(item) or (by_identity and isinstance(item, (type, types.FunctionType)))


_BY_IDENTITY: tuple[Any, ...] = (type.__hash__, type.__eq__, object.__hash__, object.__eq__)


def set_items_of(build: VariableBuilder, value: Any, source: Source) -> list[VariableTracker]:
    if not all(_is_literal(item) for item in value):
        raise Unsupported("set-of-objects", source=source.written)
    build.tx.guard(make.type_is(source, type(value)))
    build.tx.guard(make.set_items_are(source, value))
    return [build.tx.constant(item) for item in value]


@builds(set, frozenset)
def _set(build: VariableBuilder, value: Any, source: Source) -> VariableTracker:
    tracker = SetVariable(set_items_of(build, value, source), type(value), source)
    return build.register(value, tracker)
