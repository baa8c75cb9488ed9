"""What a body must not do: change objects that were there before it, write to its inputs, or return them.

An operator may run its body several times, later, or not at all, and then not what Python did with it while tracing.
So a body whose effects would outlive it breaks the graph. A body may change what it created itself, and may put back
what it changed.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import torch
from torch.fx import Node

from tracer_core.errors import Unsupported
from tracer_core.graph.memory import storage_of
from tracer_core.graph.subgraph import SubgraphTracer
from tracer_core.higher_order.autograd_context import AutogradContextVariable
from tracer_core.higher_order.metadata import refuse_shared
from tracer_core.higher_order.names import name_of_node, name_of_value
from tracer_core.host.global_state import PROPERTIES
from tracer_core.names.sentences import a
from tracer_core.variables.core.base import VariableTracker, constant_or
from tracer_core.variables.core.constant import LITERAL_TYPES
from tracer_core.variables.core.side_effects import SideEffects
from tracer_core.variables.core.tensors import TensorVariable
from tracer_core.variables.core.trace_state import TraceMark
from tracer_core.variables.core.tracing import Tracing


def refuse_effects(tx: Tracing, mark: TraceMark, keeps: Collection[VariableTracker] = ()) -> None:
    """Check that all but `keeps` is as it was at the mark, as far as the program can tell.

    Raises:
        Unsupported: something else was changed, drawn or called.
    """
    trace = tx.trace
    for holder, before in trace.journal.changed_since(mark.journal):
        if isinstance(holder, SideEffects):
            _refuse_calls(tx, mark, before, keeps)
        elif isinstance(holder, VariableTracker) and holder not in keeps:
            raise _changes(tx, holder)
    if len(trace.draws) > _length(trace, mark, trace.draws):
        raise Unsupported("body-changes", what="draws a random number outside torch")


def refuse_settings(tx: Tracing, mark: TraceMark, grad_mode: bool | None = None) -> None:
    """Check that torch's settings are as they were at the mark, but for the grad mode that a body runs in.

    Raises:
        Unsupported: one was left changed.
    """
    changed = _changed_setting(tx, mark, {} if grad_mode is None else {"grad_mode": grad_mode})
    if changed is not None:
        raise Unsupported("body-changes", what=f"leaves {PROPERTIES[changed].text} changed")


def _refuse_calls(tx: Tracing, mark: TraceMark, before: dict[str, Any], keeps: Collection[VariableTracker]) -> None:
    """Check that no call waits for the end of the graph, no global was written, and nothing was changed that the
    trace first met in the body."""
    effects = tx.trace.side_effects
    if "calls" in before:
        name = getattr(effects.calls[-1].function, "__name__", "a function")
        raise Unsupported("body-changes", what=f"calls {name}()")
    for key, (held, value) in effects.globals_.items() if "globals_" in before else ():
        earlier = before["globals_"].get(key)
        if not _is_put_back(value, held.get(key[1], _NOTHING) if earlier is None else earlier[1]):
            raise Unsupported("body-changes", what=f"writes the global {key[1]}")
    for tracker in effects.changed:
        if tracker not in before.get("changed", effects.changed) and mark.journal.is_new(tracker):
            if tracker not in keeps:
                raise _changes(tx, tracker)


_NOTHING = object()


def _is_put_back(value: VariableTracker | None, earlier: Any) -> bool:
    """Return whether a global has the constant, or the tracker, that it had before."""
    if value is earlier:
        return True
    now, then = (constant_or(each, each) if isinstance(each, VariableTracker) else each for each in (value, earlier))
    return type(now) is type(then) and type(now) in LITERAL_TYPES and bool(now == then)


def _changes(tx: Tracing, tracker: VariableTracker) -> Unsupported:
    if isinstance(tracker, AutogradContextVariable):
        name = f"the ctx that {tracker.function}.forward was passed"
    else:
        name = name_of_value(tx, tracker) or f"{a(tracker.python_type_name())} created before it"
    return Unsupported("body-changes", what=f"changes {name}").at(tx.trace.side_effects.changed_at.get(tracker))


def _length(trace: Any, mark: TraceMark, table: Any) -> int:
    return next(length for each, length in zip(trace._tables(), mark.lengths, strict=True) if each is table)


def _changed_setting(tx: Tracing, mark: TraceMark, given: dict[str, Any]) -> str | None:
    """Return the name of a setting of torch's that is not as it was at the mark, or as given."""
    before = tx.output.settings.start | mark.output.settings.values | given
    return next((name for name, value in before.items() if PROPERTIES[name].read() != value), None)


def writes_to(tx: Tracing, node: Node) -> Unsupported:
    """Return the reason that a body must not write to this input of it."""
    found = Unsupported("body-changes", what=f"writes to the tensor {name_of_node(node)}, which it is given")
    return found.at(tx.output.last_written_at(node.meta["example_value"]))


def written_inputs(tx: Tracing, tracer: SubgraphTracer, before: int) -> list[Node]:
    """Return the inputs of a body that it writes to; `before` is the clock of the trace's operations at its start."""

    def is_written(fake: Any) -> bool:
        return isinstance(fake, torch.Tensor) and tx.output.fakes.operations.last_write(fake) > before

    return [node for node in inputs_of(tracer) if is_written(node.meta["example_value"])]


def inputs_of(tracer: SubgraphTracer) -> list[Node]:
    """Return the placeholders of a body."""
    return [*tracer.arguments, *tracer.lifted.values()]


def refuse_aliases(tx: Tracing, tracer: SubgraphTracer, outputs: Collection[VariableTracker]) -> None:
    """Check that no output of a body shares memory with an input, or with another output; nor, for back ends that
    refuse it, two inputs with each other."""
    refuse_shared(tx, inputs_of(tracer))
    inputs = {
        storage_of(fake): name_of_node(node)
        for node in inputs_of(tracer)
        if isinstance(fake := node.meta["example_value"], torch.Tensor)
    }
    seen: set[int] = set()
    for output in outputs:
        if not isinstance(output, TensorVariable):
            continue
        storage = storage_of(output.fake)
        if output.node.graph is not tracer.graph:
            raise Unsupported("body-returns-alias", what=f"{name_of_node(output.node)}, which it is given")
        if storage in inputs:
            raise Unsupported("body-returns-alias", what=f"its input {inputs[storage]}")
        if storage in seen:
            raise Unsupported("body-returns-alias", what="another of its results")
        seen.add(storage)
