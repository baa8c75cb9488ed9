"""Operators and methods of sets."""

from __future__ import annotations

import operator
from typing import Any

from tracer_core.errors import Unsupported
from tracer_core.operator_table import BINARY, IN_PLACE, ORDERINGS
from tracer_core.variables.containers.dicts import ConstDictVariable, SetVariable, plain_values
from tracer_core.variables.containers.sequences import ListVariable
from tracer_core.variables.core.base import VariableTracker
from tracer_core.variables.core.constant import NONE, ConstantVariable
from tracer_core.variables.core.keys import key_of, raise_key
from tracer_core.variables.core.registry import handles, method
from tracer_core.variables.core.tracing import Tracing
from tracer_core.variables.objects.builtin_parts import part_of
from tracer_core.variables.objects.user_objects import UserDefinedObjectVariable


@handles(operator.contains, SetVariable, VariableTracker)
def set_contains(tx: Tracing, self: SetVariable, item: VariableTracker) -> VariableTracker:
    return ConstantVariable(self.has(tx, item))


@handles(operator.eq, SetVariable, SetVariable)
def set_eq(tx: Tracing, a: SetVariable, b: SetVariable) -> VariableTracker:
    return ConstantVariable(a.by_key.keys() == b.by_key.keys())


@handles(operator.ne, SetVariable, SetVariable)
def set_ne(tx: Tracing, a: SetVariable, b: SetVariable) -> VariableTracker:
    return ConstantVariable(a.by_key.keys() != b.by_key.keys())


for _ordering in ORDERINGS.values():

    @handles(_ordering.function, SetVariable, SetVariable)
    def set_order(tx: Tracing, a: SetVariable, b: SetVariable, function: Any = _ordering.function) -> VariableTracker:
        return ConstantVariable(function(a.by_key.keys(), b.by_key.keys()))


def _combined(tx: Tracing, function: Any, a: SetVariable, b: SetVariable) -> SetVariable:
    """Return a new set of the kind of `a` with the items that `function` selects from both."""
    keys = function(set(a.by_key), set(b.by_key))
    # Of equal items, an intersection keeps those of the set it iterates over: the second one, unless it is larger.
    from_b = function is operator.and_ and len(b) <= len(a)
    known: dict[Any, VariableTracker] = {}
    for each in (b, a) if from_b else (a, b):
        for key, item in each.by_key.items():
            known.setdefault(key, item)
    return a.having({key: item for key, item in known.items() if key in keys}, real=_same_step(function, a, b))


def _same_step(function: Any, a: SetVariable, b: SetVariable) -> set[Any] | None:
    """Apply the operator to the real sets."""
    return None if a.real is None or b.real is None else function(a.real, b.real)


for _symbol in ("&", "|", "-", "^"):
    _function, _in_place = BINARY[_symbol].function, IN_PLACE[f"{_symbol}="].function

    @handles(_function, SetVariable, SetVariable)
    def set_operator(tx: Tracing, a: SetVariable, b: SetVariable, function: Any = _function) -> VariableTracker:
        return _combined(tx, function, a, b)

    @handles(_in_place, SetVariable, SetVariable)
    def set_operator_in_place(
        tx: Tracing, a: SetVariable, b: SetVariable, function: Any = _function, in_place: Any = _in_place
    ) -> VariableTracker | None:
        if a.cls is not set:
            return None
        made = _combined(tx, function, a, b)
        a.refuse_if_kept(tx)
        a.replace(tx, made.by_key, _same_step(in_place, a, b))
        return a

    @handles(_in_place, SetVariable, UserDefinedObjectVariable)
    def set_operator_in_place_with_subclass(
        tx: Tracing, a: SetVariable, b: UserDefinedObjectVariable, in_place: Any = set_operator_in_place
    ) -> VariableTracker | None:
        """The set's own method takes a set of a subclass, and asks nothing of its class."""
        return in_place(tx, a, b.part) if isinstance(b.part, SetVariable) else None


_SET_METHODS: dict[str, Any] = {
    "union": operator.or_,
    "intersection": operator.and_,
    "difference": operator.sub,
    "symmetric_difference": operator.xor,
}


def _with_any(tx: Tracing, function: Any, a: SetVariable, other: VariableTracker) -> SetVariable:
    """Do the operator's operation with any iterable. Of equal items, an intersection keeps those of the operand that
    it iterates over."""
    if isinstance(other, SetVariable):
        return _combined(tx, function, a, other)
    items = as_set(tx, other)
    if function is operator.and_:
        return a.having({key: item for key, item in items.by_key.items() if key in a.by_key})
    return _combined(tx, function, a, items)


