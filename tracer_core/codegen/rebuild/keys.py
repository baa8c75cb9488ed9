"""How dicts and sets are filled again without running the hash and the comparison of their keys, which have run while
tracing: keys go in under the hash that they had then.
"""

from __future__ import annotations

import collections
from collections.abc import Callable, Mapping
from typing import Any

from tracer_core.codegen.emit.emitter import Emitter
from tracer_core.errors import Unsupported
from tracer_core.runtime.containers import set_known
from tracer_core.variables.base import VariableTracker
from tracer_core.variables.keys import asked, hash_is_known


class MustAskAgain(Exception):
    """Keys with code of their own would run it again when their dict is made; Python must put them in: the trace ends
    before the root instruction number `root_step`."""

    def __init__(self, root_step: int, of: VariableTracker) -> None:
        super().__init__(of.describe())
        self.root_step = root_step
        self.unsupported = Unsupported("hash-user-object", cls=of.python_type_name())


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
