"""Push the value of any tracker in generated code: from its source, from the graph's outputs, or by a rule."""

from __future__ import annotations

from tracer_core.codegen.emit.emitter import CannotRebuild, Emitter
from tracer_core.codegen.emit.names import OUTPUTS
from tracer_core.codegen.rebuild.registry import rule_for
from tracer_core.sources import Source
from tracer_core.variables.core.base import VariableTracker
from tracer_core.variables.core.constant import ConstantVariable, NullVariable
from tracer_core.variables.core.lazy import LazyVariableTracker
from tracer_core.variables.core.tensors import InGraphVariable
from tracer_core.variables.objects.classes import KnownVariable


def rebuild(emitter: Emitter, tracker: VariableTracker) -> None:
    """Push the value of any tracker.

    Raises:
        CannotRebuild: no code can rebuild the value.
    """
    if isinstance(tracker, LazyVariableTracker):
        if tracker.realized is not None:
            emitter.load(tracker.realized)
        else:
            emitter.load_source(_source_of(tracker))
        return
    if isinstance(tracker, InGraphVariable) and tracker in emitter.outputs:
        emitter.item(lambda: emitter.load_local(OUTPUTS), emitter.outputs[tracker])
        return
    if tracker.source is not None and not isinstance(tracker, (ConstantVariable, KnownVariable)):
        emitter.load_source(tracker.source)
        return
    rule = rule_for(type(tracker))
    if rule is None:
        raise CannotRebuild(tracker)
    if isinstance(tracker, (ConstantVariable, KnownVariable, NullVariable)):
        rule(emitter, tracker)
        return
    within = tracker in emitter.unfinished
    emitter.unfinished.add(tracker)
    rule(emitter, tracker)
    made = emitter.made_by_parts.get(tracker)
    if made is not None:
        # An object in a tuple was filled with the value that holds the tuple, and has it already.
        emitter.pop()
        emitter.where[tracker] = made
        emitter.load(tracker)
    elif tracker not in emitter.where:
        # Another place may hold the same object.
        emitter.keep(tracker)
    if within:
        emitter.made_by_parts[tracker] = emitter.where[tracker]
    else:
        emitter.unfinished.discard(tracker)


def _source_of(tracker: VariableTracker) -> Source:
    if tracker.source is None:
        raise CannotRebuild(tracker)
    return tracker.source
