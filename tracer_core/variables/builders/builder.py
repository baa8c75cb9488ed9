"""`VariableBuilder`: build the tracker of a value that exists before the trace, by the value's type."""

from __future__ import annotations

from typing import Any

from tracer_core.errors import Unsupported
from tracer_core.guards import make
from tracer_core.sources import CellSource, Source
from tracer_core.variables.core.base import VariableTracker
from tracer_core.variables.core.lazy import LazyVariableTracker
from tracer_core.variables.core.registry import builder_for
from tracer_core.variables.core.tracing import Tracing
from tracer_core.variables.objects.class_equality import refuse_own_equality, refuse_own_lookup


class VariableBuilder:
    """Build the tracker of a value found at `source`, and guard what the tracker relies on."""

    def __init__(self, tx: Tracing) -> None:
        self.tx = tx

    def __call__(self, value: Any, source: Source) -> VariableTracker:
        if issubclass(type(value), VariableTracker):
            raise TypeError("a tracker was given where a value is wanted")
        trace = self.tx.trace
        placeholders = trace.placeholders
        if placeholders and id(value) in placeholders:
            return placeholders[id(value)][1]
        key = (id(value), source)
        known = trace.built.get(key)
        if known is not None:
            return known
        tracker = self._same_object(value, source) or self._build(value, source)
        trace.built[key] = tracker
        trace.kept_alive.append(value)
        if tracker.mutable:
            trace.trackers_by_object.setdefault(id(value), tracker)
        return tracker

    def lazy(self, value: Any, source: Source) -> VariableTracker:
        """Return a tracker that is built when an operation first needs it."""
        known = self.tx.trace.built.get((id(value), source))
        return known if known is not None else LazyVariableTracker(value, source, self._look_at)

    def _look_at(self, lazy: LazyVariableTracker) -> VariableTracker:
        self.tx.trace.realized.append(lazy)
        assert lazy.source is not None
        return self(lazy.real, lazy.source)

    def register(self, value: Any, tracker: VariableTracker) -> VariableTracker:
        """Remember the tracker of an object with identity, before its parts are built; return the tracker."""
        self.tx.trace.trackers_by_object[id(value)] = tracker
        return tracker

    def _same_object(self, value: Any, source: Source) -> VariableTracker | None:
        """Return the tracker of an object already met elsewhere: from now on both places must hold the same one."""
        known = self.tx.trace.trackers_by_object.get(id(value))
        if known is not None and known.source is not None and known.source != source:
            if isinstance(known.source, CellSource):
                raise Unsupported("unknown-object", type="cell", source=source.written)
            self.tx.guard(make.duplicate(source, known.source))
        return known

    def _build(self, value: Any, source: Source) -> VariableTracker:
        refuse_own_equality(type(value))
        refuse_own_lookup(value)
        return builder_for(value)(self, value, source)
