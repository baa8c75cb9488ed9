"""`torch.optim`: traced as it runs without a compiler, so that its steps give plain Python's numbers.

If `torch.compiler.is_compiling()` returned True, it would choose other formulas, which round otherwise. Its step
counters are tensors whose items it computes with in Python; so does the graph, with numbers unknown while tracing.
"""

from __future__ import annotations

import torch

from tracer_core.errors import Unsupported
from tracer_core.variables.builders.results import wrap_fx_proxy
from tracer_core.variables.containers.dicts import ConstDictVariable
from tracer_core.variables.containers.sequences import ListVariable, TupleVariable
from tracer_core.variables.core.base import VariableTracker
from tracer_core.variables.core.constant import ConstantVariable
from tracer_core.variables.core.plain_packages import runs_as_plain
from tracer_core.variables.core.registry import handles, method
from tracer_core.variables.core.tensors import TensorVariable
from tracer_core.variables.core.tracing import Tracing


@method(TensorVariable, "item")
def item(tx: Tracing, self: TensorVariable) -> VariableTracker:
    if not runs_as_plain(tx) or not (self.fake.is_floating_point() and self.fake.dim() == 0):
        raise Unsupported("tensor-data", name="item", what=self.describe())
    value = tx.output.fakes.unknown(float)
    return wrap_fx_proxy(tx, tx.output.add_node("call_method", "item", (self.node,), {}, value), value)


@handles(torch._C._group_tensors_by_device_and_dtype)
def group_tensors(
    tx: Tracing, lists: VariableTracker, with_indices: VariableTracker = ConstantVariable(False)
) -> VariableTracker | None:
    """Call the function itself, with the fakes: only it knows the order of the groups."""
    rows = [row.realize().items_or_none(tx) for row in lists.realize().items_or_none(tx) or ()]
    known = [[item.realize() for item in row] for row in rows if row is not None]
    fakes = [[item.fake for item in row] for row in known]
    if not known or len(known) != len(rows) or any(fake is None for fake in fakes[0]):
        return None
    found = torch._C._group_tensors_by_device_and_dtype(fakes, True)
    groups: list[tuple[VariableTracker, VariableTracker]] = []
    for (device, dtype), (_, indices) in found.items():
        parts: list[VariableTracker] = [ListVariable([row[i] for i in indices] if row else []) for row in known]
        shown = [tx.constant(i) for i in indices] if with_indices.realize().value() else []
        key = TupleVariable([tx.constant(device), tx.constant(dtype)])
        groups.append((key, TupleVariable([ListVariable(parts), ListVariable(shown)])))
    return ConstDictVariable(groups)
