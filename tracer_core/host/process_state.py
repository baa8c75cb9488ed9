"""Save process state that tracing changes for a time, and restore it however tracing ends.

A `with` block is not enough for that: Ctrl-C, and signal handlers of the program, raise between any two calls, also
while a block of ours or of torch's is being entered or left. So each module registers here the state that it changes
outside of the trace, and how that is read and written; where tracing starts, all of it is noted, and where it ends,
put back.
"""

from __future__ import annotations

import gc
import sys
import warnings
from collections.abc import Callable
from typing import Any, TypeVar

T = TypeVar("T")

_things: list[tuple[Callable[[], Any], Callable[[Any], object]]] = []


def restore_after_tracing(read: Callable[[], T], write: Callable[[T], object]) -> None:
    """Pass the value that `read` returns when tracing starts to `write` when tracing ends."""
    _things.append((read, write))


def restore_attributes_after_tracing(owner: Any, *names: str) -> None:
    """Restore these attributes of an object, or variables of a module, when tracing ends."""

    def write(values: list[Any]) -> None:
        for name, value in zip(names, values, strict=True):
            setattr(owner, name, value)

    restore_after_tracing(lambda: [getattr(owner, name) for name in names], write)


class ProcessState:
    """The registered state, as it is now in this thread. `put_back` may be called again after an interrupted call."""

    __slots__ = ("_found",)

    def __init__(self) -> None:
        self._found = [(write, read()) for read, write in _things]

    def put_back(self) -> None:
        for write, value in self._found:
            write(value)


restore_after_tracing(sys.getrecursionlimit, sys.setrecursionlimit)
restore_after_tracing(gc.isenabled, lambda enabled: gc.enable() if enabled else gc.disable())
# (`warnings.catch_warnings` sets another list. Filters that an import adds to the same list during the trace stay.)
restore_attributes_after_tracing(warnings, "filters", "showwarning", "_showwarnmsg_impl")
