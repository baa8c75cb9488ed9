"""`speculate_subgraph`: trace the body of a higher-order operator into a graph of its own."""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from types import NoneType
from typing import Any

import torch

from tracer_core.errors import Unsupported
from tracer_core.graph.subgraph import SubgraphTracer
from tracer_core.higher_order.effects import (
    refuse_aliases,
    refuse_effects,
    refuse_settings,
    writes_to,
    written_inputs,
)
from tracer_core.higher_order.inputs import Inputs, automatic
from tracer_core.higher_order.structure import Structure, flatten
from tracer_core.names.code import short
from tracer_core.names.where import Where
from tracer_core.variables.core.base import Kwargs, NotConstant, VariableTracker, constant_or
from tracer_core.variables.core.tensors import InGraphVariable
from tracer_core.variables.core.tracing import ObservedException, Tracing


@dataclass(frozen=True, slots=True)
class Rules:
    """Requirements of an operator on a body: how its arguments become inputs; whether it may write to these, and
    return what shares memory with them; the objects that it may change; its grad mode, None for the one at the call;
    whether it runs once, where the operator is called: then it may have any side effects, and its exceptions are
    raised there; and whether its arguments lie in memory as they do while tracing, so that it may read how."""

    inputs: Inputs = automatic
    writes: bool = True
    aliases: bool = True
    keeps: Collection[VariableTracker] = ()
    grad_mode: bool | None = None
    once: bool = False
    strides: bool = True


@dataclass(frozen=True, slots=True)
class Body:
    """A function that was traced into a graph of its own: the graph, what the function returned, its leaves, how they
    are put together, the inputs it writes to, and the line at which it returned. The graph is open until `close` is
    called, and may take further results until then."""

    tracer: SubgraphTracer
    name: str
    result: VariableTracker
    leaves: list[VariableTracker]
    structure: Structure
    written: list[torch.fx.Node]
    returned: Where

    @property
    def function(self) -> str:
        """The function as messages name it."""
        return short(self.name)

    @property
    def computed(self) -> list[InGraphVariable]:
        """The leaves that the body's own graph computes, each once."""
        own = [leaf for leaf in self.leaves if isinstance(leaf, InGraphVariable) and self._is_inside(leaf.node)]
        return list(dict.fromkeys(own))

    def _is_inside(self, node: torch.fx.Node) -> bool:
        return node.graph is self.tracer.graph

    def nodes(self, constants: tuple[type, ...] = (bool, int, float, complex, NoneType)) -> list[Any]:
        """Return a node of the body's graph, or a constant of these types, for each leaf; nodes of graphs around it
        are lifted.

        Raises:
            Unsupported: a leaf cannot be in a graph.
        """
        return [self._node(leaf, constants) for leaf in self.leaves]

    def _node(self, leaf: VariableTracker, constants: tuple[type, ...]) -> Any:
        if isinstance(leaf, InGraphVariable):
            return self.tracer.lift(leaf.node)
        value = constant_or(leaf, leaf)
        if type(value) not in constants:
            raise self.refused(leaf.python_type_name())
        return value

    def refused(self, kind: str) -> Unsupported:
        """Return why it may not return something of this kind."""
        operator = self.tracer.operator
        return Unsupported("body-result", operator=operator, function=self.function, type=kind).at(self.returned)

    def close(self, results: Sequence[Any] | torch.fx.Node | None) -> torch.fx.GraphModule:
        """Give the graph its results, and return it as a module."""
        self.tracer.close(results)
        module = self.tracer.module()
        module.graph.lint()
        return module


def speculate_subgraph(
    tx: Tracing,
    operator: str,
    function: VariableTracker,
    args: Sequence[VariableTracker],
    kwargs: Kwargs | None = None,
    rules: Rules = Rules(),
    tracer: SubgraphTracer | None = None,
    name: str = "",
) -> Body:
    """Trace `function(*args, **kwargs)` into a graph of its own.

    Should that fail, the trace is as it was before: graphs, guards, effects, symbols and names.

    Args:
        operator: the name of the operator that calls the function, as people write it.
        rules: the requirements on the body.
        tracer: builds the graph, where it is not a new one: its parent must be the tracer at work.
        name: the function as people know it, where `function` is one of ours that calls it.

    Raises:
        Unsupported: the function cannot be traced whole, or does what the rules forbid. It names operator and
            function.
        ObservedException: it raises, and runs once.
    """
    mark = tx.trace.mark()
    before, asked = tx.output.fakes.operations.clock, tx.output.stride_questions
    name = name or name_of_body(function)
    returned: Where | None = None
    tx.returned = None
    enter = tx.output.subtracer(operator, name) if tracer is None else tx.output.inside(tracer)
    try:
        with enter as inner, _grad_mode(rules.grad_mode):
            result = tx.call(function, rules.inputs(tx, inner, args), kwargs).realize()
            returned = tx.where_returned()
            leaves, structure = flatten(tx, result)
            if not rules.strides and tx.output.stride_questions > asked:
                raise Unsupported("body-reads-strides")
            if not rules.once:
                refuse_effects(tx, mark, rules.keeps)
            refuse_settings(tx, mark, rules.grad_mode)
            written = written_inputs(tx, inner, before)
            if written and not rules.writes:
                raise writes_to(tx, written[0])
            if not rules.aliases:
                refuse_aliases(tx, inner, leaves)
    except (Unsupported, NotConstant, ObservedException) as error:
        where = tx.where_raised(error.tracker) if isinstance(error, ObservedException) else returned
        tx.trace.roll_back(mark)
        if rules.once and isinstance(error, ObservedException):
            raise
        raise _of_body(error, operator, short(name)).at(where) from error
    except BaseException:
        tx.trace.roll_back(mark)
        raise
    tx.trace.keep(mark)
    return Body(inner, name, result, leaves, structure, written, returned)


def _grad_mode(enabled: bool | None) -> contextlib.AbstractContextManager[Any]:
    return contextlib.nullcontext() if enabled is None else torch.set_grad_enabled(enabled)


def name_of_body(function: VariableTracker) -> str:
    """Return a body's function as people know it."""
    return function.realize().describe().removeprefix("torch ").removeprefix("function ")


def _of_body(error: Exception, operator: str, name: str) -> Unsupported:
    """Say of what breaks inside a body that it is there."""
    if isinstance(error, ObservedException):
        why = f"it raises {error.tracker.describe()}"
    elif isinstance(error, NotConstant):
        why = f"a value must be known while tracing ({error})"
    else:
        assert isinstance(error, Unsupported)
        if error.reason_id == "body-breaks":
            inner = str(error.details["function"])
            start = f"{inner.removesuffix(')')}, " if inner.endswith(")") else f"{inner} ("
            return _again(error, **{**error.details, "function": f"{start}in {name} of {operator})"})
        why = error.message[:1].lower() + error.message[1:].removesuffix(".")
    found = Unsupported("body-breaks", operator=operator, function=name, why=why)
    if isinstance(error, Unsupported):
        found.frame, found.where, found.inner = error.frame, error.where, error
    return found


def _again(error: Unsupported, **details: Any) -> Unsupported:
    """Return the same with other details."""
    found = Unsupported("body-breaks", **details)
    found.frame, found.where, found.inner = error.frame, error.where, error.inner
    return found
