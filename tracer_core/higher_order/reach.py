"""Values that a body's caller can get at: through its result, and through what it changed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from tracer_core.variables.core.base import VariableTracker
from tracer_core.variables.core.side_effects import SideEffects
from tracer_core.variables.core.tensors import TensorVariable
from tracer_core.variables.core.trace_state import TraceMark
from tracer_core.variables.core.tracing import Tracing


def reachable(roots: Iterable[VariableTracker]) -> list[VariableTracker]:
    """Return the trackers that these lead to, each once."""
    seen: dict[VariableTracker, None] = {}
    waiting = list(roots)[::-1]
    while waiting:
        tracker = waiting.pop()
        if tracker not in seen:
            seen[tracker] = None
            waiting.extend(reversed(list(_parts(tracker))))
    return list(seen)


def _parts(tracker: VariableTracker) -> Iterator[VariableTracker]:
    yield from (part for _, part in tracker.parts())
    if isinstance(tracker, TensorVariable):
        yield from tracker.attributes.values()


def changed_since(tx: Tracing, mark: TraceMark) -> Iterator[VariableTracker]:
    """Yield what objects hold that were changed since the mark, which is the innermost one."""
    effects = tx.trace.side_effects
    for holder, before in tx.trace.journal.changed_since(mark.journal):
        if not isinstance(holder, SideEffects):
            for name in before:
                yield from _trackers_in(getattr(holder, name, None))
    yield from effects.changed
    yield from (value for _, value in effects.globals_.values() if value is not None)
    for call in effects.calls:
        yield from (*call.args, *call.kwargs.values())


def _trackers_in(value: Any) -> Iterator[VariableTracker]:
    if isinstance(value, VariableTracker):
        yield value
    elif isinstance(value, (list, tuple)):
        for each in value:
            yield from _trackers_in(each)
    elif isinstance(value, dict):
        yield from _trackers_in(list(value.values()))
