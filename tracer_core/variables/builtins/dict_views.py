"""Operators and methods of the views of dicts: `keys()` and `items()` act as sets."""

from __future__ import annotations

import operator
from typing import Any

from tracer_core.operator_table import BINARY
from tracer_core.variables.builtins.dict_methods import dict_contains
from tracer_core.variables.containers.dicts import DictViewVariable, MappingProxyVariable, SetVariable
from tracer_core.variables.core.base import VariableTracker
from tracer_core.variables.core.constant import ConstantVariable
from tracer_core.variables.core.registry import getter, handles, method
from tracer_core.variables.core.tracing import Tracing


@handles(operator.contains, DictViewVariable, VariableTracker)
def view_contains(tx: Tracing, self: DictViewVariable, item: VariableTracker) -> VariableTracker | None:
    return dict_contains(tx, self.of, item) if self.which == "keys" else None


def _view_as_set(tx: Tracing, view: VariableTracker) -> SetVariable:
    return SetVariable.hashing(tx, tx.unpack(view))


for _symbol in ("&", "|", "-", "^"):

    @handles(BINARY[_symbol].function, DictViewVariable, VariableTracker)
    def view_operator(
        tx: Tracing, a: DictViewVariable, b: VariableTracker, symbol: str = _symbol
    ) -> VariableTracker | None:
        if a.which == "values":
            return None
        if symbol == "&":
            return _view_intersection(tx, a, b)
        if symbol == "^" and isinstance(b, DictViewVariable) and a.which == b.which == "items":
            return _entries_that_differ(tx, a, b)
        return tx.binary(symbol, _view_as_set(tx, a), _view_as_set(tx, b))

    @handles(BINARY[_symbol].function, SetVariable, DictViewVariable)
    def operator_with_view(
        tx: Tracing, a: SetVariable, b: DictViewVariable, symbol: str = _symbol
    ) -> VariableTracker | None:
        """Call the view's operator, as a set does, with a plain set as the result."""
        if b.which == "values":
            return None
        if symbol == "&":
            return _view_intersection(tx, b, a)
        return tx.binary(symbol, a.having(a.by_key, set), _view_as_set(tx, b))


def _entries_that_differ(tx: Tracing, a: DictViewVariable, b: DictViewVariable) -> SetVariable:
    """Return the entries that differ; only these need a hash."""
    only_a = [item for item in tx.unpack(a) if not tx.contains(b, item)]
    only_b = [item for item in tx.unpack(b) if not tx.contains(a, item)]
    return SetVariable.hashing(tx, [*only_a, *only_b])


def _view_intersection(tx: Tracing, view: DictViewVariable, other: VariableTracker) -> SetVariable:
    """Return the items in both; of equal items, those of the operand that Python iterates over."""
    mine, theirs = _view_as_set(tx, view), _view_as_set(tx, other)
    over_view = (isinstance(other, SetVariable) and len(mine) <= len(theirs)) or (
        isinstance(other, DictViewVariable) and len(theirs) > len(mine)
    )
    iterated, searched = (mine, theirs) if over_view else (theirs, mine)
    return mine.having({key: item for key, item in iterated.by_key.items() if key in searched.by_key})


def _acts_as_set(tracker: VariableTracker) -> bool:
    """Return whether it is a set, or a view that acts as one."""
    return isinstance(tracker, SetVariable) or (isinstance(tracker, DictViewVariable) and tracker.which != "values")


def _all_in(tx: Tracing, items: list[VariableTracker], other: VariableTracker) -> bool:
    """Return whether all are in the other, by `in`, as views do: the values of entries need no hash."""
    return all(tx.contains(other, item) for item in items)


_SIZES_FIT: dict[Any, tuple[Any, bool]] = {
    operator.eq: (operator.eq, False),
    operator.lt: (operator.lt, False),
    operator.le: (operator.le, False),
    operator.gt: (operator.gt, True),
    operator.ge: (operator.ge, True),
}
"""By operator: the condition on the sizes, and whether the items of the second are looked up in the first."""

for _function, (_fits, _second_in_first) in _SIZES_FIT.items():

    @handles(_function, DictViewVariable, VariableTracker)
    @handles(_function, SetVariable, DictViewVariable)
    def view_compared(
        tx: Tracing,
        a: VariableTracker,
        b: VariableTracker,
        fits: Any = _fits,
        second_in_first: bool = _second_in_first,
    ) -> VariableTracker | None:
        if not (_acts_as_set(a) and _acts_as_set(b)):
            return None
        items, others = tx.unpack(a), tx.unpack(b)
        if not fits(len(items), len(others)):
            return ConstantVariable(False)
        within = _all_in(tx, others, a) if second_in_first else _all_in(tx, items, b)
        return ConstantVariable(within)


@getter(DictViewVariable, "mapping")
def view_mapping(tx: Tracing, self: DictViewVariable) -> VariableTracker:
    return MappingProxyVariable(self.of)


@method(DictViewVariable, "isdisjoint")
def view_isdisjoint(tx: Tracing, self: DictViewVariable, other: VariableTracker) -> VariableTracker | None:
    if self.which == "values":
        return None
    return ConstantVariable(not any(tx.contains(self, item) for item in tx.unpack(other)))
