"""Guard that objects which the trace treated as distinct are distinct: a mutation of one must not change another."""

from __future__ import annotations

from types import CellType

from tracer_core.errors import Unsupported
from tracer_core.graph.fake_copy import base_of
from tracer_core.graph.output import OutputGraph
from tracer_core.guards import make
from tracer_core.sources import ById, ConvertedSource
from tracer_core.variables.core.trace_state import TraceState
from tracer_core.variables.functions.cells import CellVariable
from tracer_core.variables.iterators.external import ExternalIterator


def guard_distinct(trace: TraceState) -> None:
    """Guard that mutated objects, and others of their type, are distinct objects in the next call too; so must be
    those that were looked up by identity."""
    # (Cells cannot be guarded; a frame's own are distinct by construction.)
    changed = {tracker.python_type() for tracker in trace.side_effects.changed} - {CellType}
    known = [t for t in dict.fromkeys(trace.trackers_by_object.values()) if t.mutable]
    for cls in changed:
        sources = [t.source for t in known if t.source is not None and t.python_type() is cls]
        if len(sources) > 1:
            first = next(t for t in trace.side_effects.changed if t.python_type() is cls)
            at = trace.side_effects.changed_at[first]
            trace.output.guard(make.not_duplicate(sources).installed_at(at))
    for table, where in trace.identity_tables:
        for sources in table.distinct_sources():
            if len(sources) > 1:
                trace.output.guard(make.not_duplicate(sources).installed_at(where))
    moved = [t for t in trace.side_effects.changed if isinstance(t, ExternalIterator)]
    for iterator in moved:
        _guard_apart(trace, iterator)


def _guard_apart(trace: TraceState, iterator: ExternalIterator) -> None:
    """Guard that an iterator that advanced shares nothing with others, nor with a container that was mutated."""
    others = []
    for other in trace.side_effects.changed:
        if other.source is None or other is iterator or isinstance(other, CellVariable):
            continue
        if isinstance(other, ExternalIterator):
            others.append(other.source)
        elif not iterator.looks_into(trace.real_value(other)):
            others.append(other.source)
    if others:
        at = trace.side_effects.changed_at[iterator]
        trace.output.guard(make.apart(iterator.at, others).installed_at(at))


def history_that_spreads(output: OutputGraph) -> Unsupported | None:
    """Return the reason to break if a write in place gives an input a history that may spread to another input, as
    both are views of one tensor. If they are not, guard that."""
    inputs = [tracked for tracked in output.fakes.inputs.values() if not tracked.requires_grad]
    if len(inputs) < 2 or not any(tracked.fake.requires_grad for tracked in inputs):
        return None
    sources = [tracked.source for tracked in inputs]
    if len({id(base_of(output.value_at(source))) for source in sources}) < len(sources):
        return Unsupported("shared-history")
    output.guard(make.not_duplicate([ConvertedSource(each, ById(base_of), "the base of") for each in sources]))
    return None
