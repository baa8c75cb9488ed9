"""Operators and methods of dicts, their views, sets, and instances' `__dict__`."""

from __future__ import annotations

import collections
import operator
from typing import Any

from tracer_core.errors import Unsupported
from tracer_core.variables.attributes import find_attr
from tracer_core.variables.base import Tracing, VariableTracker, constant_or
from tracer_core.variables.calling import call_method
from tracer_core.variables.constant import DELETED, NONE, ConstantVariable
from tracer_core.variables.dicts import (
    DictVariable,
    DictViewVariable,
    SetVariable,
    key_of,
)
from tracer_core.variables.iteration import unpack
from tracer_core.variables.operators import binary, equal_items
from tracer_core.variables.registry import handles, method
from tracer_core.variables.sequences import tuple_of
from tracer_core.variables.truth_and_length import truth
from tracer_core.variables.user_objects import InstanceDictVariable, UserObjectVariable, static_lookup


def _raise_key(tx: Tracing, key: VariableTracker) -> Any:
    return tx.raise_(KeyError, key.realize())


@handles(operator.getitem, DictVariable, VariableTracker)
def getitem(tx: Tracing, self: DictVariable, key: VariableTracker) -> VariableTracker:
    found = self.get(tx, key)
    if found is not None:
        return found
    if self.default_factory is not None and self.cls is collections.defaultdict:
        made = tx.call(self.default_factory, [])
        self.set(tx, key, made)
        return made
    return _raise_key(tx, key)  # type: ignore[no-any-return]


@handles(operator.setitem, DictVariable, VariableTracker)
def setitem(tx: Tracing, self: DictVariable, key: VariableTracker, value: VariableTracker) -> VariableTracker:
    self.set(tx, key, value)
    return NONE


@handles(operator.delitem, DictVariable, VariableTracker)
def delitem(tx: Tracing, self: DictVariable, key: VariableTracker) -> VariableTracker:
    if self.remove(tx, key) is None:
        _raise_key(tx, key)
    return NONE


@handles(operator.contains, DictVariable, VariableTracker)
def contains(tx: Tracing, self: DictVariable, key: VariableTracker) -> VariableTracker:
    return ConstantVariable(key_of(tx, key) in self._entries)


@handles(operator.eq, DictVariable, DictVariable)
def eq(tx: Tracing, a: DictVariable, b: DictVariable) -> VariableTracker:
    if len(a) != len(b):
        return ConstantVariable(False)
    if a.cls is b.cls is collections.OrderedDict:
        a_keys, b_keys = a.keys(), b.keys()
        if not all(equal_items(tx, x, y) for x, y in zip(a_keys, b_keys, strict=True)):
            return ConstantVariable(False)
    for key, value in a.entries(tx):
        other = b.get(tx, key)
        if other is None or not equal_items(tx, value, other):
            return ConstantVariable(False)
    return ConstantVariable(True)


@handles(operator.ne, DictVariable, DictVariable)
def ne(tx: Tracing, a: DictVariable, b: DictVariable) -> VariableTracker:
    return ConstantVariable(not truth(tx, eq(tx, a, b)))


@handles(operator.or_, DictVariable, DictVariable)
def merge(tx: Tracing, a: DictVariable, b: DictVariable) -> VariableTracker | None:
    made = copy(tx, a)
    assert isinstance(made, DictVariable)
    for key, value in b.entries(tx):
        made.set(tx, key, value)
    return made


@handles(operator.ior, DictVariable, VariableTracker)
def merge_in_place(tx: Tracing, a: DictVariable, b: VariableTracker) -> VariableTracker | None:
    update(tx, a, b)
    return a


# --- dict methods -------------------------------------------------------------------------------------------


@method(DictVariable, "get")
def get(tx: Tracing, self: DictVariable, key: VariableTracker, default: VariableTracker = NONE) -> VariableTracker:
    found = self.get(tx, key)
    return default if found is None else found


@method(DictVariable, "setdefault")
def setdefault(
    tx: Tracing, self: DictVariable, key: VariableTracker, default: VariableTracker = NONE
) -> VariableTracker:
    found = self.get(tx, key)
    if found is not None:
        return found
    self.set(tx, key, default)
    return default


@method(DictVariable, "pop")
def pop(
    tx: Tracing, self: DictVariable, key: VariableTracker, default: VariableTracker | None = None
) -> VariableTracker:
    found = self.remove(tx, key)
    if found is not None:
        return found
    return default if default is not None else _raise_key(tx, key)


