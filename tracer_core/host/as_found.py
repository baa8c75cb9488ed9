"""Process state that tracing changes for a time, restored however tracing ends.

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


def put_back_after(read: Callable[[], T], write: Callable[[T], object]) -> None:
    """The value of `read` when tracing starts is passed to `write` when it ends, changed or not."""
    _things.append((read, write))


def put_back_attributes(owner: Any, *names: str) -> None:
    """The same for these attributes of an object, or variables of a module."""

    def write(values: list[Any]) -> None:
        for name, value in zip(names, values, strict=True):
            setattr(owner, name, value)

    put_back_after(lambda: [getattr(owner, name) for name in names], write)


class AsFound:
    """All of it as it is now, in this thread. `put_back` may be called again, where a call was interrupted."""

    __slots__ = ("_found",)

    def __init__(self) -> None:
        self._found = [(write, read()) for read, write in _things]

    def put_back(self) -> None:
        for write, value in self._found:
            write(value)


put_back_after(sys.getrecursionlimit, sys.setrecursionlimit)
put_back_after(gc.isenabled, lambda enabled: gc.enable() if enabled else gc.disable())
# (`warnings.catch_warnings` sets another list. Filters that an import adds to the same list during the trace stay.)
put_back_attributes(warnings, "filters", "showwarning", "_showwarnmsg_impl")