def _given(tx: Tracing, other: VariableTracker) -> tuple[VariableTracker, Any]:
    """Return the argument of a set method, iterated over once, and the same for a real set (None: it is not
    known)."""
    other = part_of(other.realize())
    if isinstance(other, SetVariable):
        return other, other.real
    if type(other) is ConstDictVariable and other.cls is dict:
        values = plain_values(other.keys())
        return other, None if values is None else dict.fromkeys(values)
    items = tx.unpack(other)
    return ListVariable(items), plain_values(items)


def as_set(tx: Tracing, iterable: VariableTracker) -> SetVariable:
    """Return the result of `set(iterable)`; items that are keys already, in a set or a dict, are not hashed again."""
    iterable = iterable.realize()
    items = part_of(iterable)
    if isinstance(items, SetVariable):
        return items.having(items.by_key, set, None if items.real is None else set(items.real))
    if type(iterable) is ConstDictVariable and iterable.cls is dict:
        values = plain_values(iterable.keys())
        real = None if values is None else set(dict.fromkeys(values))
        return SetVariable().having({hashed: key for hashed, (key, _) in iterable.by_key.items()}, real=real)
    return SetVariable.hashing(tx, tx.unpack(iterable))


def _set_method(function: Any, name: str) -> Any:
    def handler(tx: Tracing, self: SetVariable, *others: VariableTracker) -> VariableTracker:
        result = self.having(self.by_key)
        reals = []
        for other in others:
            given, real = _given(tx, other)
            reals.append(real)
            result = _with_any(tx, function, result, given)
        known = self.real is not None and all(real is not None for real in reals)
        result.real = getattr(self.real, name)(*reals) if known else None
        return result

    return handler


def _set_update_method(function: Any, name: str) -> Any:
    def handler(tx: Tracing, self: SetVariable, *others: VariableTracker) -> VariableTracker:
        for other in others:
            given, real = _given(tx, other)
            made, mine = _with_any(tx, function, self, given), self.real
            self.refuse_if_kept(tx)
            if mine is None or real is None:
                mine = None
            else:
                getattr(mine, name)(real)
            self.replace(tx, made.by_key, mine)
        return NONE

    return handler


def _of_one(handler: Any) -> Any:
    """Return the handler of a method, changed to accept exactly one other set."""

    def of_one(tx: Tracing, self: SetVariable, other: VariableTracker) -> VariableTracker:
        result: VariableTracker = handler(tx, self, other)
        return result

    return of_one


for _name, _function in _SET_METHODS.items():
    _name_in_place = "update" if _name == "union" else f"{_name}_update"
    _new, _in_place = _set_method(_function, _name), _set_update_method(_function, _name_in_place)
    if _function is operator.xor:
        _new, _in_place = _of_one(_new), _of_one(_in_place)
    method(SetVariable, _name)(_new)
    method(SetVariable, _name_in_place)(_in_place)


@method(SetVariable, "issubset")
def issubset(tx: Tracing, self: SetVariable, other: VariableTracker) -> VariableTracker:
    return ConstantVariable(self.by_key.keys() <= as_set(tx, other).by_key.keys())


@method(SetVariable, "issuperset")
def issuperset(tx: Tracing, self: SetVariable, other: VariableTracker) -> VariableTracker:
    return ConstantVariable(self.by_key.keys() >= as_set(tx, other).by_key.keys())


@method(SetVariable, "isdisjoint")
def isdisjoint(tx: Tracing, self: SetVariable, other: VariableTracker) -> VariableTracker:
    return ConstantVariable(self.by_key.keys().isdisjoint(as_set(tx, other).by_key.keys()))


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
        raise_key(tx, item)
    return NONE


@method(SetVariable, "pop")
def set_pop(tx: Tracing, self: SetVariable) -> VariableTracker:
    if not len(self):
        tx.raise_(KeyError, "pop from an empty set")
    if len(self) > 1 and self.real is None:
        # (An external one remembers where the last pop was.)
        raise Unsupported("set-order" if self.source is None else "set-changed", what=self.describe())
    self.refuse_if_kept(tx)
    item = self.keys()[0] if self.real is None else ConstantVariable(self.real.pop())
    hashed = key_of(tx, item)
    item = self.by_key[hashed]
    self.remove(tx, item)
    return item


@method(SetVariable, "clear")
def set_clear(tx: Tracing, self: SetVariable) -> VariableTracker:
    self.replace(tx, {}, None if self.source is not None else set())
    return NONE


@method(SetVariable, "copy")
def set_copy(tx: Tracing, self: SetVariable) -> VariableTracker:
    if not self.mutable:
        return self
    return self.having(self.by_key, real=None if self.real is None else self.real.copy())