@method(DictVariable, "popitem")
def popitem(tx: Tracing, self: DictVariable, last: VariableTracker = ConstantVariable(True)) -> VariableTracker:
    if not len(self):
        tx.raise_(
            KeyError,
            "popitem(): dictionary is empty" if self.cls is not collections.OrderedDict else "dictionary is empty",
        )
    key, value = self.entries(tx)[-1 if truth(tx, last) else 0]
    self.remove(tx, key)
    return tuple_of(key, value)


@method(DictVariable, "update")
def update(
    tx: Tracing, self: DictVariable, other: VariableTracker | None = None, /, **named: VariableTracker
) -> VariableTracker:
    entries = [] if other is None else pairs(tx, other)
    for key, value in [*entries, *((tx.constant(name), value) for name, value in named.items())]:
        self.set(tx, key, value)
    return NONE


def pairs(tx: Tracing, other: VariableTracker) -> list[tuple[VariableTracker, VariableTracker]]:
    """The (key, value) pairs that `dict(other)` takes."""
    other = other.realize()
    if isinstance(other, DictVariable):
        return other.entries(tx)
    part = other.part if isinstance(other, UserObjectVariable) else None
    if isinstance(part, DictVariable) and static_lookup(other.python_type(), "__iter__")[1] is dict:
        return part.entries(tx)
    if isinstance(other, InstanceDictVariable):
        return [(tx.constant(name), value) for name, value in other.of.dict_entries(tx).items()]
    keys = find_attr(tx, other, "keys")
    if keys is not None:
        from tracer_core.variables.operators import get_item

        return [(key, get_item(tx, other, key)) for key in unpack(tx, tx.call(keys, []))]
    result = []
    for number, entry in enumerate(unpack(tx, other)):
        pair = unpack(tx, entry)
        if len(pair) != 2:
            tx.raise_(
                ValueError, f"dictionary update sequence element #{number} has length {len(pair)}; 2 is required"
            )
        result.append((pair[0], pair[1]))
    return result


@method(DictVariable, "clear")
def clear(tx: Tracing, self: DictVariable) -> VariableTracker:
    self.replace(tx, [])
    return NONE


@method(DictVariable, "copy")
def copy(tx: Tracing, self: DictVariable) -> VariableTracker:
    return DictVariable(self.entries(tx), self.cls, default_factory=self.default_factory)


def _view(which: str) -> Any:
    def handler(tx: Tracing, self: DictVariable) -> VariableTracker:
        return DictViewVariable(self, which)

    return handler


for _which in ("keys", "values", "items"):
    method(DictVariable, _which)(_view(_which))


@method(DictVariable, "move_to_end")
def move_to_end(
    tx: Tracing, self: DictVariable, key: VariableTracker, last: VariableTracker = ConstantVariable(True)
) -> VariableTracker:
    value = self.remove(tx, key)
    if value is None:
        return _raise_key(tx, key)  # type: ignore[no-any-return]
    rest = self.entries(tx)
    self.replace(tx, [*rest, (key, value)] if truth(tx, last) else [(key, value), *rest])
    return NONE


@method(DictVariable, ".default_factory")
def default_factory(tx: Tracing, self: DictVariable) -> VariableTracker:
    return self.default_factory or NONE


@handles(operator.contains, DictViewVariable, VariableTracker)
def view_contains(tx: Tracing, self: DictViewVariable, item: VariableTracker) -> VariableTracker | None:
    return contains(tx, self.of, item) if self.which == "keys" else None


def _view_as_set(tx: Tracing, view: VariableTracker) -> SetVariable:
    return SetVariable(unpack(tx, view))


for _function in (operator.and_, operator.or_, operator.sub, operator.xor):

    @handles(_function, DictViewVariable, VariableTracker)
    def view_operator(
        tx: Tracing, a: DictViewVariable, b: VariableTracker, function: Any = _function
    ) -> VariableTracker | None:
        if a.which == "values":
            return None
        symbol = {operator.and_: "&", operator.or_: "|", operator.sub: "-", operator.xor: "^"}[function]
        return binary(tx, symbol, _view_as_set(tx, a), _view_as_set(tx, b))


