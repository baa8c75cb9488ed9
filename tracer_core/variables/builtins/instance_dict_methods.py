"""Methods and operators of `obj.__dict__`."""

from __future__ import annotations

import operator
from typing import Any

from tracer_core.errors import Unsupported
from tracer_core.variables.builtins.dict_methods import pairs
from tracer_core.variables.containers.dicts import ConstDictVariable
from tracer_core.variables.containers.instance_dicts import InstanceDictVariable
from tracer_core.variables.core.base import VariableTracker, constant_or
from tracer_core.variables.core.constant import DELETED, NONE, ConstantVariable
from tracer_core.variables.core.keys import raise_key
from tracer_core.variables.core.registry import handles, method
from tracer_core.variables.core.tracing import Tracing


def _key_text(tx: Tracing, key: VariableTracker) -> str:
    name = constant_or(key.realize(), None)
    if not isinstance(name, str):
        raise Unsupported("instance-dict-key", what=key.describe())
    return name


def _as_dict(tx: Tracing, self: InstanceDictVariable) -> ConstDictVariable:
    return ConstDictVariable(self.entries(tx))


@handles(operator.getitem, InstanceDictVariable, VariableTracker)
def getitem(tx: Tracing, self: InstanceDictVariable, key: VariableTracker) -> VariableTracker:
    found = self.of.stored(tx, _key_text(tx, key))
    return found if found is not None else raise_key(tx, key)


@handles(operator.contains, InstanceDictVariable, VariableTracker)
def contains(tx: Tracing, self: InstanceDictVariable, key: VariableTracker) -> VariableTracker:
    return ConstantVariable(self.of.stored(tx, _key_text(tx, key)) is not None)


@handles(operator.setitem, InstanceDictVariable, VariableTracker)
def setitem(tx: Tracing, self: InstanceDictVariable, key: VariableTracker, value: VariableTracker) -> VariableTracker:
    self.of.dict_store(tx, _key_text(tx, key), value)
    return NONE


@handles(operator.delitem, InstanceDictVariable, VariableTracker)
def delitem(tx: Tracing, self: InstanceDictVariable, key: VariableTracker) -> VariableTracker:
    name = _key_text(tx, key)
    if self.of.stored(tx, name) is None:
        raise_key(tx, key)
    self.of.dict_store(tx, name, DELETED)
    return NONE


@handles(len, InstanceDictVariable)
def length(tx: Tracing, self: InstanceDictVariable) -> VariableTracker:
    return ConstantVariable(len(self.of.dict_entries(tx)))


@method(InstanceDictVariable, "get")
def get(
    tx: Tracing, self: InstanceDictVariable, key: VariableTracker, default: VariableTracker = NONE
) -> VariableTracker:
    found = self.of.stored(tx, _key_text(tx, key))
    return default if found is None else found


@method(InstanceDictVariable, "setdefault")
def setdefault(
    tx: Tracing, self: InstanceDictVariable, key: VariableTracker, default: VariableTracker = NONE
) -> VariableTracker:
    found = self.of.stored(tx, _key_text(tx, key))
    if found is None:
        setitem(tx, self, key, default)
    return default if found is None else found


@method(InstanceDictVariable, "pop")
def pop(
    tx: Tracing, self: InstanceDictVariable, key: VariableTracker, default: VariableTracker | None = None
) -> VariableTracker:
    name = _key_text(tx, key)
    found = self.of.stored(tx, name)
    if found is None:
        return default if default is not None else raise_key(tx, key)
    self.of.dict_store(tx, name, DELETED)
    return found


@method(InstanceDictVariable, "clear")
def clear(tx: Tracing, self: InstanceDictVariable) -> VariableTracker:
    for name in self.of.dict_entries(tx):
        self.of.dict_store(tx, name, DELETED)
    return NONE


@method(InstanceDictVariable, "update")
def update(
    tx: Tracing, self: InstanceDictVariable, other: VariableTracker | None = None, /, **named: VariableTracker
) -> VariableTracker:
    for key, value in () if other is None else pairs(tx, other):
        setitem(tx, self, key, value)
    for name, value in named.items():
        setitem(tx, self, tx.constant(name), value)
    return NONE


@handles(operator.eq, InstanceDictVariable, VariableTracker)
def equal(tx: Tracing, self: InstanceDictVariable, other: VariableTracker) -> VariableTracker:
    right = _as_dict(tx, other) if isinstance(other, InstanceDictVariable) else other
    return tx.compare("==", _as_dict(tx, self), right)


def _snapshot(name: str) -> Any:
    def handler(tx: Tracing, self: InstanceDictVariable) -> VariableTracker:
        return tx.call_method(_as_dict(tx, self), name, [], {})

    return handler


for _name in ("keys", "values", "items", "copy"):
    method(InstanceDictVariable, _name)(_snapshot(_name))
