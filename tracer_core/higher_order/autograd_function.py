"""`torch.autograd.Function.apply`: an operation whose forward and backward are both written by the program.

Where the result can be differentiated, both are traced, each into a graph of its own, and `autograd_function_apply`
runs them. Backward's graph is traced inside forward's, so that what it uses of forward is lifted from there: it
becomes the second part of what forward's graph returns, and the last arguments of backward's. Elsewhere, forward is
inlined. `autograd_call.py` has the call's arguments, `autograd_forward.py` and `autograd_backward.py` trace the two,
with the context of `autograd_context.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch._functorch.autograd_function import autograd_function_apply
from torch.fx import Node

from tracer_core.higher_order import functions_in_transforms, own_vmap
from tracer_core.higher_order.autograd_backward import differentiable_once, gradients_by_input, trace_backward
from tracer_core.higher_order.autograd_call import Call, call_of, is_differentiated, is_inherited
from tracer_core.higher_order.autograd_context import AutogradContextVariable
from tracer_core.higher_order.autograd_forward import NotDifferentiable, Results, results_of, trace_forward
from tracer_core.higher_order.results import add_module, give_out
from tracer_core.higher_order.speculate import Body
from tracer_core.runtime import gradients as at_run_time
from tracer_core.variables.core.base import VariableTracker
from tracer_core.variables.core.constant import NONE
from tracer_core.variables.core.registry import handles
from tracer_core.variables.core.trace_state import TraceMark
from tracer_core.variables.core.tracing import ObservedException, Tracing
from tracer_core.variables.objects.classes import ClassVariable


@handles(torch.autograd.Function.apply.__func__, ClassVariable)  # type: ignore[attr-defined]
def apply(tx: Tracing, cls: ClassVariable, /, *args: VariableTracker, **kwargs: VariableTracker) -> VariableTracker:
    call = call_of(tx, cls, list(args), kwargs)
    if functions_in_transforms.are_around():
        maps_itself = own_vmap.maps_itself(tx, call)
        _check_transforms(tx, call, maps_itself)
        if maps_itself:
            return own_vmap.mapped(tx, call)
    if not torch.is_grad_enabled() or not any(is_differentiated(each) for each in call.inputs):
        return call.inlined(tx)
    _check_class(tx, call)
    mark = tx.trace.mark()
    try:
        result = _captured(tx, call, mark)
    except (ObservedException, NotDifferentiable):
        # (Where forward raises, the program may handle what it raises.)
        tx.trace.roll_back(mark)
        return call.inlined(tx)
    except BaseException:
        tx.trace.roll_back(mark)
        raise
    tx.trace.keep(mark)
    return result


def _check_class(tx: Tracing, call: Call) -> None:
    """Check that backward alone says how the Function is differentiated."""
    for name in ("vjp", "jvp"):
        if not is_inherited(call.cls, name):
            raise call.refused(f"it has a {name} of its own")
    if tx.truth(tx.get_attr(call.cls, "clear_saved_tensors_on_access")):
        raise call.refused("it has clear_saved_tensors_on_access set")


def _check_transforms(tx: Tracing, call: Call, maps_itself: bool) -> None:
    """Check that the transforms around map and differentiate the Function by its forward and backward, or that it
    maps itself."""
    is_mapped = maps_itself or (
        tx.truth(tx.get_attr(call.cls, "generate_vmap_rule")) and is_inherited(call.cls, "vmap")
    )
    why = functions_in_transforms.why_refused(call.setup_context is not NONE, is_mapped)
    if why is not None:
        raise call.refused(why)


def _captured(tx: Tracing, call: Call, mark: TraceMark) -> VariableTracker:
    ctx = AutogradContextVariable(call.cls.known, call.inputs)
    forward = trace_forward(tx, call, ctx)
    results = results_of(tx, call, ctx, forward, mark)
    ctx.finish_forward(tx)
    with tx.output.inside(forward.tracer):
        backward = trace_backward(tx, call, ctx, results)
    gradients = gradients_by_input(tx, call, backward)
    saved = list(backward.tracer.lifted)
    given = [gradients.get(outer) for outer in forward.tracer.lifted]
    inner = backward.close(differentiable_once(tx, backward, given))
    outer = forward.close([tuple(forward.tracer.lift(leaf.node) for leaf in results.leaves), tuple(saved)])
    outer.meta["function"] = call.cls.known.__name__
    if not functions_in_transforms.are_around():
        _differentiate(tx, call, forward.tracer.operands, results)
    options: dict[str, Any] = {
        "non_differentiable_idx": results.places(results.not_differentiable),
        "saved_for_backward_idx": [place for place, node in enumerate(saved) if _is_one_of(node, ctx.saved)],
    }
    modules = add_module(tx, "fwd_body", outer), add_module(tx, "bwd_body", inner)
    args = *modules, *forward.tracer.operands
    if functions_in_transforms.are_around():
        return _in_transforms(tx, call, ctx, forward, args, results, saved)
    if results.dirty:
        options["dirty_idx"] = results.places(results.dirty)
    if tx.output.runs_as_it_is and not ctx.fills_gradients():
        options["fills_gradients"] = False
    fakes = tuple(leaf.fake for leaf in results.leaves)
    operator = at_run_time.autograd_function_apply if tx.output.runs_as_it_is else autograd_function_apply
    give_out(tx, tx.output.add_node("call_function", operator, args, options, fakes), results.leaves)
    return forward.result


def _in_transforms(
    tx: Tracing,
    call: Call,
    ctx: AutogradContextVariable,
    forward: Body,
    args: tuple[Node, ...],
    results: Results,
    saved: list[Node],
) -> VariableTracker:
    """Add the node of a call inside transforms, and return its result."""
    nodes = [leaf.node for leaf in results.leaves]
    places = functions_in_transforms.places_of(saved, list(forward.tracer.lifted.values()), nodes)
    if results.dirty:
        raise call.refused("inside torch.func, its forward may not mark arguments as dirty")
    if not set(results.leaves) <= set(forward.leaves):
        raise call.refused("inside torch.func, its forward may not keep tensors elsewhere than in its result")
    if places is None:
        raise call.refused("inside torch.func, its backward may use only what forward is passed and returns")
    options: dict[str, Any] = {
        "non_differentiable_idx": results.places(results.not_differentiable),
        "saved": places,
    }
    if not ctx.fills_gradients():
        options["fills_gradients"] = False
    return functions_in_transforms.results_in_transforms(tx, args, options, forward, results.leaves)


def _is_one_of(node: Node, saved: Sequence[VariableTracker]) -> bool:
    return any(node.meta["example_value"] is each.fake for each in saved)


def _differentiate(tx: Tracing, call: Call, operands: Sequence[Node], results: Results) -> None:
    """Have the fakes that forward gave be results of an autograd function with these operands."""
    fakes = [leaf.fake for leaf in results.leaves]
    dirty, fixed = results.places(results.dirty), results.places(results.not_differentiable)

    class Applied(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, *operands: Any) -> Any:
            ctx.mark_dirty(*(fakes[place] for place in dirty))
            ctx.mark_non_differentiable(*(fakes[place] for place in fixed))
            return tuple(fakes)

    at_run_time.name_as(Applied, call.cls.known.__name__)
    try:
        given = tx.output.run_fake(Applied.apply, [node.meta["example_value"] for node in operands], {})
    except RuntimeError as error:
        raise call.refused(str(error).partition("\n")[0]) from error
    assert all(one is other for one, other in zip(given, fakes, strict=True))
