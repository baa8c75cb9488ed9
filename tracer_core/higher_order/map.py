"""`torch._higher_order_ops.map`: a function is called on each row of tensors."""

from __future__ import annotations

from types import NoneType

import torch
from torch._higher_order_ops import map as map_function

from tracer_core.higher_order.inputs import first_row, like, standing_for
from tracer_core.higher_order.metadata import check_callable, check_sequence, check_tensors, refuse
from tracer_core.higher_order.results import add_module, new_results
from tracer_core.higher_order.speculate import Rules, speculate_subgraph
from tracer_core.higher_order.structure import flatten
from tracer_core.variables.containers.sequences import ListVariable, TupleVariable
from tracer_core.variables.core.base import VariableTracker
from tracer_core.variables.core.registry import handles
from tracer_core.variables.core.tensors import InGraphVariable, SymNodeVariable, TensorVariable
from tracer_core.variables.core.tracing import Tracing

_NAME = "torch._higher_order_ops.map"


@handles(map_function)
def map_(tx: Tracing, f: VariableTracker, xs: VariableTracker, *args: VariableTracker) -> VariableTracker:
    check_callable(_NAME, f=f)
    rows = check_tensors(_NAME, "xs", flatten(tx, xs)[0])
    check_rows(rows)
    more = flatten(tx, ListVariable(check_sequence(tx, _NAME, "args", TupleVariable(list(args)))))[0]
    fakes = [first_row(tx, each.fake) for each in rows]
    fakes += [like(tx, each.fake) if isinstance(each, InGraphVariable) else each.value() for each in more]
    rules = Rules(standing_for(fakes), writes=False, aliases=False)
    body = speculate_subgraph(tx, _NAME, f, [xs, *args], rules=rules)
    for leaf in body.leaves:
        if isinstance(leaf, SymNodeVariable):
            raise body.refused(leaf.python_type_name())
    module = add_module(tx, "map_body", body.close(body.nodes((NoneType,))))
    others = [each.node if isinstance(each, InGraphVariable) else each.value() for each in more]
    target = torch.ops.higher_order.map_impl
    arguments = (module, [each.node for each in rows], [*others, *body.tracer.operands])
    return new_results(tx, target, arguments, {}, body.structure)


def check_rows(tensors: list[TensorVariable]) -> None:
    """Check that there are rows, and as many in each tensor."""
    if not tensors:
        raise refuse(_NAME, "xs has no tensors")
    for each in tensors:
        if each.fake.dim() == 0:
            raise refuse(_NAME, "xs has a tensor without dimensions")
        if each.fake.shape[0] == 0:
            raise refuse(_NAME, f"xs has the tensor {each.describe()}, which has no rows")
        if each.fake.shape[0] != tensors[0].fake.shape[0]:
            raise refuse(_NAME, "the tensors of xs have different numbers of rows")
