"""`torch._higher_order_ops.scan`: a function is called on each slice of tensors and on what it returned before."""

from __future__ import annotations

from typing import Any

import torch
from torch._higher_order_ops import scan as scan_function

from tracer_core.higher_order.carried import check_carried
from tracer_core.higher_order.inputs import first_slice, like, standing_for
from tracer_core.higher_order.metadata import check_callable, check_tensors, refuse
from tracer_core.higher_order.results import add_module, new_results
from tracer_core.higher_order.slices import Slices
from tracer_core.higher_order.speculate import Body, Rules, speculate_subgraph
from tracer_core.higher_order.structure import flatten, unflatten
from tracer_core.variables.containers.sequences import ListVariable, TupleVariable
from tracer_core.variables.core.base import VariableTracker
from tracer_core.variables.core.registry import handles
from tracer_core.variables.core.tensors import SymNodeVariable
from tracer_core.variables.core.tracing import Tracing

_NAME = "torch._higher_order_ops.scan"


@handles(scan_function)
def scan(
    tx: Tracing,
    combine_fn: VariableTracker,
    init: VariableTracker,
    xs: VariableTracker,
    *,
    dim: VariableTracker | None = None,
    reverse: VariableTracker | None = None,
) -> VariableTracker:
    leaves = flatten(tx, xs)[0]
    if not leaves:
        return TupleVariable([init, ListVariable([])])
    check_callable(_NAME, combine_fn=combine_fn)
    carried = check_tensors(_NAME, "init", flatten(tx, init)[0])
    if not carried:
        raise refuse(_NAME, "init has no tensors")
    slices = Slices.of(tx, _NAME, check_tensors(_NAME, "xs", leaves), dim, reverse)
    tensors = slices.to_front(tx)
    fakes: list[Any] = [like(tx, each.fake) for each in carried]
    fakes += [first_slice(tx, each.fake) for each in tensors]
    rules = Rules(standing_for(fakes), writes=False, aliases=False)
    body = speculate_subgraph(tx, _NAME, combine_fn, [init, xs], rules=rules)
    count = _check_results(body)
    check_carried(_NAME, body, carried, body.leaves[:count])
    module = add_module(tx, "scan_combine_fn", body.close(body.nodes(())))
    arguments = (module, [each.node for each in carried], [each.node for each in tensors], body.tracer.operands)
    result = new_results(tx, torch.ops.higher_order.scan, arguments, {}, body.structure)
    last, stacked = tx.unpack(result)
    outputs, structure = flatten(tx, stacked)
    return TupleVariable([last, unflatten(tx, iter(slices.back(tx, outputs)), structure)])


def _check_results(body: Body) -> int:
    """Check that there are a carry and an output, of tensors; return how many of them are the carry's."""
    if body.structure.cls not in (tuple, list) or len(body.structure.parts) != 2:
        why = f"{body.function} returns {body.structure.describe()}, not a carry and an output"
        raise refuse(_NAME, why).at(body.returned)
    for leaf in body.leaves:
        if isinstance(leaf, SymNodeVariable):
            raise body.refused(leaf.python_type_name())
    return body.structure.parts[0].leaves
