"""Reading and refilling containers past what a subclass overrides."""

from __future__ import annotations

import collections
import gc
from typing import Any


def _kind_of(mapping: dict[Any, Any]) -> Any:
    """Return the builtin class that keeps the order of its items."""
    return collections.OrderedDict if issubclass(type(mapping), collections.OrderedDict) else dict


def dict_keys(mapping: dict[Any, Any]) -> list[Any]:
    """Return the keys in order, past what a subclass overrides."""
    return list(_kind_of(mapping).keys(mapping))


def dict_values(mapping: dict[Any, Any]) -> list[Any]:
    """Return the values in order, past what a subclass overrides."""
    return list(_kind_of(mapping).values(mapping))


def dict_behind(mapping: Any) -> Any:
    """Return the mapping that a view of a dict, or a `types.MappingProxyType`, looks at. (Their own ways to it give a
    copy, or another proxy.)"""
    (behind,) = gc.get_referents(mapping)
    return behind


def set_items(target: collections.deque[Any], items: list[Any]) -> None:
    """Put these items in the places of those there are."""
    for index, item in enumerate(items):
        collections.deque.__setitem__(target, index, item)
