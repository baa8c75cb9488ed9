"""`torch.distributions`: handlers that its checks of arguments need."""

from __future__ import annotations

import torch
from torch.distributions import utils

from tracer_core.sources import ConstantSource
from tracer_core.variables.core.base import VariableTracker
from tracer_core.variables.core.registry import handles
from tracer_core.variables.core.tensors import TensorVariable
from tracer_core.variables.core.tracing import Tracing
from tracer_core.variables.operations.in_graph import call_in_graph


@handles(torch._is_all_true, TensorVariable)
def is_all_true(tx: Tracing, tensor: TensorVariable) -> VariableTracker | None:
    """Compute `all()` in a way that fakes of unknown sizes support."""
    return call_in_graph(tx, "call_method", "all", [tensor], {}) if tensor.fake.dtype is torch.bool else None


@handles(utils._lazy_property_and_property)
def lazy_property_of_a_class(tx: Tracing, wrapped: VariableTracker) -> VariableTracker | None:
    """Call the wrapper of a lazily computed property that is read from the class: only its type matters."""
    made = utils._lazy_property_and_property(wrapped.realize().value())
    return tx.build(made, ConstantSource.of_object(made))
