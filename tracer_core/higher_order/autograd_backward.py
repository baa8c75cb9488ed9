"""Trace backward of a `torch.autograd.Function` inside its forward, and find the gradients that it gives."""

from __future__ import annotations

import operator
from collections.abc import Sequence

import torch
from torch.fx import Node

from tracer_core.graph.defaults import is_fractional
from tracer_core.graph.subgraph import SubgraphTracer
from tracer_core.higher_order.autograd_call import Call, is_none, of_ours
from tracer_core.higher_order.autograd_context import AutogradContextVariable
from tracer_core.higher_order.autograd_forward import Results
from tracer_core.higher_order.inputs import like
from tracer_core.higher_order.speculate import Body, Rules, speculate_subgraph
from tracer_core.names.sentences import a, counted
from tracer_core.polyfills import autograd as polyfill
from tracer_core.runtime import gradients as at_run_time
from tracer_core.variables.builders.results import wrap_fx_proxy
from tracer_core.variables.containers.sequences import TupleVariable
from tracer_core.variables.core.base import VariableTracker
from tracer_core.variables.core.constant import NONE
from tracer_core.variables.core.tensors import InGraphVariable, TensorVariable
from tracer_core.variables.core.tracing import Tracing


def trace_backward(
    tx: Tracing, call: Call, ctx: AutogradContextVariable, results: Results, contiguous: bool = False
) -> Body:
    """Trace backward; the tracer at work is forward's."""
    fills = ctx.fills_gradients()
    backward, boxed = tx.get_attr(call.cls, "backward"), tx.get_attr(call.cls, "boxed_grads_call")

    def gradients(tx: Tracing, tracer: SubgraphTracer, args: Sequence[VariableTracker]) -> list[VariableTracker]:
        tracer.layouts_vary = True
        made = {leaf: _gradient(tx, tracer, leaf, results.gets_gradient(leaf, fills)) for leaf in results.leaves}
        return [*args, *(made.get(item, NONE) for item in results.items)]  # type: ignore[call-overload]

    mark, asked, attributes = tx.trace.mark(), tx.output.stride_questions, dict(ctx.attributes)
    body = speculate_subgraph(
        tx,
        call.operator,
        of_ours(polyfill.backward),
        [backward, ctx, tx.constant(contiguous), boxed, tx.constant(call.repeated)],
        rules=Rules(inputs=gradients, grad_mode=False, keeps=(ctx,)),
        name=f"{call.function}.backward",
    )
    if any(attributes.get(name) is not value and not is_none(value) for name, value in ctx.attributes.items()):
        why = "its backward sets an attribute of ctx, which a second backward pass would read"
        raise call.refused(why).at(body.returned)
    if tx.output.stride_questions > asked and not contiguous:
        tx.trace.roll_back(mark)
        return trace_backward(tx, call, ctx, results, contiguous=True)
    tx.trace.keep(mark)
    return body


def _gradient(tx: Tracing, tracer: SubgraphTracer, leaf: InGraphVariable, is_used: bool) -> VariableTracker:
    """Add the argument for the gradient of a value that forward's graph gives."""
    if not is_used:
        tracer.add_argument("unused", None)
        return NONE
    fake = like(tx, leaf.fake.detach())
    return wrap_fx_proxy(tx, tracer.add_argument(f"grad_{leaf.node.name}", fake), fake)


def gradients_by_input(tx: Tracing, call: Call, backward: Body) -> dict[Node, Node | None]:
    """Return what backward's graph gives for each tensor that is an argument."""
    result, inputs = backward.result, call.inputs
    given = [each.realize() for each in result.items] if isinstance(result, TupleVariable) else [result]
    if len(given) < len(inputs) or not all(map(is_none, given[len(inputs) :])):
        why = f"its backward returns {counted(len(given), 'gradient')} for {counted(len(inputs), 'argument')}"
        raise call.refused(why).at(backward.returned)
    found: dict[Node, Node | None] = {}
    for each, gradient in zip(inputs, given, strict=False):
        if isinstance(gradient, TensorVariable) and isinstance(each, TensorVariable):
            node = backward.tracer.lift(gradient.node)
        elif is_none(gradient):
            node = None
        else:
            why = f"its backward returns {a(gradient.python_type_name())} as a gradient"
            raise call.refused(why).at(backward.returned)
        if isinstance(each, TensorVariable):
            found.setdefault(tx.output.current.lift(each.node), node)
    return found


def _is_differentiable(node: Node) -> bool:
    fake = node.meta["example_value"]
    return isinstance(fake, torch.Tensor) and is_fractional(fake.dtype)


def differentiable_once(tx: Tracing, backward: Body, given: list[Node | None]) -> list[Node | None]:
    """Return nodes that give these gradients, and have their own gradients refused where the graph would give others
    than plain Python: what disables gradients for a while enables them again only if they were when it was traced."""
    graph = backward.tracer.graph
    changes_mode = graph.find_nodes(op="call_function", target=torch._C._set_grad_enabled)
    nodes = [node for node in given if node is not None]
    if not tx.output.runs_as_it_is or not changes_mode or not nodes:
        return given  # Other back ends refuse to differentiate twice.
    with graph.inserting_before(next(iter(changes_mode))):
        enabled = graph.call_function(torch.is_grad_enabled)
    fakes = tuple(node.meta["example_value"] for node in nodes)
    add = backward.tracer.add_node
    given_tensors = [node for node in graph.find_nodes(op="placeholder") if _is_differentiable(node)]
    args = enabled, tuple(nodes), tuple(given_tensors)
    apart = add("call_function", at_run_time.differentiable_once, args, {}, fakes)
    items = (add("call_function", operator.getitem, (apart, at), {}, fake) for at, fake in enumerate(fakes))
    return [None if node is None else next(items) for node in given]
