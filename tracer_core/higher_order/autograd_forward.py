"""Trace forward of a `torch.autograd.Function`, and check what it gives and tells its context."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tracer_core.errors import Unsupported
from tracer_core.graph.defaults import is_fractional
from tracer_core.higher_order.autograd_call import Call, is_none, of_ours
from tracer_core.higher_order.autograd_context import AutogradContextVariable
from tracer_core.higher_order.reach import changed_since, reachable
from tracer_core.higher_order.speculate import Body, Rules, speculate_subgraph
from tracer_core.polyfills import autograd as polyfill
from tracer_core.variables.containers.sequences import TupleVariable
from tracer_core.variables.core.base import VariableTracker
from tracer_core.variables.core.registry import handles
from tracer_core.variables.core.tensors import InGraphVariable, TensorVariable
from tracer_core.variables.core.trace_state import TraceMark
from tracer_core.variables.core.tracing import Tracing


class NotDifferentiable(Exception):
    """Forward returned nothing that has a gradient."""


@dataclass(frozen=True, slots=True)
class Results:
    """`items` are what forward returned, as autograd counts it; `leaves` the values that its graph gives: tensors
    among the items, and what else the program can get at. Those are not differentiated."""

    items: list[VariableTracker]
    leaves: list[InGraphVariable]
    dirty: list[VariableTracker]
    not_differentiable: list[VariableTracker]

    def places(self, wanted: Sequence[VariableTracker]) -> list[int]:
        return [place for place, leaf in enumerate(self.leaves) if leaf in wanted]

    def gets_gradient(self, leaf: VariableTracker, fills: bool) -> bool:
        """Return whether backward is passed a gradient for it: where autograd `fills` them, also one that there is
        not."""
        if not isinstance(leaf, TensorVariable) or leaf not in self.items:
            return False
        return fills or (is_fractional(leaf.fake.dtype) and leaf not in self.not_differentiable)


def trace_forward(tx: Tracing, call: Call, ctx: AutogradContextVariable) -> Body:
    body = speculate_subgraph(
        tx,
        call.operator,
        of_ours(polyfill.forward),
        call.arguments(ctx),
        rules=Rules(once=True),
        name=f"{call.function}.forward",
    )
    for each in call.inputs:
        if isinstance(each, TensorVariable):
            body.tracer.lift(each.node)
    return body


def results_of(tx: Tracing, call: Call, ctx: AutogradContextVariable, forward: Body, mark: TraceMark) -> Results:
    result, dirty = forward.result, ctx.marked("dirty_tensors")
    items = [each.realize() for each in result.items] if isinstance(result, TupleVariable) else [result]
    tensors = [each for each in items if isinstance(each, TensorVariable)]
    inside = forward.tracer.graph
    seen = reachable([result, *changed_since(tx, mark)])
    outside = [each for each in tensors if each.node.graph is not inside]
    why = "keeps ctx, which autograd creates" if ctx in seen else _why_refused(call, ctx, outside, tensors)
    if why is not None:
        raise call.refused(f"its forward {why}").at(forward.returned)
    leaves = [
        each for each in seen if isinstance(each, InGraphVariable) and (each.node.graph is inside or each in dirty)
    ]
    hidden = [each for each in leaves if isinstance(each, TensorVariable) and each not in items]
    results = Results(items, leaves, dirty, [*ctx.marked("non_differentiable"), *hidden])
    if not any(is_fractional(each.fake.dtype) for each in tensors if each not in results.not_differentiable):
        raise NotDifferentiable
    return results


def _why_refused(
    call: Call, ctx: AutogradContextVariable, outside: list[TensorVariable], tensors: list[TensorVariable]
) -> str | None:
    """Return what forward returned or told its context that cannot be in a graph."""
    dirty = ctx.marked("dirty_tensors")
    if any(each not in tensors or each not in call.inputs for each in dirty):
        return "marks a tensor as dirty that is no argument, or that it does not return"
    if any(each not in dirty for each in outside):
        return "returns a tensor that is none of its arguments, and not computed there"
    if len(set(tensors)) < len(tensors):
        return "returns one tensor twice"
    if not all(isinstance(each, TensorVariable) or is_none(each) for each in ctx.marked("to_save")):
        return "saves something other than tensors with save_for_backward"
    fixed = ctx.marked("non_differentiable")
    fractional = [each for each in tensors if is_fractional(each.fake.dtype)]
    if not ctx.fills_gradients() and sum(each not in fixed for each in fractional) > 1:
        return "calls ctx.set_materialize_grads(False) for more than one result"
    return None


@handles(polyfill.refuse_saved)
def _refuse_saved(tx: Tracing, ctx: VariableTracker) -> VariableTracker:
    assert isinstance(ctx, AutogradContextVariable)
    why = "its setup_context saves an input that its forward returns"
    raise Unsupported("autograd-function", name=f"{ctx.function}.apply", why=why)
