"""Check keys of dicts and sets whose `__hash__` and `__eq__` are code of the program, which has run while tracing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tracer_core.errors import Unsupported
from tracer_core.variables.core.base import VariableTracker
from tracer_core.variables.core.keys import keys_with_code


class KeysRunCode(Exception):
    """Filling a dict would run the code of its keys again, so Python must insert them: the trace ends before the root
    instruction number `root_step`."""

    def __init__(self, root_step: int, of: VariableTracker) -> None:
        super().__init__(of.describe())
        self.root_step = root_step
        self.unsupported = Unsupported("hash-user-object", cls=of.python_type_name())


def check_keys(keys: Mapping[Any, Any]) -> None:
    """Check that filling a dict or set with `keys` runs no code of the program.

    Raises:
        KeysRunCode: it would.
    """
    asking = [each for key in keys for each in keys_with_code(key)]
    if asking:
        latest = max(asking, key=lambda each: each.needed_at)
        raise KeysRunCode(latest.needed_at, latest.of)
