"""Call the builtin container types: `list(...)`, `dict(...)`, and their relatives."""

from __future__ import annotations

import collections
import functools
import types

import torch

from tracer_core.variables.builtins.dict_methods import update
from tracer_core.variables.builtins.set_methods import as_set
from tracer_core.variables.containers.dicts import ConstDictVariable, MappingProxyVariable, SetVariable
from tracer_core.variables.containers.sequences import (
    DequeVariable,
    ListVariable,
    NamedTupleVariable,
    SizeVariable,
    SliceVariable,
    TupleVariable,
)
from tracer_core.variables.core.base import VariableTracker, constant_or
from tracer_core.variables.core.constant import NONE
from tracer_core.variables.core.registry import handles
from tracer_core.variables.core.tracing import Tracing
from tracer_core.variables.functions.partials import FunctoolsPartialVariable
from tracer_core.variables.operations.all_items import listed
from tracer_core.variables.operations.calling import callable_type
from tracer_core.variables.operations.indices import index_value


@handles(list)
def list_(tx: Tracing, iterable: VariableTracker | None = None, /) -> VariableTracker:
    return ListVariable([] if iterable is None else listed(tx, iterable))


@handles(tuple)
def tuple_(tx: Tracing, iterable: VariableTracker | None = None, /) -> VariableTracker:
    if type(iterable) is TupleVariable:
        return iterable
    return TupleVariable([] if iterable is None else listed(tx, iterable))


@handles(set)
def set_(tx: Tracing, iterable: VariableTracker | None = None, /) -> VariableTracker:
    return SetVariable() if iterable is None else as_set(tx, iterable)


@handles(frozenset)
def frozenset_(tx: Tracing, iterable: VariableTracker | None = None, /) -> VariableTracker:
    if isinstance(iterable, SetVariable) and iterable.cls is frozenset:
        return iterable
    made = SetVariable() if iterable is None else as_set(tx, iterable)
    return made.having(made.by_key, frozenset, made.real)


@handles(dict)
def dict_(tx: Tracing, iterable: VariableTracker | None = None, /, **named: VariableTracker) -> VariableTracker:
    made = ConstDictVariable()
    update(tx, made, iterable, **named)
    return made


@handles(collections.OrderedDict)
def ordered_dict(
    tx: Tracing, iterable: VariableTracker | None = None, /, **named: VariableTracker
) -> VariableTracker:
    made = ConstDictVariable(cls=collections.OrderedDict)
    update(tx, made, iterable, **named)
    return made


@handles(collections.defaultdict)
def default_dict(
    tx: Tracing,
    factory: VariableTracker = NONE,
    iterable: VariableTracker | None = None,
    /,
    **named: VariableTracker,
) -> VariableTracker:
    absent = constant_or(factory, 0) is None
    if not absent and not callable_type(factory):
        tx.raise_(TypeError, "first argument must be callable or None")
    made = ConstDictVariable(cls=collections.defaultdict, default_factory=None if absent else factory)
    update(tx, made, iterable, **named)
    return made


@handles(collections.deque)
def deque_(tx: Tracing, iterable: VariableTracker | None = None, maxlen: VariableTracker = NONE) -> VariableTracker:
    limit = None if constant_or(maxlen, 0) is None else index_value(tx, maxlen, "an integer is required")
    if limit is not None and limit < 0:
        tx.raise_(ValueError, "maxlen must be non-negative")
    items = [] if iterable is None else tx.unpack(iterable)
    if limit is not None:
        items = items[len(items) - limit :] if len(items) > limit else items
    return DequeVariable(items, limit)


@handles(slice)
def slice_(tx: Tracing, *bounds: VariableTracker) -> VariableTracker:
    if not 1 <= len(bounds) <= 3:
        wrong = f"at most 3 arguments, got {len(bounds)}" if bounds else "at least 1 argument, got 0"
        tx.raise_(TypeError, f"slice expected {wrong}")
    given = [NONE, *bounds, NONE] if len(bounds) == 1 else [*bounds, NONE][:3]
    return SliceVariable(given)


@handles(torch.Size)
def size_(tx: Tracing, iterable: VariableTracker | None = None, /) -> VariableTracker:
    return SizeVariable([] if iterable is None else tx.unpack(iterable))


@handles(tuple.__new__, VariableTracker)
def tuple_new(tx: Tracing, cls: VariableTracker, iterable: VariableTracker | None = None) -> VariableTracker | None:
    items = [] if iterable is None else tx.unpack(iterable)
    wanted = cls.value()
    if wanted is tuple:
        return TupleVariable(items)
    return NamedTupleVariable(items, wanted) if NamedTupleVariable.is_named(wanted) else None


@handles(types.MappingProxyType, ConstDictVariable)
def mapping_proxy(tx: Tracing, of: ConstDictVariable) -> VariableTracker:
    return MappingProxyVariable(of)


@handles(dict.fromkeys)
def fromkeys(tx: Tracing, keys: VariableTracker, value: VariableTracker = NONE, /) -> VariableTracker:
    made = ConstDictVariable()
    if isinstance(keys, SetVariable) or (isinstance(keys, ConstDictVariable) and keys.cls is dict):
        known = {id(item): hashed for hashed, item in as_set(tx, keys).by_key.items()}
        for key in tx.unpack(keys):
            made.set_hashed(tx, known[id(key)], key, value)
        return made
    for key in tx.unpack(keys):
        made.set(tx, key, value)
    return made


def _partial(
    tx: Tracing, function: VariableTracker, /, *args: VariableTracker, **kwargs: VariableTracker
) -> VariableTracker:
    if not callable_type(function):
        tx.raise_(TypeError, "the first argument must be callable")
    if isinstance(function, FunctoolsPartialVariable) and not function.has_dict(tx):
        return FunctoolsPartialVariable(function.function, [*function.args, *args], {**function.keywords, **kwargs})
    return FunctoolsPartialVariable(function, list(args), kwargs)


handles(functools.partial, VariableTracker)(_partial)
