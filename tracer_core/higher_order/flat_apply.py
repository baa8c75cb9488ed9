"""`torch._dynamo.nonstrict_trace`: a function that is one node, whatever containers it takes and returns.

Back ends trace through it; here its node is a call with the leaves of its arguments.
"""

from __future__ import annotations

from typing import Any

import torch.utils._pytree as pytree

from tracer_core.higher_order.structure import LEAF, Structure, flatten, structure_of, unflatten
from tracer_core.rules import NONSTRICT
from tracer_core.runtime.flat_calls import FlatCall
from tracer_core.variables.containers.dicts import ConstDictVariable
from tracer_core.variables.containers.sequences import TupleVariable
from tracer_core.variables.core.base import VariableTracker
from tracer_core.variables.core.registry import handles
from tracer_core.variables.core.tracing import Tracing
from tracer_core.variables.objects.classes import KnownVariable
from tracer_core.variables.operations.in_graph import call_in_graph


@handles(NONSTRICT)
def _nonstrict(
    tx: Tracing, function: KnownVariable, /, *args: VariableTracker, **kwargs: VariableTracker
) -> VariableTracker:
    named = ConstDictVariable()
    for name, value in kwargs.items():
        named.set(tx, tx.constant(name), value)
    leaves, structure = flatten(tx, TupleVariable([TupleVariable(list(args)), named]))
    call = FlatCall(function.known, pytree.tree_structure(_example(structure)))
    results = call_in_graph(tx, "call_function", call, leaves, {})
    assert call.result is not None
    return unflatten(tx, iter(tx.unpack(results)), structure_of(tx, call.result))


def _example(structure: Structure) -> Any:
    """Return containers put together so, with leaves that mean nothing."""
    if structure == LEAF:
        return 0
    items = [_example(part) for part in structure.parts]
    cls: Any = structure.cls
    if cls is dict:
        return dict(zip(structure.keys, items, strict=True))
    if cls in (list, tuple):
        return cls(items)
    if hasattr(cls, "_fields"):
        return cls(*items)
    return pytree.SUPPORTED_NODES[cls].unflatten_fn(items, structure.keys[0].value)
