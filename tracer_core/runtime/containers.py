"""Reading and refilling containers past what a subclass overrides."""

from __future__ import annotations

import array
import collections
import ctypes
import gc
from collections.abc import Iterable
from typing import Any


def _kind_of(mapping: dict[Any, Any]) -> Any:
    """The builtin class that keeps the order of its items."""
    return collections.OrderedDict if issubclass(type(mapping), collections.OrderedDict) else dict


def dict_keys(mapping: dict[Any, Any]) -> list[Any]:
    """The keys in order, past what a subclass overrides."""
    return list(_kind_of(mapping).keys(mapping))


def dict_values(mapping: dict[Any, Any]) -> list[Any]:
    """The values in order, past what a subclass overrides."""
    return list(_kind_of(mapping).values(mapping))


def dict_behind(mapping: Any) -> Any:
    """The mapping that a view of a dict, or a `types.MappingProxyType`, looks at. (Their own ways to it give a
    copy, or another proxy.)"""
    (behind,) = gc.get_referents(mapping)
    return behind


def set_items(target: collections.deque[Any], items: list[Any]) -> None:
    """Put these items in the places of those there are."""
    for index, item in enumerate(items):
        collections.deque.__setitem__(target, index, item)


def fill(real: Any, typecode: str | None, data: bytes) -> None:
    """`real[:] = ...`, of a bytearray or an array."""
    real[:] = data if typecode is None else array.array(typecode, data)


_set_item = ctypes.pythonapi["_PyDict_SetItem_KnownHash"]
_set_item.argtypes = [ctypes.py_object, ctypes.py_object, ctypes.py_object, ctypes.c_ssize_t]
_set_item.restype = ctypes.c_int


def set_known(mapping: dict[Any, Any], key: Any, value: Any, hashed: int) -> None:
    """`dict.__setitem__(mapping, key, value)` for a key whose hash is known."""
    _set_item(mapping, key, value, hashed)


def refill_dict(mapping: Any, base: Any, new: dict[Any, Any]) -> None:
    """Empty `mapping` and fill it from `new`, past what a subclass overrides; nothing is hashed again."""
    base.clear(mapping)
    base.update(mapping, new)


def refill_set(items: set[Any], new: Iterable[Any]) -> None:
    """The same for a set."""
    set.clear(items)
    set.update(items, new)
