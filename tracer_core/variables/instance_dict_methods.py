"""Operators and methods of instances' `__dict__`."""

from __future__ import annotations

import operator
from typing import Any

from tracer_core.errors import Unsupported
from tracer_core.variables.base import Tracing, VariableTracker, constant_or
from tracer_core.variables.calling import call_method
from tracer_core.variables.constant import DELETED, NONE, ConstantVariable
from tracer_core.variables.dict_methods import pairs
from tracer_core.variables.dicts import DictVariable
from tracer_core.variables.keys import raise_key
from tracer_core.variables.registry import handles, method
from tracer_core.variables.user_objects import InstanceDictVariable


def _key_text(tx: Tracing, key: VariableTracker) -> str:
    name = constant_or(key.realize(), None)
    if not isinstance(name, str):
        raise Unsupported("instance-dict-key", what=key.describe())
    return name


@handles(operator.getitem, InstanceDictVariable, VariableTracker)
def instance_getitem(tx: Tracing, self: InstanceDictVariable, key: VariableTracker) -> VariableTracker:
    found = self.of.stored(tx, _key_text(tx, key))
    return found if found is not None else raise_key(tx, key)


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
        raise_key(tx, key)
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
