"""Mutations of objects that outlive the trace, in the order they first happened, for codegen to replay.

Trackers hold their own new state; this is the log of which ones must be written back. They may be written after all
that the graph does, as the graph looks at tensors alone, which are no Python objects' state. What they held before is
in the journal, as far as the trace may go back there.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tracer_core.errors import Unsupported
from tracer_core.names.where import Where
from tracer_core.variables.core.journal import Journal

if TYPE_CHECKING:
    from tracer_core.variables.core.base import VariableTracker


@dataclass(slots=True)
class ReplayedCall:
    """A call with an external effect (such as `print`), deferred until the graph has run. `moment` is when it was
    traced, by the clock of the trace's operations: the tensors that it shows must not have been written to since
    (None: they may). `root_step` is the number of the root frame's instruction that called it, `line` the user's line
    to report. `reason` is why it breaks the graph where it cannot be deferred, `result` the tracker of what it
    returns, if that is used."""

    function: Any
    args: list[VariableTracker]
    kwargs: dict[str, VariableTracker]
    moment: int | None
    root_step: int
    line: int | None
    reason: Unsupported
    result: VariableTracker | None = None


class SideEffects:
    """`changed`: trackers to write back, by kind of change. `changed_at`: where these were first changed, and those
    that a mark in the trace keeps.
    `globals_`: (id of the dict, name) -> tracker or None for deleted, with the dict itself."""

    __slots__ = ("_journal", "_on_change", "_where", "calls", "changed", "changed_at", "count", "globals_")

    def __init__(
        self,
        journal: Journal,
        on_change: Callable[[str, VariableTracker, str], None],
        where: Callable[[], Where],
    ) -> None:
        self._journal = journal
        self._on_change = on_change
        self._where = where
        self.changed_at: dict[VariableTracker, Where] = {}
        self.changed: dict[VariableTracker, str] = {}
        # How often anything that outlives the trace was changed.
        self.count = 0
        self.calls: list[ReplayedCall] = []
        self.globals_: dict[tuple[int, str], tuple[dict[str, Any], VariableTracker | None]] = {}

    def changes(self, tracker: VariableTracker, kind: str, message: str) -> None:
        """Note that `tracker` is about to be changed; `kind` says how it is written back."""
        self._journal.save(tracker)
        if tracker.source is not None:
            self._journal.save(self)
            self.count += 1
            if tracker not in self.changed:
                self.changed[tracker] = kind
                self.changed_at[tracker] = self._where()
        elif self._journal.is_kept(tracker.uid) and tracker not in self.changed_at:
            self._journal.save(self)
            self.changed_at[tracker] = self._where()
        self._on_change(kind, tracker, message)

    def store_global(self, globals_: dict[str, Any], name: str, value: VariableTracker | None) -> None:
        self._journal.save(self)
        self.count += 1
        self.globals_[id(globals_), name] = (globals_, value)
        if value is not None:
            self._on_change("global", value, f"global {name}")

    def put_off(self, call: ReplayedCall) -> None:
        """Defer the call until the graph has run."""
        self._journal.save(self)
        self.calls.append(call)

    def take_back(self, call: ReplayedCall) -> None:
        """Drop a call that was deferred."""
        self._journal.save(self)
        self.calls = [each for each in self.calls if each is not call]

    def load_global(self, globals_: dict[str, Any], name: str) -> tuple[bool, VariableTracker | None]:
        """Return whether the trace wrote this global, and its value (None: deleted)."""
        entry = self.globals_.get((id(globals_), name))
        return (False, None) if entry is None else (True, entry[1])
