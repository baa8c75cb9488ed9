"""Rebuild constants, sequences, dicts and sets."""

from __future__ import annotations

import collections
import functools
import types
from collections.abc import Sequence

import torch

from tracer_core.codegen.emit.emitter import Emitter
from tracer_core.codegen.rebuild.keys import check_keys
from tracer_core.codegen.rebuild.registry import rebuilds
from tracer_core.variables.containers.dicts import (
    ConstDictVariable,
    DictViewVariable,
    MappingProxyVariable,
    SetVariable,
)
from tracer_core.variables.containers.sequences import (
    DequeVariable,
    ListVariable,
    NamedTupleVariable,
    RangeVariable,
    SizeVariable,
    SliceVariable,
    TupleVariable,
)
from tracer_core.variables.core.base import VariableTracker
from tracer_core.variables.core.constant import ConstantVariable, NullVariable
from tracer_core.variables.functions.functions import SkipFunctionVariable, UserFunctionVariable
from tracer_core.variables.objects.classes import KnownVariable

# --- constants and known objects ----------------------------------------------------------------------------


@rebuilds(ConstantVariable)
def _constant(emitter: Emitter, tracker: ConstantVariable) -> None:
    emitter.const(tracker.value())


@rebuilds(NullVariable)
def _null(emitter: Emitter, tracker: NullVariable) -> None:
    emitter.null()


@rebuilds(KnownVariable, UserFunctionVariable, SkipFunctionVariable)
def _known(emitter: Emitter, tracker: VariableTracker) -> None:
    emitter.const(tracker.value())


# --- sequences ----------------------------------------------------------------------------------------------


@rebuilds(TupleVariable)
def _tuple(emitter: Emitter, tracker: TupleVariable) -> None:
    emitter.tuple_of(emitter.loading(tracker.items))


@rebuilds(SizeVariable)
def _size(emitter: Emitter, tracker: SizeVariable) -> None:
    emitter.call_const(torch.Size, lambda: _tuple(emitter, tracker))


@rebuilds(NamedTupleVariable)
def _named_tuple(emitter: Emitter, tracker: NamedTupleVariable) -> None:
    if hasattr(tracker.named_cls, "_fields"):
        emitter.call_const(tuple.__new__, lambda: emitter.const(tracker.named_cls), lambda: _tuple(emitter, tracker))
    else:
        emitter.call_const(tracker.named_cls, lambda: _tuple(emitter, tracker))


@rebuilds(ListVariable)
def _list(emitter: Emitter, tracker: ListVariable) -> None:
    """Create the list empty and remember it before its items, so that a list may contain itself."""
    emitter.emit("BUILD_LIST", 0)
    emitter.keep(tracker)
    for item in tracker.items:
        emitter.load(item)
        emitter.emit("LIST_APPEND", 1)


def list_of(emitter: Emitter, items: list[VariableTracker]) -> None:
    """Push a new list of these values."""
    emitter.list_of(emitter.loading(items))


@rebuilds(DequeVariable)
def _deque(emitter: Emitter, tracker: DequeVariable) -> None:
    emitter.call_const(collections.deque, lambda: emitter.const(()), lambda: emitter.const(tracker.maxlen))
    emitter.keep(tracker)
    emitter.run_method(lambda: emitter.load(tracker), "extend", lambda: list_of(emitter, tracker.items))


@rebuilds(SliceVariable)
def _slice(emitter: Emitter, tracker: SliceVariable) -> None:
    for item in tracker.items:
        emitter.load(item)
    emitter.emit("BUILD_SLICE", 3)


@rebuilds(RangeVariable)
def _range(emitter: Emitter, tracker: RangeVariable) -> None:
    emitter.call_const(range, *(functools.partial(emitter.load, item) for item in tracker.items))


# --- dicts and sets -----------------------------------------------------------------------------------------


@rebuilds(ConstDictVariable)
def _dict(emitter: Emitter, tracker: ConstDictVariable) -> None:
    if tracker.cls is dict:
        emitter.emit("BUILD_MAP", 0)
    elif tracker.cls is collections.defaultdict:
        factory = tracker.default_factory
        emitter.call_const(tracker.cls, lambda: emitter.const(None) if factory is None else emitter.load(factory))
    else:
        emitter.call_const(tracker.cls)
    emitter.keep(tracker)
    emitter.set_attributes_of(tracker, tracker.attributes or {})
    check_keys(tracker.by_key)
    for key, value in tracker.entries(None):
        emitter.set_item(*emitter.loading((tracker, key, value)))


def dict_of(emitter: Emitter, entries: Sequence[tuple[VariableTracker, VariableTracker]]) -> None:
    """Push a new plain dict of the entries."""
    for key, value in entries:
        emitter.load(key)
        emitter.load(value)
    emitter.emit("BUILD_MAP", len(entries))


@rebuilds(DictViewVariable)
def _view(emitter: Emitter, tracker: DictViewVariable) -> None:
    emitter.call_method(lambda: emitter.load(tracker.of), tracker.which)


@rebuilds(MappingProxyVariable)
def _mapping_proxy(emitter: Emitter, tracker: MappingProxyVariable) -> None:
    emitter.call_const(types.MappingProxyType, lambda: emitter.load(tracker.of))


@rebuilds(SetVariable)
def _set(emitter: Emitter, tracker: SetVariable) -> None:
    if tracker.cls is frozenset:
        check_keys(tracker.by_key)
        emitter.call_const(frozenset, lambda: list_of(emitter, tracker.keys()))
        emitter.keep(tracker)
        return
    emitter.emit("BUILD_SET", 0)
    emitter.keep(tracker)
    check_keys(tracker.by_key)
    for item in tracker.keys():  # noqa: SIM118
        emitter.load(item)
        emitter.emit("SET_ADD", 1)
