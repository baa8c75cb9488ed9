"""`torch.autograd.Function.apply` inside transforms of `torch.func`: which Functions those can map and differentiate,
and the node of the call.

torch's operator for Functions has no rules for transforms. The node calls a Function whose forward and backward run
the graphs, and which transforms handle as they do the program's own.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch._C._functorch import TransformType
from torch.fx import Node

from tracer_core.higher_order.speculate import Body
from tracer_core.higher_order.structure import unflatten
from tracer_core.runtime.gradients import autograd_function_in_transforms
from tracer_core.variables.builders.results import wrap_fx_proxy
from tracer_core.variables.core.base import VariableTracker
from tracer_core.variables.core.tensors import InGraphVariable
from tracer_core.variables.core.tracing import Tracing


def are_around() -> bool:
    return torch._C._are_functorch_transforms_active()


def why_refused(has_setup_context: bool, is_mapped: bool) -> str | None:
    """Return why the transforms around do not map or differentiate a Function by its forward and backward, None if
    they do."""
    kinds = {level.key() for level in torch._C._functorch.get_interpreter_stack() or []}
    if not kinds <= {TransformType.Vmap, TransformType.Grad}:
        return "it is called inside torch.func.jvp or functionalize"
    if not has_setup_context:
        return "inside torch.func, its forward must not take ctx"
    if TransformType.Vmap in kinds and not is_mapped:
        return "torch.func.vmap maps it by a vmap of its own, or not at all: generate_vmap_rule is not set"
    return None


def places_of(
    saved: Sequence[Node], inputs: Sequence[Node], results: Sequence[Node]
) -> list[tuple[bool, int]] | None:
    """Return for each node of forward's graph that backward uses whether it is a result, and its place among these or
    the inputs; None if one is neither, as nothing then keeps it for the right transform."""
    places = []
    for node in saved:
        if node not in inputs and node not in results:
            return None
        places.append((True, results.index(node)) if node in results else (False, inputs.index(node)))
    return places


def results_in_transforms(
    tx: Tracing, args: tuple[Node, ...], options: dict[str, Any], body: Body, leaves: Sequence[InGraphVariable]
) -> VariableTracker:
    """Call a Function with these graphs and operands. Return what forward returned, with new values for the `leaves`
    that its graph gives: they are wrapped for the transforms."""
    values = tuple(node.meta["example_value"] for node in args)
    fakes = tx.output.run_fake(autograd_function_in_transforms, values, options)
    node = tx.output.add_node("call_function", autograd_function_in_transforms, args, options, fakes)
    given = dict(zip(leaves, tx.unpack(wrap_fx_proxy(tx, node, fakes)), strict=True))
    return unflatten(tx, (given.get(leaf, leaf) for leaf in body.leaves), body.structure)  # type: ignore[call-overload]
