"""Read and refill containers, bypassing methods that a subclass overrides."""

from __future__ import annotations

import collections
import gc
from typing import Any


def _kind_of(mapping: dict[Any, Any]) -> Any:
    """Return the builtin class that defines the order of the items."""
    return collections.OrderedDict if issubclass(type(mapping), collections.OrderedDict) else dict


def dict_keys(mapping: dict[Any, Any]) -> list[Any]:
    """Return the keys in order, bypassing methods that a subclass overrides."""
    return list(_kind_of(mapping).keys(mapping))


def dict_values(mapping: dict[Any, Any]) -> list[Any]:
    """Return the values in order, bypassing methods that a subclass overrides."""
    return list(_kind_of(mapping).values(mapping))


def remove_keys(mapping: dict[Any, Any], keys: list[Any]) -> None:
    """Remove the keys that are there, bypassing methods that a subclass overrides."""
    kind = _kind_of(mapping)
    for key in keys:
        if kind.__contains__(mapping, key):
            kind.__delitem__(mapping, key)


def set_entries(mapping: dict[Any, Any], entries: dict[Any, Any]) -> None:
    """Set the entries, bypassing methods that a subclass overrides. (`OrderedDict.update` calls the subclass's own
    `__setitem__`.)"""
    put = _kind_of(mapping).__setitem__
    for key, value in entries.items():
        put(mapping, key, value)


def dict_behind(mapping: Any) -> Any:
    """Return the mapping of a view of a dict, or of a `types.MappingProxyType`. (Their own methods return a copy, or
    another proxy.)"""
    (behind,) = gc.get_referents(mapping)
    return behind


def set_items(target: collections.deque[Any], items: list[Any]) -> None:
    """Replace the items of a deque that stays as long as it is."""
    for index, item in enumerate(items):
        collections.deque.__setitem__(target, index, item)
