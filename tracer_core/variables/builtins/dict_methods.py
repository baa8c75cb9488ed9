"""Operators and methods of dicts."""

from __future__ import annotations

import collections
import operator
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from tracer_core.polyfills.copy import attributes_of
from tracer_core.sources import AttrSource
from tracer_core.variables.containers.dicts import ConstDictVariable, DictViewVariable
from tracer_core.variables.containers.instance_dicts import InstanceDictVariable
from tracer_core.variables.containers.sequences import TupleVariable, tuple_of
from tracer_core.variables.core.base import VariableTracker
from tracer_core.variables.core.constant import NONE, ConstantVariable
from tracer_core.variables.core.keys import key_of, raise_key
from tracer_core.variables.core.registry import getter, handles, method
from tracer_core.variables.core.tracing import ObservedException, Tracing
from tracer_core.variables.functions.builtin_signatures import raise_signature
from tracer_core.variables.objects.class_lookup import static_lookup
from tracer_core.variables.objects.user_objects import UserDefinedObjectVariable
from tracer_core.variables.operations.all_items import fast_sequence


@handles(operator.getitem, ConstDictVariable, VariableTracker)
def getitem(tx: Tracing, self: ConstDictVariable, key: VariableTracker) -> VariableTracker:
    found = self.get(tx, key)
    if found is not None:
        return found
    if self.default_factory is not None and self.cls is collections.defaultdict:
        made = tx.call(self.default_factory, [])
        self.set(tx, key, made)
        return made
    return raise_key(tx, key)


@handles(operator.setitem, ConstDictVariable, VariableTracker)
def setitem(tx: Tracing, self: ConstDictVariable, key: VariableTracker, value: VariableTracker) -> VariableTracker:
    self.set(tx, key, value)
    return NONE


@handles(operator.delitem, ConstDictVariable, VariableTracker)
def delitem(tx: Tracing, self: ConstDictVariable, key: VariableTracker) -> VariableTracker:
    if self.remove(tx, key) is None:
        raise_key(tx, key)
    return NONE


@handles(operator.contains, ConstDictVariable, VariableTracker)
def dict_contains(tx: Tracing, self: ConstDictVariable, key: VariableTracker) -> VariableTracker:
    return ConstantVariable(key_of(tx, key) in self._entries)


@handles(operator.eq, ConstDictVariable, ConstDictVariable)
def eq(tx: Tracing, a: ConstDictVariable, b: ConstDictVariable) -> VariableTracker:
    if len(a) != len(b):
        return ConstantVariable(False)
    if a.cls is b.cls is collections.OrderedDict:
        a_keys, b_keys = a.keys(), b.keys()
        if not all(tx.equal_items(x, y) for x, y in zip(a_keys, b_keys, strict=True)):
            return ConstantVariable(False)
    for key, value in a.entries(tx):
        other = b.get(tx, key)
        if other is None or not tx.equal_items(value, other):
            return ConstantVariable(False)
    return ConstantVariable(True)


@handles(operator.ne, ConstDictVariable, ConstDictVariable)
def ne(tx: Tracing, a: ConstDictVariable, b: ConstDictVariable) -> VariableTracker:
    return ConstantVariable(not tx.truth(eq(tx, a, b)))


@handles(operator.or_, ConstDictVariable, ConstDictVariable)
def merge(tx: Tracing, a: ConstDictVariable, b: ConstDictVariable) -> VariableTracker | None:
    made = a.copied()
    if a.cls is dict:
        # For a plain dict, the kind of the other decides the result.
        made.cls, made.default_factory = b.cls, b.default_factory
    take_all(tx, made, b)
    return made


@handles(operator.ior, ConstDictVariable, VariableTracker)
def merge_in_place(tx: Tracing, a: ConstDictVariable, b: VariableTracker) -> VariableTracker | None:
    update(tx, a, b)
    return a


# --- dict methods -------------------------------------------------------------------------------------------


@method(ConstDictVariable, "get")
def get(
    tx: Tracing, self: ConstDictVariable, key: VariableTracker, default: VariableTracker = NONE
) -> VariableTracker:
    found = self.get(tx, key)
    return default if found is None else found


