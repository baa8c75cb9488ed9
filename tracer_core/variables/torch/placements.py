"""Placements of distributed tensors, `Shard(0)` and the like: how a dimension of a mesh holds one."""

from __future__ import annotations

from typing import Any

import torch.distributed as dist

from tracer_core.errors import Unsupported
from tracer_core.guards import make
from tracer_core.sources import ConvertedSource, Source
from tracer_core.sources.base import ById
from tracer_core.variables.builders.builder import VariableBuilder
from tracer_core.variables.core.base import VariableTracker
from tracer_core.variables.core.constant import ConstantVariable
from tracer_core.variables.core.registry import builds, handles
from tracer_core.variables.core.tracing import Tracing
from tracer_core.variables.exceptions.exceptions import raise_real


class PlacementVariable(ConstantVariable):
    """A placement. It never changes, and two are equal if they say the same."""

    __slots__ = ()
    kind = "placement"

    def describe(self) -> str:
        return repr(self.value())


def _placement(build: VariableBuilder, value: Any, source: Source) -> VariableTracker:
    build.tx.guard(make.type_is(source, type(value)))
    build.tx.guard(make.constant(ConvertedSource(source, ById(repr), "repr"), repr(value)))
    return PlacementVariable(value, source)


def _register(cls: type) -> None:
    builds(cls)(_placement)

    @handles(cls)
    def create(tx: Tracing, /, *args: VariableTracker, **kwargs: VariableTracker) -> VariableTracker | None:
        if not all(each.is_constant() for each in (*args, *kwargs.values())):
            return None
        try:
            made = cls(*(arg.value() for arg in args), **{name: value.value() for name, value in kwargs.items()})
        except TypeError as error:
            raise_real(tx, error)
        return PlacementVariable(made)


def _refused(function: Any, name: str) -> None:
    """Have calls of a function break the graph by its name, not by what torch's code calls for it."""

    @handles(function)
    def refuse(tx: Tracing, /, *args: VariableTracker, **kwargs: VariableTracker) -> VariableTracker:
        raise Unsupported("skipped-function", what=name, why="it creates a DTensor, which no graph holds")


if dist.is_available():
    from torch.distributed.tensor import DTensor, distribute_tensor, placement_types

    _refused(DTensor.from_local, "torch.distributed.tensor.DTensor.from_local")
    _refused(distribute_tensor, "torch.distributed.tensor.distribute_tensor")
    for _cls in (placement_types.Shard, placement_types.Replicate, placement_types.Partial):
        _register(_cls)
