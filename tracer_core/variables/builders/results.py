"""`wrap_fx_proxy`: the tracker for the result of a node."""

from __future__ import annotations

import operator
from typing import Any

import torch

from tracer_core.errors import Unsupported
from tracer_core.sources import Source
from tracer_core.variables.containers.sequences import ListVariable, NamedTupleVariable, SizeVariable, TupleVariable
from tracer_core.variables.core.base import NotConstant, VariableTracker
from tracer_core.variables.core.constant import ConstantVariable
from tracer_core.variables.core.tensors import SymNodeVariable, TensorVariable, wrap_number
from tracer_core.variables.core.tracing import Tracing


def wrap_fx_proxy(tx: Tracing, node: torch.fx.Node, fake: Any, source: Source | None = None) -> VariableTracker:
    """Return the tracker for a node's result, whatever it contains; with a source, for an input of the graph.

    Raises:
        Unsupported: the result is nothing the graph can hold.
    """
    if isinstance(fake, torch.Tensor):
        return wrap_tensor(tx, node, fake, source)
    if isinstance(fake, (torch.SymInt, torch.SymFloat, torch.SymBool)):
        return wrap_number(tx, fake, node) if source is None else SymNodeVariable(node, fake, source)
    if isinstance(fake, _PLAIN) and _is_answered_by_fakes(node.target):
        return ConstantVariable(fake)
    if isinstance(fake, (tuple, list)):
        items = [wrap_fx_proxy(tx, _item_node(tx, node, i, item), item) for i, item in enumerate(fake)]
        return _sequence(type(fake), items)
    raise Unsupported("graph-result", what=str(node.target), type=type(fake).__name__)


def wrap_tensor(tx: Tracing, node: torch.fx.Node, fake: torch.Tensor, source: Source | None = None) -> TensorVariable:
    """Return the tracker for a tensor: one for each fake."""
    known = tx.trace.tensors_by_fake.get(id(fake))
    if known is None:
        known = tx.trace.tensors_by_fake[id(fake)] = TensorVariable(node, fake, source)
    return known


_PLAIN = (bool, int, float, complex, str, torch.dtype, torch.device, type(None))


def _is_answered_by_fakes(target: Any) -> bool:
    """Return whether a result of `target` that is not a tensor is the same for a fake as for the real tensor. Of the
    methods of tensors, it is for those that are operators of torch: they answer from sizes, dtypes and flags.
    Attributes bound only in Python (`const_data_ptr`, `storage_type`) read memory, which a fake does not have."""
    return not isinstance(target, str) or hasattr(torch.ops.aten, target)


def _item_node(tx: Tracing, node: torch.fx.Node, index: int, item: Any) -> torch.fx.Node:
    if not isinstance(item, (torch.Tensor, torch.SymInt, torch.SymFloat, torch.SymBool, tuple, list)):
        return node
    return tx.output.add_node("call_function", operator.getitem, (node, index), {}, item)


def _sequence(cls: type, items: list[VariableTracker]) -> VariableTracker:
    """Return the tracker of a sequence that an operation returned."""
    if cls is torch.Size:
        return SizeVariable(items)
    if cls is tuple:
        return TupleVariable(items)
    if cls is list:
        return ListVariable(items)
    if NamedTupleVariable.is_named(cls):
        return NamedTupleVariable(items, cls)
    raise NotConstant(f"a {cls.__name__}")
