"""Dicts and sets, their keys and views."""

from __future__ import annotations

import collections
import types
from collections.abc import Iterable, Mapping
from typing import Any

from tracer_core.errors import Unsupported
from tracer_core.guards import make
from tracer_core.sources import AttrSource, Source
from tracer_core.variables.containers.sequences import tuple_of
from tracer_core.variables.core.base import ByIdentity, ByParts, NotConstant, VariableTracker
from tracer_core.variables.core.constant import DELETED
from tracer_core.variables.core.keys import KeyWithCode, key_of
from tracer_core.variables.core.tracing import Tracing


class ConstDictVariable(VariableTracker):
    """A dict of any of the standard kinds: `cls` is dict, OrderedDict or defaultdict. `attributes` are those that the
    trace set on an OrderedDict of its own, None before the first."""

    __slots__ = ("_before", "_entries", "attributes", "cls", "default_factory", "reshaped", "written")
    kind = "dict"
    mutable = True

    def __init__(
        self,
        entries: Iterable[tuple[VariableTracker, VariableTracker]] = (),
        cls: type = dict,
        source: Source | None = None,
        default_factory: VariableTracker | None = None,
    ) -> None:
        super().__init__(source)
        self.cls = cls
        self.default_factory = default_factory
        self.attributes: dict[str, VariableTracker] | None = None
        # How often keys were added or removed, and how often anything was written: iterators compare these.
        self.reshaped = self.written = 0
        self._entries: dict[Any, tuple[VariableTracker, VariableTracker]] = {
            key_of(None, key): (key, value) for key, value in entries
        }
        # The entries before the first change, if the dict outlives the trace.
        self._before: dict[Any, tuple[VariableTracker, VariableTracker]] | None = None

    def copied(self) -> ConstDictVariable:
        """Return another dict of the same kind with the same entries; nothing is hashed again."""
        made = ConstDictVariable(cls=self.cls, default_factory=self.default_factory)
        made._entries = dict(self._entries)
        return made

    def python_type(self) -> type:
        return self.cls

    def describe(self) -> str:
        return f"{self.python_type_name()} of {len(self._entries)}"

    def parts(self) -> list[tuple[str, VariableTracker]]:
        return [(f"[{key.describe()}]", value) for key, value in self._entries.values()]

    @property
    def by_key(self) -> Mapping[Any, tuple[VariableTracker, VariableTracker]]:
        return self._entries

    def entries(self, tx: Tracing | None) -> list[tuple[VariableTracker, VariableTracker]]:
        return list(self._entries.values())

    def keys(self) -> list[VariableTracker]:
        return [key for key, _ in self._entries.values()]

    def get(self, tx: Tracing, key: VariableTracker) -> VariableTracker | None:
        entry = self._entries.get(key_of(tx, key))
        return None if entry is None else entry[1]

    def set(self, tx: Tracing, key: VariableTracker, value: VariableTracker) -> None:
        self.set_hashed(tx, key_of(tx, key), key, value)

    def set_hashed(self, tx: Tracing, hashed: Any, key: VariableTracker, value: VariableTracker) -> None:
        """Set an item whose key has been hashed already."""
        self._about_to_change(tx, "an item is set")
        old = self._entries.get(hashed)
        self.written += 1
        self.reshaped += old is None
        self._entries[hashed] = (key if old is None else old[0], value)

    def remove(self, tx: Tracing, key: VariableTracker) -> VariableTracker | None:
        """Remove the entry and return its value; None if there is none."""
        return self.remove_hashed(tx, key_of(tx, key))

    def remove_hashed(self, tx: Tracing, hashed: Any) -> VariableTracker | None:
        if hashed not in self._entries:
            return None
        self._about_to_change(tx, "an item is removed")
        self.reshaped += 1
        return self._entries.pop(hashed)[1]

    def replace(self, tx: Tracing, entries: Mapping[Any, tuple[VariableTracker, VariableTracker]]) -> None:
        """Replace the entries by these, under their known keys."""
        self._about_to_change(tx, "items are replaced")
        self.reshaped += 1
        self._entries = dict(entries)

    def _about_to_change(self, tx: Tracing, message: str) -> None:
        tx.trace.side_effects.changes(self, "dict", message)
        if self._before is None and self.source is not None:
            self._before = dict(self._entries)

    def difference(self) -> tuple[bool, list[VariableTracker], list[tuple[VariableTracker, VariableTracker]]]:
        """Return how the dict as it was before the trace gets the entries of now, in their order: whether to empty it
        first, which keys to remove, and which entries to set then."""
        before, now = self._before or {}, self._entries
        kept = [hashed for hashed, (key, _) in before.items() if hashed in now and now[hashed][0] is key]
        if kept != list(now)[: len(kept)]:
            return True, [], list(now.values())
        stay = {hashed for hashed in kept if now[hashed][1] is before[hashed][1]}
        removed = [key for hashed, (key, _) in before.items() if hashed not in now or now[hashed][0] is not key]
        return False, removed, [entry for hashed, entry in now.items() if hashed not in stay]

    def __len__(self) -> int:
        return len(self._entries)

    def value(self) -> Any:
        if self.cls not in (dict, collections.OrderedDict):
            raise NotConstant(self.describe())
        return self.cls((key.realize().value(), value.realize().value()) for key, value in self._entries.values())

    def truth(self, tx: Tracing) -> bool:
        return bool(self._entries)

    def items_or_none(self, tx: Tracing) -> list[VariableTracker] | None:
        return self.keys()

    def attribute(self, tx: Tracing, name: str) -> VariableTracker | None:
        if self.cls is not collections.OrderedDict or hasattr(self.cls, name):
            if name == "__dict__" and self.cls is collections.OrderedDict:
                raise Unsupported("attribute", name=name, type="OrderedDict")
            return None
        if self.source is None:
            return (self.attributes or {}).get(name)
        real = tx.output.value_at(self.source)
        if name in vars(real):
            return tx.build(vars(real)[name], AttrSource(self.source, name))
        tx.guard(make.lacks_attr(self.source, name))
        return None

    def set_attribute(self, tx: Tracing, name: str, value: VariableTracker) -> bool:
        """Set an attribute of an OrderedDict, the only dict that has any; on an external one it breaks the graph."""
        if self.cls is not collections.OrderedDict or self.source is not None or hasattr(self.cls, name):
            return False
        if value is DELETED and name not in (self.attributes or {}):
            return bool(tx.raise_(AttributeError, f"'collections.OrderedDict' object has no attribute {name!r}"))
        tx.trace.side_effects.changes(self, "dict", f"its attribute {name} is set")
        self.attributes = {**(self.attributes or {}), name: value}
        if value is DELETED:
            del self.attributes[name]
        return True