@handles(operator.eq, DictViewVariable, VariableTracker)
def view_eq(tx: Tracing, a: DictViewVariable, b: VariableTracker) -> VariableTracker | None:
    if a.which == "values" or not isinstance(b, (DictViewVariable, SetVariable)):
        return None
    return set_eq(tx, _view_as_set(tx, a), _view_as_set(tx, b))


# --- sets ---------------------------------------------------------------------------------------------------


@handles(operator.contains, SetVariable, VariableTracker)
def set_contains(tx: Tracing, self: SetVariable, item: VariableTracker) -> VariableTracker:
    return ConstantVariable(self.has(tx, item))


@handles(operator.eq, SetVariable, SetVariable)
def set_eq(tx: Tracing, a: SetVariable, b: SetVariable) -> VariableTracker:
    return ConstantVariable(a._items.keys() == b._items.keys())


@handles(operator.ne, SetVariable, SetVariable)
def set_ne(tx: Tracing, a: SetVariable, b: SetVariable) -> VariableTracker:
    return ConstantVariable(a._items.keys() != b._items.keys())


for _function in (operator.lt, operator.le, operator.gt, operator.ge):

    @handles(_function, SetVariable, SetVariable)
    def set_order(tx: Tracing, a: SetVariable, b: SetVariable, function: Any = _function) -> VariableTracker:
        return ConstantVariable(function(a._items.keys(), b._items.keys()))


def _combined(tx: Tracing, a: SetVariable, keys: set[Any], *others: SetVariable) -> SetVariable:
    """A new set of the kind of `a` with the items that `keys` names."""
    known: dict[Any, VariableTracker] = {}
    for each in (a, *others):
        for key, item in each._items.items():
            known.setdefault(key, item)
    return SetVariable([item for key, item in known.items() if key in keys], a.cls)


_SET_OPERATORS: dict[Any, Any] = {
    operator.and_: lambda a, b: a & b,
    operator.or_: lambda a, b: a | b,
    operator.sub: lambda a, b: a - b,
    operator.xor: lambda a, b: a ^ b,
}
for _function, _combine in _SET_OPERATORS.items():

    @handles(_function, SetVariable, SetVariable)
    def set_operator(tx: Tracing, a: SetVariable, b: SetVariable, combine: Any = _combine) -> VariableTracker:
        return _combined(tx, a, combine(set(a._items), set(b._items)), b)

    @handles(getattr(operator, "i" + _function.__name__.rstrip("_")), SetVariable, SetVariable)
    def set_operator_in_place(
        tx: Tracing, a: SetVariable, b: SetVariable, combine: Any = _combine
    ) -> VariableTracker | None:
        if a.cls is not set:
            return None
        a.replace(tx, _combined(tx, a, combine(set(a._items), set(b._items)), b).keys())
        return a


_SET_METHODS: dict[str, Any] = {
    "union": operator.or_,
    "intersection": operator.and_,
    "difference": operator.sub,
    "symmetric_difference": operator.xor,
}


def _set_method(function: Any) -> Any:
    def handler(tx: Tracing, self: SetVariable, *others: VariableTracker) -> VariableTracker:
        result: VariableTracker = SetVariable(self.keys(), self.cls)
        for other in others:
            assert isinstance(result, SetVariable)
            result = set_operator(tx, result, SetVariable(unpack(tx, other)), _SET_OPERATORS[function])
        return result

    return handler


def _set_update_method(function: Any) -> Any:
    def handler(tx: Tracing, self: SetVariable, *others: VariableTracker) -> VariableTracker:
        for other in others:
            set_operator_in_place(tx, self, SetVariable(unpack(tx, other)), _SET_OPERATORS[function])
        return NONE

    return handler


for _name, _function in _SET_METHODS.items():
    method(SetVariable, _name)(_set_method(_function))
    method(SetVariable, "update" if _name == "union" else f"{_name}_update")(_set_update_method(_function))


@method(SetVariable, "issubset")
def issubset(tx: Tracing, self: SetVariable, other: VariableTracker) -> VariableTracker:
    return ConstantVariable(self._items.keys() <= SetVariable(unpack(tx, other))._items.keys())


@method(SetVariable, "issuperset")
def issuperset(tx: Tracing, self: SetVariable, other: VariableTracker) -> VariableTracker:
    return ConstantVariable(self._items.keys() >= SetVariable(unpack(tx, other))._items.keys())


@method(SetVariable, "isdisjoint")
def isdisjoint(tx: Tracing, self: SetVariable, other: VariableTracker) -> VariableTracker:
    return ConstantVariable(self._items.keys().isdisjoint(SetVariable(unpack(tx, other))._items.keys()))