@method(ConstDictVariable, "setdefault")
def setdefault(
    tx: Tracing, self: ConstDictVariable, key: VariableTracker, default: VariableTracker = NONE
) -> VariableTracker:
    hashed = key_of(tx, key)
    found = self.by_key.get(hashed)
    if found is not None:
        return found[1]
    self.set_hashed(tx, hashed, key, default)
    return default


def raise_ordered_key(tx: Tracing, key: VariableTracker) -> Any:
    """Raise KeyError as an OrderedDict does: the items of a tuple are the error's arguments, and None is no
    argument."""
    key = key.realize()
    if isinstance(key, ConstantVariable) and key.value() is None:
        return tx.raise_(KeyError)
    return tx.raise_(KeyError, *(key.items if isinstance(key, TupleVariable) else [key]))


@method(ConstDictVariable, "pop")
def pop(
    tx: Tracing, self: ConstDictVariable, key: VariableTracker, default: VariableTracker | None = None
) -> VariableTracker:
    # An empty dict does not use the key, not even its hash.
    ordered = self.cls is collections.OrderedDict
    found = self.remove(tx, key) if len(self) or ordered else None
    if found is not None:
        return found
    if default is not None:
        return default
    return raise_ordered_key(tx, key) if ordered else raise_key(tx, key)  # type: ignore[no-any-return]


@method(ConstDictVariable, "popitem")
def popitem(tx: Tracing, self: ConstDictVariable, last: VariableTracker | None = None) -> VariableTracker:
    if last is not None and self.cls is not collections.OrderedDict:
        raise_signature(tx, self, "popitem", [last], {})
    if not len(self):
        tx.raise_(
            KeyError,
            "popitem(): dictionary is empty" if self.cls is not collections.OrderedDict else "dictionary is empty",
        )
    hashed, (key, value) = list(self.by_key.items())[-1 if last is None or tx.truth(last) else 0]
    self.remove_hashed(tx, hashed)
    return tuple_of(key, value)


@method(ConstDictVariable, "update")
def update(
    tx: Tracing, self: ConstDictVariable, other: VariableTracker | None = None, /, **named: VariableTracker
) -> VariableTracker:
    ordered = self.cls is collections.OrderedDict
    given = None if other is None else plain_dict(other.realize())
    if given is not None:
        take_all(tx, self, given)
        other = None
    for key, value in () if other is None else pairs(tx, other, _two_of if ordered else _pair_of):
        self.set(tx, key, value)
    for name, value in named.items():
        self.set(tx, tx.constant(name), value)
    return NONE


def plain_dict(tracker: VariableTracker) -> ConstDictVariable | None:
    """Return the dict whose entries `tracker` gives without calling methods of the program; None if there is none."""
    if isinstance(tracker, ConstDictVariable):
        return tracker
    part = tracker.part if isinstance(tracker, UserDefinedObjectVariable) else None
    taken = isinstance(part, ConstDictVariable) and static_lookup(tracker.python_type(), "__iter__")[1] is dict
    return part if taken else None  # type: ignore[return-value]


def take_all(tx: Tracing, self: ConstDictVariable, given: ConstDictVariable) -> None:
    """Set all entries of another dict; their keys are not hashed again."""
    for hashed, (key, value) in list(given.by_key.items()):
        self.set_hashed(tx, hashed, key, value)


Pair = tuple[VariableTracker, VariableTracker]


def _pair_of(tx: Tracing, entry: VariableTracker, number: int) -> Pair:
    """Return the key and the value in item `number` of an iterable of pairs."""
    try:
        pair = fast_sequence(tx, entry)
    except ObservedException as raised:
        if issubclass(raised.tracker.cls, TypeError):
            tx.raise_(TypeError, f"cannot convert dictionary update sequence element #{number} to a sequence")
        raise
    if len(pair) != 2:
        tx.raise_(ValueError, f"dictionary update sequence element #{number} has length {len(pair)}; 2 is required")
    return pair[0], pair[1]


def _two_of(tx: Tracing, entry: VariableTracker, number: int) -> Pair:
    """Return the same as `_pair_of`, for an OrderedDict, which takes items as an assignment to two names does."""
    iterator = tx.iterate(entry)
    taken: list[VariableTracker] = []
    while len(taken) < 3 and (item := tx.next_item(iterator)) is not None:
        taken.append(item)
    if len(taken) > 2:
        tx.raise_(ValueError, "too many values to unpack (expected 2)")
    if len(taken) < 2:
        tx.raise_(ValueError, f"need more than {len(taken)} value{'' if taken else 's'} to unpack")
    return taken[0], taken[1]


