"""`associative_scan`: a function combines slices of tensors, in any grouping."""

from __future__ import annotations

from typing import Any

import torch
from torch._higher_order_ops import associative_scan as associative_scan_function

from tracer_core.higher_order.carried import check_carried
from tracer_core.higher_order.inputs import first_slice, like, standing_for
from tracer_core.higher_order.metadata import check_callable, check_sequence, check_tensors, refuse
from tracer_core.higher_order.results import add_module, new_results
from tracer_core.higher_order.speculate import Rules, speculate_subgraph
from tracer_core.higher_order.structure import user_function
from tracer_core.variables.core.base import VariableTracker
from tracer_core.variables.core.registry import handles
from tracer_core.variables.core.tensors import TensorVariable
from tracer_core.variables.core.tracing import Tracing

_NAME = "torch.ops.higher_order.associative_scan"


@handles(associative_scan_function)
def associative_scan(tx: Tracing, *args: VariableTracker, **kwargs: VariableTracker) -> VariableTracker:
    """Trace torch's own function: with `combine_mode="generic"` it computes the scan by slicing, without an
    operator."""
    return tx.call(user_function(associative_scan_function), list(args), kwargs)


@handles(torch.ops.higher_order.associative_scan)
def associative_scan_operator(
    tx: Tracing, combine_fn: VariableTracker, xs: VariableTracker, additional_inputs: VariableTracker
) -> VariableTracker:
    check_callable(_NAME, combine_fn=combine_fn)
    tensors = check_tensors(_NAME, "xs", check_sequence(tx, _NAME, "xs", xs))
    more = check_tensors(
        _NAME, "additional_inputs", check_sequence(tx, _NAME, "additional_inputs", additional_inputs)
    )
    if not tensors or any(each.fake.dim() == 0 or each.fake.shape[0] == 0 for each in tensors):
        raise refuse(_NAME, "xs has no slices along its first dimension")
    slices: list[Any] = [first_slice(tx, each.fake) for each in (*tensors, *tensors)]
    rules = Rules(standing_for([*slices, *(like(tx, each.fake) for each in more)]), writes=False, aliases=False)
    body = speculate_subgraph(tx, _NAME, combine_fn, [*tensors, *tensors, *more], rules=rules)
    examples = [TensorVariable(each.node, fake) for each, fake in zip(tensors, slices, strict=False)]
    check_carried(_NAME, body, examples, body.leaves)
    module = add_module(tx, "associative_scan_combine_fn", body.close(body.nodes(())))
    others = (*(each.node for each in more), *body.tracer.operands)
    arguments = (module, [each.node for each in tensors], others)
    return new_results(tx, torch.ops.higher_order.associative_scan, arguments, {}, body.structure)