class MappingProxyVariable(VariableTracker):
    """A `types.MappingProxyType` over a dict."""

    __slots__ = ("of",)
    kind = "read-only dict"

    def __init__(self, of: ConstDictVariable, source: Source | None = None) -> None:
        super().__init__(source)
        self.of = of

    def python_type(self) -> type:
        return types.MappingProxyType

    def truth(self, tx: Tracing) -> bool:
        return self.of.truth(tx)

    def items_or_none(self, tx: Tracing) -> list[VariableTracker] | None:
        return self.of.keys()


class DictViewVariable(VariableTracker):
    """`d.keys()`, `d.values()` or `d.items()`: reads the dict as it is now."""

    __slots__ = ("of", "which")
    kind = "dict view"

    def __init__(self, of: ConstDictVariable, which: str, source: Source | None = None) -> None:
        super().__init__(source)
        self.of = of
        self.which = which

    def python_type(self) -> type:
        return type(getattr(self.of.cls(), self.which)())

    def describe(self) -> str:
        return f"{self.which} of a {self.of.describe()}"

    def truth(self, tx: Tracing) -> bool:
        return self.of.truth(tx)

    def items_or_none(self, tx: Tracing) -> list[VariableTracker]:
        if self.which == "keys":
            return self.of.keys()
        if self.which == "values":
            return [value for _, value in self.of.entries(tx)]
        return [tuple_of(key, value) for key, value in self.of.entries(tx)]


