"""Operators and methods of dicts and of their views."""

from __future__ import annotations

import collections
import operator
from typing import Any

from tracer_core.variables.attributes import find_attr
from tracer_core.variables.base import Tracing, VariableTracker
from tracer_core.variables.constant import NONE, ConstantVariable
from tracer_core.variables.dicts import DictVariable, DictViewVariable, SetVariable
from tracer_core.variables.instance_dicts import InstanceDictVariable
from tracer_core.variables.iteration import unpack
from tracer_core.variables.keys import key_of, raise_key
from tracer_core.variables.operators import binary, equal_items
from tracer_core.variables.registry import handles, method
from tracer_core.variables.sequences import tuple_of
from tracer_core.variables.set_methods import set_eq
from tracer_core.variables.truth_and_length import truth
from tracer_core.variables.user_objects import UserObjectVariable, static_lookup


@handles(operator.getitem, DictVariable, VariableTracker)
def getitem(tx: Tracing, self: DictVariable, key: VariableTracker) -> VariableTracker:
    found = self.get(tx, key)
    if found is not None:
        return found
    if self.default_factory is not None and self.cls is collections.defaultdict:
        made = tx.call(self.default_factory, [])
        self.set(tx, key, made)
        return made
    return raise_key(tx, key)  # type: ignore[no-any-return]


@handles(operator.setitem, DictVariable, VariableTracker)
def setitem(tx: Tracing, self: DictVariable, key: VariableTracker, value: VariableTracker) -> VariableTracker:
    self.set(tx, key, value)
    return NONE


@handles(operator.delitem, DictVariable, VariableTracker)
def delitem(tx: Tracing, self: DictVariable, key: VariableTracker) -> VariableTracker:
    if self.remove(tx, key) is None:
        raise_key(tx, key)
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
    return default if default is not None else raise_key(tx, key)


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
        return other.entries(tx)
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
        return raise_key(tx, key)  # type: ignore[no-any-return]
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
