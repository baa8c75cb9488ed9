"""The operator behind `torch.nn.attention.flex_attention`: attention with a function of scores and one of masks.

Torch's Python around it, which checks the arguments and takes a block mask apart, is inlined.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch._higher_order_ops.flex_attention import flex_attention
from torch.fx import Node

from tracer_core.errors import Unsupported
from tracer_core.graph.subgraph import SubgraphTracer
from tracer_core.higher_order.results import add_module, new_results
from tracer_core.higher_order.speculate import Rules, speculate_subgraph
from tracer_core.higher_order.structure import LEAF, Structure
from tracer_core.variables.builders.results import wrap_fx_proxy
from tracer_core.variables.core.base import NotConstant, VariableTracker
from tracer_core.variables.core.registry import handles
from tracer_core.variables.core.tensors import TensorVariable
from tracer_core.variables.core.tracing import Tracing
from tracer_core.variables.operations.in_graph import as_argument
from tracer_core.variables.torch.tensor_indices import IndicesAreTensors

_NAME = "flex_attention"
_RESULTS = Structure(tuple, parts=(LEAF, LEAF, LEAF))
"""The attention, the logarithms of the sums of exponentials, and the largest scores."""


@handles(flex_attention)
def _flex_attention(
    tx: Tracing,
    query: VariableTracker,
    key: VariableTracker,
    value: VariableTracker,
    score_mod: VariableTracker,
    block_mask: VariableTracker,
    scale: VariableTracker,
    kernel_options: VariableTracker,
) -> VariableTracker:
    query = query.realize()
    if not isinstance(query, TensorVariable):
        raise Unsupported("graph-argument", what=_NAME, argument=query.describe())
    *blocks, mask_mod = tx.unpack(block_mask)
    score = _scalar(tx, query, requires_grad=query.fake.requires_grad)
    changed, of_scores = _body(tx, "score_mod", score_mod, [score, *_positions(tx, query)])
    masked, of_masks = _body(tx, "mask_fn", mask_mod, _positions(tx, query))
    tensors = [_argument(each) for each in (query, key, value)]
    described = tuple(_argument(each) for each in blocks)
    options = _argument(scale), _argument(kernel_options)
    arguments = (*tensors, changed, (*described, masked), *options, of_scores, of_masks)
    return new_results(tx, flex_attention, arguments, {}, _RESULTS)


def _positions(tx: Tracing, query: TensorVariable) -> list[torch.Tensor]:
    """Return fakes for the batch, the head, and the places of the query and of the key."""
    return [_scalar(tx, query, dtype=torch.int32) for _ in range(4)]


def _scalar(tx: Tracing, query: TensorVariable, **options: Any) -> torch.Tensor:
    """Return the fake for a number that a function is called with."""
    fake: torch.Tensor = tx.output.run_fake(query.fake.new_empty, ((),), options)
    return fake


def _body(
    tx: Tracing, name: str, function: VariableTracker, fakes: Sequence[torch.Tensor]
) -> tuple[Node, tuple[Node, ...]]:
    """Trace a function of scalars; return the node of its graph, and those of what is lifted into it."""

    def inputs(tx: Tracing, tracer: SubgraphTracer, args: Sequence[VariableTracker]) -> list[VariableTracker]:
        return [wrap_fx_proxy(tx, tracer.add_argument("child", fake), fake) for fake in fakes]

    with IndicesAreTensors():
        body = speculate_subgraph(tx, _NAME, function, (), rules=Rules(inputs, writes=False))
    if not isinstance(body.result, TensorVariable):
        raise body.refused(body.result.python_type_name())
    module = body.close(body.result.node)
    return add_module(tx, name, module), tuple(body.tracer.operands)


def _argument(tracker: VariableTracker) -> Any:
    try:
        return as_argument(tracker)[0]
    except NotConstant as error:
        raise Unsupported("graph-argument", what=_NAME, argument=str(error)) from None