class SetVariable(VariableTracker):
    """A set or frozenset. Its iteration order is that of `real`, a real set of the same values that was built by the
    same steps; None if it is external or holds other than plain values."""

    __slots__ = ("_before", "_items", "cls", "real", "reshaped")
    kind = "set"

    def __init__(self, items: Iterable[VariableTracker] = (), cls: type = set, source: Source | None = None) -> None:
        super().__init__(source)
        self.cls = cls
        self.reshaped = 0
        self._items: dict[Any, VariableTracker] = {}
        self.real: set[Any] | None = set() if source is None else None
        # The items before the first change, if the set outlives the trace.
        self._before: dict[Any, VariableTracker] | None = None
        for item in items:
            self._items.setdefault(key_of(None, item), item)
            self._add_real(item)

    def _add_real(self, item: VariableTracker) -> None:
        known = None if self.real is None else plain_values([item])
        if self.real is not None and known is not None:
            self.real.add(known[0])
        else:
            self.real = None

    @classmethod
    def hashing(cls, tx: Tracing, items: Iterable[VariableTracker]) -> SetVariable:
        """Return the set that `set(items)` creates; raises TypeError in the program where one has no hash."""
        made = cls()
        for item in items:
            made._items.setdefault(key_of(tx, item), item)
            made._add_real(item)
        return made

    def having(
        self, items: Mapping[Any, VariableTracker], cls: type | None = None, real: set[Any] | None = None
    ) -> SetVariable:
        """Return another set, of this one's kind or `cls`, with items under their known keys; nothing is hashed
        again."""
        made = SetVariable(cls=cls or self.cls)
        made._items = dict(items)
        made.real = real
        return made

    @property
    def by_key(self) -> Mapping[Any, VariableTracker]:
        return self._items

    @property
    def mutable(self) -> bool:  # type: ignore[override]
        return self.cls is set

    def python_type(self) -> type:
        return self.cls

    def describe(self) -> str:
        return f"{self.python_type_name()} of {len(self._items)}"

    def parts(self) -> list[tuple[str, VariableTracker]]:
        return [(item.describe(), item) for item in self._items.values()]

    def keys(self) -> list[VariableTracker]:
        return list(self._items.values())

    def has(self, tx: Tracing, item: VariableTracker) -> bool:
        return self._looked_for(tx, item) in self._items

    def _looked_for(self, tx: Tracing, item: VariableTracker) -> Any:
        """Return the key of an item that is looked up: a set is looked up as the frozenset that it equals."""
        item = item.realize()
        return item.key(tx) if isinstance(item, SetVariable) else key_of(tx, item)

    def changes(self, tx: Tracing, how: str) -> None:
        """Note that its items are about to change."""
        self.refuse_if_kept(tx)
        tx.trace.side_effects.changes(self, "set", how)
        if self._before is None and self.source is not None:
            self._before = dict(self._items)

    def difference(self) -> tuple[list[VariableTracker], list[VariableTracker]]:
        """Return which items to remove from the set as it was before the trace, and which to add then."""
        before = self._before or {}
        removed = [item for hashed, item in before.items() if self._items.get(hashed) is not item]
        return removed, [item for hashed, item in self._items.items() if before.get(hashed) is not item]

    def refuse_if_kept(self, tx: Tracing) -> None:
        """Check that `real` may be changed.

        Raises:
            Unsupported: it may have to be put back as it was, and the order of its items cannot be.
        """
        if self.real is not None and tx.trace.journal.is_kept(self.uid):
            raise Unsupported("set-kept", what=self.describe())

    def add(self, tx: Tracing, item: VariableTracker) -> None:
        hashed = key_of(tx, item)
        self.changes(tx, "an item is added")
        self.reshaped += hashed not in self._items
        self._items.setdefault(hashed, item)
        self._add_real(item)

    def remove(self, tx: Tracing, item: VariableTracker) -> bool:
        hashed = self._looked_for(tx, item)
        if hashed not in self._items:
            return False
        self.changes(tx, "an item is removed")
        self.reshaped += 1
        gone = self._items.pop(hashed)
        if self.real is not None:
            self.real.discard(gone.realize().value())
        return True

    def replace(self, tx: Tracing, items: Mapping[Any, VariableTracker], real: set[Any] | None = None) -> None:
        """Replace the items by these, under their known keys."""
        self.changes(tx, "items are replaced")
        self.reshaped += 1
        self._items = dict(items)
        self.real = real

    def __len__(self) -> int:
        return len(self._items)

    def value(self) -> Any:
        return self.cls(item.realize().value() for item in self._items.values())

    def key(self, tx: Tracing | None) -> Any:
        return frozenset(self._items)

    def truth(self, tx: Tracing) -> bool:
        return bool(self._items)

    def items_or_none(self, tx: Tracing) -> list[VariableTracker]:
        """Return the items in the order in which plain Python iterates.

        Raises:
            Unsupported: that order depends on addresses of objects, or on how Python has stored an external set.
        """
        if len(self._items) <= 1:
            return self.keys()
        if self.source is not None:
            if self in tx.trace.side_effects.changed:
                raise Unsupported("set-changed", what=self.describe())
            return self.keys()
        if any(isinstance(key, KeyWithCode) for key in self._items):
            return self._by_hash()
        try:
            by_value = {item.realize().value(): item for item in self._items.values()}
        except NotConstant:
            raise Unsupported("set-order", what=self.describe()) from None
        return [by_value[value] for value in (self.cls(by_value) if self.real is None else self.real)]

    def _by_hash(self) -> list[VariableTracker]:
        """Return the order that the keys' hashes imply, if no two are equal (comparing would run code again)."""
        hashes = {hash(key) for key in self._items}
        if len(hashes) < len(self._items) or any(isinstance(key, (ByIdentity, ByParts)) for key in self._items):
            raise Unsupported("set-order", what=self.describe())
        return [self._items[key] for key in self.cls(self._items)]


_PLAIN = (bool, int, float, complex, str, bytes, type(None))


def plain_values(items: Iterable[VariableTracker]) -> list[Any] | None:
    """Return the values of the items, if all are numbers, strings and tuples of such; else None."""
    values = []
    for item in items:
        try:
            value = item.realize().value()
        except NotConstant:
            return None
        if not _is_plain(value):
            return None
        values.append(value)
    return values


def _is_plain(value: Any) -> bool:
    return type(value) in _PLAIN or (type(value) is tuple and all(map(_is_plain, value)))
