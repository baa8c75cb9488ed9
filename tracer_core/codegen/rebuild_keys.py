"""How dicts and sets are filled again without running the hash and the comparison of their keys, which have run while
tracing: keys go in under the hash that they had then.
"""

from __future__ import annotations

import collections
import ctypes
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from tracer_core.codegen.emitter import Emitter
from tracer_core.errors import Unsupported
from tracer_core.variables.base import VariableTracker
from tracer_core.variables.keys import asked, hash_is_known

_set_item = ctypes.pythonapi["_PyDict_SetItem_KnownHash"]
_set_item.argtypes = [ctypes.py_object, ctypes.py_object, ctypes.py_object, ctypes.c_ssize_t]
_set_item.restype = ctypes.c_int


class MustAskAgain(Exception):
    """Keys with code of their own would run it again when their dict is made; Python must put them in: the trace ends
    before the root instruction number `root_step`."""

    def __init__(self, root_step: int, of: VariableTracker) -> None:
        super().__init__(of.describe())
        self.root_step = root_step
        self.unsupported = Unsupported("hash-user-object", cls=of.python_type_name())


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


def check_keys(keys: Mapping[Any, Any], ordered: bool) -> bool:
    """Whether keys must go in under their known hashes (else all of them are plain ones).

    Args:
        ordered: whether it is for an OrderedDict, which does not take hashes.

    Raises:
        MustAskAgain: they cannot.
    """
    asking = [key for key in keys if asked(key)]
    if not asking:
        return False
    # Of two keys with one hash, the second would be compared with the first.
    hashes = collections.Counter(map(hash, keys))
    for key in reversed(asking):
        if ordered or hashes[hash(key)] > 1 or not hash_is_known(key):
            latest = max(asked(key), key=lambda each: each.made_at)
            raise MustAskAgain(latest.made_at, latest.of)
    return True


def fill_dict(
    emitter: Emitter, keys: Mapping[Any, tuple[VariableTracker, VariableTracker]], push: Callable[[], None]
) -> None:
    """Put the entries into the dict that `push` pushes, all under known hashes."""
    for hashed, (key, value) in keys.items():
        emitter.run_const(
            set_known,
            push,
            lambda key=key: emitter.load(key),  # type: ignore[misc]
            lambda value=value: emitter.load(value),  # type: ignore[misc]
            lambda hashed=hashed: emitter.const(hash(hashed)),  # type: ignore[misc]
        )