def pairs(
    tx: Tracing, other: VariableTracker, pair_of: Callable[[Tracing, VariableTracker, int], Pair] = _pair_of
) -> Iterable[Pair]:
    """Yield the (key, value) pairs that `dict(other)` takes, one after the other, since a later one may be wrong."""
    of_mapping = pairs_of_mapping(tx, other)
    return _pairs_of_sequence(tx, other, pair_of) if of_mapping is None else of_mapping


def pairs_of_mapping(tx: Tracing, other: VariableTracker) -> Iterable[Pair] | None:
    """Return the (key, value) pairs of an object with `keys`; None for anything else."""
    other = other.realize()
    given = plain_dict(other)
    if given is not None:
        return given.entries(tx)
    if isinstance(other, InstanceDictVariable):
        return other.entries(tx)
    keys = tx.find_attr(other, "keys")
    if keys is not None:
        return [(key, tx.get_item(other, key)) for key in tx.unpack(tx.call(keys, []))]
    return None


def _pairs_of_sequence(
    tx: Tracing, other: VariableTracker, pair_of: Callable[[Tracing, VariableTracker, int], Pair]
) -> Iterator[Pair]:
    iterator, number = tx.iterate(other), 0
    while (entry := tx.next_item(iterator)) is not None:
        yield pair_of(tx, entry, number)
        number += 1


@method(ConstDictVariable, "clear")
def clear(tx: Tracing, self: ConstDictVariable) -> VariableTracker:
    self.replace(tx, {})
    return NONE


@method(ConstDictVariable, "copy")
def copy(tx: Tracing, self: ConstDictVariable) -> VariableTracker:
    return self.copied()


def _view(which: str) -> Any:
    def handler(tx: Tracing, self: ConstDictVariable) -> VariableTracker:
        return DictViewVariable(self, which)

    return handler


for _which in ("keys", "values", "items"):
    method(ConstDictVariable, _which)(_view(_which))


@handles(attributes_of, ConstDictVariable)
def attributes_of_ordered(tx: Tracing, self: ConstDictVariable) -> VariableTracker:
    if self.source is None:
        return ConstDictVariable([(tx.constant(name), value) for name, value in (self.attributes or {}).items()])
    return tx.build(vars(tx.output.value_at(self.source)), AttrSource(self.source, "__dict__"))


@method(ConstDictVariable, "move_to_end")
def move_to_end(
    tx: Tracing, self: ConstDictVariable, key: VariableTracker, last: VariableTracker = ConstantVariable(True)
) -> VariableTracker:
    hashed = key_of(tx, key) if len(self) else None
    rest = dict(self.by_key)
    moved = rest.pop(hashed, None)
    if moved is None:
        return raise_ordered_key(tx, key)  # type: ignore[no-any-return]
    self.replace(tx, {**rest, hashed: moved} if tx.truth(last) else {hashed: moved, **rest})
    return NONE


@getter(ConstDictVariable, "default_factory")
def default_factory(tx: Tracing, self: ConstDictVariable) -> VariableTracker:
    return self.default_factory or NONE


@handles(collections._count_elements, UserDefinedObjectVariable, VariableTracker)  # type: ignore[attr-defined]
def count_elements(
    tx: Tracing, mapping: UserDefinedObjectVariable, iterable: VariableTracker, /
) -> VariableTracker | None:
    """Count as `Counter` does where its class overrides nothing: each element is hashed once."""
    part = mapping.part
    if not isinstance(part, ConstDictVariable) or any(
        static_lookup(mapping.python_type(), name)[1] is not dict for name in ("get", "__setitem__")
    ):
        return None
    iterator = tx.iterate(iterable)
    while (item := tx.next_item(iterator)) is not None:
        hashed = key_of(tx, item)
        counted = part.by_key.get(hashed)
        one = ConstantVariable(1)
        part.set_hashed(tx, hashed, item, one if counted is None else tx.binary("+", counted[1], one))
    return NONE
