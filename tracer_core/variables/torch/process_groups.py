"""Process groups, device meshes and reductions of `torch.distributed`.

Each is known by its identity: the members of a group, and this process's place among them, stay as they are while
the group lives.
"""

from __future__ import annotations

from typing import Any

import torch.distributed as dist

from tracer_core.guards import make
from tracer_core.sources import ConstantSource, ConvertedSource, Source
from tracer_core.sources.base import ById
from tracer_core.variables.builders.builder import VariableBuilder
from tracer_core.variables.core.base import VariableTracker
from tracer_core.variables.core.constant import ConstantVariable
from tracer_core.variables.core.registry import builds, handles, method
from tracer_core.variables.core.tracing import Tracing
from tracer_core.variables.functions.methods import BoundBuiltinMethodVariable
from tracer_core.variables.objects.user_objects import UserDefinedObjectVariable

_METHODS = ("rank", "size", "name")
_PROPERTIES = ("group_name", "group_desc")


class ProcessGroupVariable(UserDefinedObjectVariable):
    """A process group that this process is a member of."""

    __slots__ = ()
    real: Any

    def attribute(self, tx: Tracing, name: str) -> VariableTracker | None:
        if name in _METHODS:
            return BoundBuiltinMethodVariable(self, name)
        return tx.constant(getattr(self.real, name)) if name in _PROPERTIES else super().attribute(tx, name)


@method(ProcessGroupVariable, "rank")
def _rank(tx: Tracing, self: ProcessGroupVariable) -> VariableTracker:
    return tx.constant(self.real.rank())


@method(ProcessGroupVariable, "size")
def _size(tx: Tracing, self: ProcessGroupVariable) -> VariableTracker:
    return tx.constant(self.real.size())


@method(ProcessGroupVariable, "name")
def _name(tx: Tracing, self: ProcessGroupVariable) -> VariableTracker:
    return tx.constant(self.real.name())


def _process_group(build: VariableBuilder, value: Any, source: Source) -> VariableTracker:
    build.tx.guard(make.identity(source, value))
    return build.register(value, ProcessGroupVariable(type(value), value, source))


def _reduction(build: VariableBuilder, value: Any, source: Source) -> VariableTracker:
    """Build the tracker of `ReduceOp.SUM` and the like, which are constants in C."""
    build.tx.guard(make.identity(source, value))
    return ConstantVariable(value, source)


def _by_name(tx: Tracing, name: VariableTracker) -> VariableTracker | None:
    """Find a group by its name."""
    if not isinstance(name, ConstantVariable):
        return None
    find = torch_c10d._resolve_process_group
    try:
        group = find(name.value())
    except RuntimeError:
        return None  # plain Python raises it
    source = ConvertedSource(ConstantSource.of_object(name.value(), repr(name.value())), ById(find), "process_group")
    return tx.build(group, source)


def _sub_mesh(tx: Tracing, mesh: VariableTracker, names: VariableTracker) -> VariableTracker | None:
    """`mesh["dp"]`: meshes do not change, so neither does a part of one."""
    if not isinstance(mesh, UserDefinedObjectVariable) or mesh.real is None or mesh.source is None:
        return None
    if not names.is_constant():
        return None
    try:
        part = mesh.real[names.value()]
    except (KeyError, RuntimeError, ValueError):
        return None  # plain Python raises it
    tx.guard(make.identity(mesh.source, mesh.real))
    return tx.build(part, ConstantSource.of_object(part, f"{mesh.source.name}[{names.value()!r}]"))


if dist.is_available():
    from torch._C import _distributed_c10d as torch_c10d

    builds(dist.ProcessGroup, subclasses=True)(_process_group)
    builds(dist.ReduceOp.RedOpType)(_reduction)
    handles(torch_c10d._resolve_process_group)(_by_name)
    handles(dist.DeviceMesh.__getitem__)(_sub_mesh)
