"""Guards on the contents of a container or an object: keys, attributes, contents of cells."""

from __future__ import annotations

import operator
import weakref
from collections.abc import Hashable, Iterable, Sequence
from typing import Any

from tracer_core.guards.constants import constant_key, is_constant, same_constant
from tracer_core.guards.describe import describe
from tracer_core.guards.guard import Const, Kind, kind
from tracer_core.guards.held import Held
from tracer_core.runtime.containers import dict_keys

SHOWN_KEYS = 6


def hold_key(key: Any) -> Any:
    """Return a dict's key as a guard stores it: a constant itself, anything else in a `Held`."""
    return key if is_constant(key) else Held(key, describe(key))


def _same_key(seen: Any, expected: Any) -> bool:
    return expected.is_(seen) if type(expected) is Held else same_constant(seen, expected)


def _same_keys(seen: Iterable[Any], expected: tuple[Any, ...]) -> bool:
    return all(map(_same_key, seen, expected))


def _key_of_key(key: Any) -> Hashable:
    return key if type(key) is Held else constant_key(key)


def _keys_text(keys: Sequence[Any]) -> str:
    shown = ", ".join(
        repr(key) if is_constant(key) or type(key) is Held else describe(key) for key in keys[:SHOWN_KEYS]
    )
    more = f", ... ({len(keys)} in all)" if len(keys) > SHOWN_KEYS else ""
    return f"[{shown}{more}]"


@kind("DICT_KEYS", rank=4)
class DictKeys(Kind):
    """The keys of a dict, in order: `expected` is a tuple of results of `hold_key`."""

    verbs = ("had", "has")

    def key(self, expected: tuple[Any, ...]) -> Hashable:
        return tuple(map(_key_of_key, expected))

    def mortals(self, expected: tuple[Any, ...]) -> Sequence[weakref.ref[Any]]:
        return [ref for key in expected if type(key) is Held for ref in key.mortals]

    def holds(self, value: Any, expected: tuple[Any, ...]) -> bool:
        return len(value) == len(expected) and _same_keys(dict_keys(value), expected)

    def condition(self, value: str, expected: tuple[Any, ...], const: Const) -> str:
        if not expected:
            return f"not len({value})"
        keys = const(expected)
        same_objects = f"type({value}) is dict and all(map({const(operator.is_)}, {value}, {keys}))"
        return f"len({value}) == {len(expected)} and ({same_objects} or {const(self.holds)}({value}, {keys}))"

    def text(self, name: str, expected: tuple[Any, ...]) -> str:
        return f"list({name}) == {_keys_text(expected)}"

    def expected_text(self, expected: tuple[Any, ...]) -> str:
        return f"the keys {_keys_text(expected)}" if expected else "no keys"

    def seen_text(self, value: Any, expected: tuple[Any, ...]) -> str:
        if not isinstance(value, dict):
            return "no keys at all"
        seen = self.expected_text(tuple(dict_keys(value)))
        return seen if seen != self.expected_text(expected) else f"other keys, {seen.removeprefix('the keys ')}"

    def advice(self, name: str, expected: tuple[Any, ...], value: Any) -> str:
        return f"fill {name} with the same keys in the same order at each call"


@kind("SET_ITEMS", rank=4)
class SetItems(Kind):
    """The items of a set, in the order it iterates: `expected` is a tuple of constants."""

    verbs = ("had", "has")

    def key(self, expected: tuple[Any, ...]) -> Hashable:
        return tuple(map(constant_key, expected))

    def holds(self, value: Any, expected: tuple[Any, ...]) -> bool:
        return len(value) == len(expected) and all(map(same_constant, value, expected))

    def text(self, name: str, expected: tuple[Any, ...]) -> str:
        return f"list({name}) == {_keys_text(expected)}"

    def expected_text(self, expected: tuple[Any, ...]) -> str:
        return f"the items {_keys_text(expected)}" if expected else "no items"

    def seen_text(self, value: Any, expected: tuple[Any, ...]) -> str:
        return self.expected_text(tuple(value))

    def advice(self, name: str, expected: tuple[Any, ...], value: Any) -> str:
        return f"keep the items of {name} the same"


@kind("DICT_CONTAINS", rank=3)
class DictContains(Kind):
    """A key is there: `expected` is the result of `hold_key`."""

    verbs = ("had", "has")

    inside = True

    def key(self, expected: Any) -> Hashable:
        return _key_of_key(expected)

    def mortals(self, expected: Any) -> Sequence[weakref.ref[Any]]:
        return expected.mortals if type(expected) is Held else ()

    def holds(self, value: Any, expected: Any) -> bool:
        return ((expected.get() if type(expected) is Held else expected) in value) is self.inside

    def condition(self, value: str, expected: Any, const: Const) -> str:
        if type(expected) is not Held:
            key = repr(expected) if type(expected) in (int, str, bool) else const(expected)
        else:
            key = const(expected.value) if expected.ref is None else f"{const(expected.ref)}()"
        return (
            f"{const(operator.contains)}({value}, {key})"
            if self.inside
            else (f"not {const(operator.contains)}({value}, {key})")
        )

    def text(self, name: str, expected: Any) -> str:
        return f"{expected!r} {'in' if self.inside else 'not in'} {name}"

    def expected_text(self, expected: Any) -> str:
        return f"{expected!r} in it" if self.inside else f"no {expected!r} in it"

    def seen_text(self, value: Any, expected: Any) -> str:
        return f"no {expected!r} in it" if self.inside else f"{expected!r} in it"

    def advice(self, name: str, expected: Any, value: Any) -> str:
        return f"{'keep' if self.inside else 'do not put'} {expected!r} in {name}"


@kind("DICT_LACKS", rank=3)
class DictLacks(DictContains):
    """A key is not there: `expected` is the result of `hold_key`."""

    inside = False


@kind("LACKS_ATTR", rank=4)
class LacksAttr(Kind):
    """`not hasattr(value, expected)`."""

    verbs = ("had", "has")

    def holds(self, value: Any, expected: str) -> bool:
        return not hasattr(value, expected)

    def condition(self, value: str, expected: str, const: Const) -> str:
        return self.text(value, expected)

    def text(self, name: str, expected: str) -> str:
        return f"not hasattr({name}, {expected!r})"

    def expected_text(self, expected: str) -> str:
        return f"no attribute {expected!r}"

    def seen_text(self, value: Any, expected: str) -> str:
        return f"an attribute {expected!r}"

    def advice(self, name: str, expected: str, value: Any) -> str:
        return f"set or leave out {expected!r} of {name} once, before the first call"


def is_filled(cell: Any) -> bool:
    """Return whether a cell is not empty."""
    try:
        cell.cell_contents  # noqa: B018
    except ValueError:
        return False
    return True


@kind("EMPTY_CELL", rank=2)
class EmptyCell(Kind):
    """A cell object is empty."""

    def holds(self, value: Any, expected: None) -> bool:
        return not is_filled(value)

    def condition(self, value: str, expected: None, const: Const) -> str:
        return f"not {const(is_filled)}({value})"

    def text(self, name: str, expected: None) -> str:
        return f"{name} is an empty cell"

    def expected_text(self, expected: None) -> str:
        return "an empty cell"

    def seen_text(self, value: Any, expected: None) -> str:
        return "a filled cell"

    def advice(self, name: str, expected: None, value: Any) -> str:
        return "assign the variable that the closure reads before the function is called"
