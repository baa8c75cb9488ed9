"""The slices of tensors along a dimension, over which scans go, and the way back from stacked slices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from tracer_core.higher_order.metadata import refuse
from tracer_core.variables.containers.sequences import ListVariable
from tracer_core.variables.core.base import VariableTracker, constant_or
from tracer_core.variables.core.tensors import TensorVariable, specialized
from tracer_core.variables.core.tracing import Tracing
from tracer_core.variables.operations.torch_calls import call_torch_function


@dataclass(frozen=True, slots=True)
class Slices:
    """Those of `tensors` along `dim`, the last first where `reverse` is set."""

    tensors: list[TensorVariable]
    dim: int
    reverse: bool

    @staticmethod
    def of(
        tx: Tracing,
        operator: str,
        tensors: list[TensorVariable],
        dim: VariableTracker | None,
        reverse: VariableTracker | None,
    ) -> Slices:
        """Read the arguments of an operator.

        Raises:
            Unsupported: the tensors have no slices.
        """
        axis = 0 if dim is None else constant_or(specialized(tx, dim), None)
        backwards = False if reverse is None else constant_or(reverse, None)
        if not isinstance(axis, int) or not isinstance(backwards, bool):
            raise refuse(operator, "dim is not an int, or reverse not a bool")
        rank = tensors[0].fake.dim()
        if not -rank <= axis < rank:
            raise refuse(operator, f"{tensors[0].describe()} has no dimension {axis}")
        axis %= rank
        for each in tensors:
            if each.fake.dim() <= axis or each.fake.shape[axis] == 0:
                raise refuse(operator, f"{each.describe()} has no slices along dimension {axis}")
        return Slices(tensors, axis, backwards)

    def to_front(self, tx: Tracing) -> list[TensorVariable]:
        """Have the dimension first, in the order of the scan."""
        moved: list[VariableTracker] = list(self.tensors)
        if self.dim:
            moved = [self._moved(tx, each, self.dim, 0) for each in moved]
        if self.reverse:
            zero = ListVariable([tx.constant(0)])
            moved = [call_torch_function(tx, torch.flip, [each, zero], {}) for each in moved]
        return [each for each in moved if isinstance(each, TensorVariable)]

    def back(self, tx: Tracing, stacked: Sequence[VariableTracker]) -> list[VariableTracker]:
        """Have stacked slices in the order and along the dimension that the tensors have."""
        results = list(stacked)
        if self.reverse:
            results = [tx.call_method(each, "flip", [ListVariable([tx.constant(0)])], {}) for each in results]
        if self.dim:
            results = [
                self._moved(tx, each, 0, self.dim)
                if isinstance(each, TensorVariable) and self.dim < each.fake.dim()
                else each
                for each in results
            ]
        return results

    def _moved(self, tx: Tracing, tensor: VariableTracker, source: int, to: int) -> VariableTracker:
        return call_torch_function(tx, torch.movedim, [tensor, tx.constant(source), tx.constant(to)], {})
