"""Keep the last recordings of cells: to compare a cell's next one with, and to show where a cell only reused code."""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable
from typing import Any

from tracewalk.shown import Trace

_KEPT = 8
Key = tuple[Any, ...]
"""A compiled version: its code's first line, name and source, and the version's number."""


class Recent:
    """The last recordings with steps, the newest first, each with its cell."""

    def __init__(self) -> None:
        self._kept: deque[tuple[Hashable, Trace]] = deque(maxlen=_KEPT)

    def add(self, cell: Hashable, trace: Trace) -> None:
        """Keep a recording, without its calls, which hold the program's objects."""
        if len(trace) and not trace.only_reused:
            self._kept.appendleft((cell, Trace(trace.data)))

    def before(self, cell: Hashable) -> Trace | None:
        """Return the last recording of a cell."""
        return next((trace for known, trace in self._kept if known == cell), None)

    def of_reused(self, trace: Trace) -> Trace | None:
        """Return the recording of the run that compiled the versions that `trace` reused, if it compiled nothing and
        there is one: that of the most of its calls, else the newest."""
        if not trace.only_reused:
            return None
        reused = [_key(trace, call.code, call.version) for call in trace.calls if call.outcome == "reused"]
        best, most = None, 0
        for _, kept in self._kept:
            compiled = {_key(kept, one.code, one.version) for one in kept.compilations if one.outcome == "compiled"}
            found = sum(key in compiled for key in reused)
            if found > most:
                best, most = kept, found
        return best


def _key(trace: Trace, code: int, version: int | None) -> Key:
    record = trace.codes[code]
    # (A cell that is run again has another number, which is the name of its file.)
    return record.first_line, record.qualname, record.source, version