@method(SetVariable, "add")
def set_add(tx: Tracing, self: SetVariable, item: VariableTracker) -> VariableTracker:
    self.add(tx, item)
    return NONE


@method(SetVariable, "discard")
def discard(tx: Tracing, self: SetVariable, item: VariableTracker) -> VariableTracker:
    self.remove(tx, item)
    return NONE


@method(SetVariable, "remove")
def set_remove(tx: Tracing, self: SetVariable, item: VariableTracker) -> VariableTracker:
    if not self.remove(tx, item):
        _raise_key(tx, item)
    return NONE


@method(SetVariable, "pop")
def set_pop(tx: Tracing, self: SetVariable) -> VariableTracker:
    if not len(self):
        tx.raise_(KeyError, "pop from an empty set")
    if len(self) > 1:
        raise Unsupported("set-order", what=self.describe())
    item = self.keys()[0]
    self.remove(tx, item)
    return item


@method(SetVariable, "clear")
def set_clear(tx: Tracing, self: SetVariable) -> VariableTracker:
    self.replace(tx, [])
    return NONE


@method(SetVariable, "copy")
def set_copy(tx: Tracing, self: SetVariable) -> VariableTracker:
    return SetVariable(self.keys(), self.cls)


# --- instances' dicts ---------------------------------------------------------------------------------------


def _key_text(tx: Tracing, key: VariableTracker) -> str:
    name = constant_or(key.realize(), None)
    if not isinstance(name, str):
        raise Unsupported("instance-dict-key", what=key.describe())
    return name


@handles(operator.getitem, InstanceDictVariable, VariableTracker)
def instance_getitem(tx: Tracing, self: InstanceDictVariable, key: VariableTracker) -> VariableTracker:
    found = self.of.stored(tx, _key_text(tx, key))
    return found if found is not None else _raise_key(tx, key)


@handles(operator.contains, InstanceDictVariable, VariableTracker)
def instance_contains(tx: Tracing, self: InstanceDictVariable, key: VariableTracker) -> VariableTracker:
    return ConstantVariable(self.of.stored(tx, _key_text(tx, key)) is not None)


@handles(operator.setitem, InstanceDictVariable, VariableTracker)
def instance_setitem(
    tx: Tracing, self: InstanceDictVariable, key: VariableTracker, value: VariableTracker
) -> VariableTracker:
    name = _key_text(tx, key)
    tx.output.side_effects.changes(self.of, "attributes", f"attribute {name} is set")
    self.of.attributes[name] = value
    return NONE


@handles(operator.delitem, InstanceDictVariable, VariableTracker)
def instance_delitem(tx: Tracing, self: InstanceDictVariable, key: VariableTracker) -> VariableTracker:
    name = _key_text(tx, key)
    if self.of.stored(tx, name) is None:
        _raise_key(tx, key)
    tx.output.side_effects.changes(self.of, "attributes", f"attribute {name} is deleted")
    if self.of.real is None:
        del self.of.attributes[name]
    else:
        self.of.attributes[name] = DELETED
    return NONE


@method(InstanceDictVariable, "get")
def instance_get(
    tx: Tracing, self: InstanceDictVariable, key: VariableTracker, default: VariableTracker = NONE
) -> VariableTracker:
    found = self.of.stored(tx, _key_text(tx, key))
    return default if found is None else found


@method(InstanceDictVariable, "update")
def instance_update(
    tx: Tracing, self: InstanceDictVariable, other: VariableTracker | None = None, /, **named: VariableTracker
) -> VariableTracker:
    entries = [] if other is None else pairs(tx, other)
    for key, value in [*entries, *((tx.constant(name), value) for name, value in named.items())]:
        instance_setitem(tx, self, key, value)
    return NONE


def _as_dict(tx: Tracing, self: InstanceDictVariable) -> DictVariable:
    return DictVariable([(tx.constant(name), value) for name, value in self.of.dict_entries(tx).items()])


def _instance_view(name: str) -> Any:
    def handler(tx: Tracing, self: InstanceDictVariable) -> VariableTracker:
        return call_method(tx, _as_dict(tx, self), name, [], {})

    return handler


for _name_ in ("keys", "values", "items", "copy"):
    method(InstanceDictVariable, _name_)(_instance_view(_name_))
