"""Torch functions that are not simply nodes: settings, questions, and what looks at Python objects."""

from __future__ import annotations

from typing import Any

import torch

from tracer_core.errors import Unsupported
from tracer_core.variables.base import Tracing, VariableTracker
from tracer_core.variables.calling import call_method
from tracer_core.variables.constant import NONE, ConstantVariable
from tracer_core.variables.in_graph import is_in_graph
from tracer_core.variables.registry import handles
from tracer_core.variables.tensor import SymNodeVariable, TensorVariable
from tracer_core.variables.truth_and_length import truth


@handles(torch._C._log_api_usage_once)
def log_api_usage_once(tx: Tracing, *args: VariableTracker) -> VariableTracker:
    """Only a back end for statistics, which nobody has, would see it."""
    return NONE


@handles(torch.is_tensor, VariableTracker)
def is_tensor(tx: Tracing, obj: VariableTracker) -> VariableTracker:
    return ConstantVariable(isinstance(obj.realize(), TensorVariable))


for _name in ("is_floating_point", "is_complex", "is_signed", "numel", "is_conj", "is_neg"):

    @handles(getattr(torch, _name), TensorVariable)
    def question(tx: Tracing, obj: TensorVariable, name: str = _name) -> VariableTracker:
        return call_method(tx, obj, name, [], {})


def _never_overridden(tx: Tracing, *args: VariableTracker) -> VariableTracker:
    return ConstantVariable(False)


for _predicate in (
    torch.overrides.has_torch_function,
    torch.overrides.has_torch_function_unary,
    torch.overrides.has_torch_function_variadic,
    torch._C._has_torch_function,
    torch._C._has_torch_function_unary,
    torch._C._has_torch_function_variadic,
):
    handles(_predicate)(_never_overridden)


@handles(torch._check, VariableTracker)
def check(tx: Tracing, condition: VariableTracker, message: VariableTracker = NONE) -> VariableTracker | None:
    if isinstance(condition, (ConstantVariable, SymNodeVariable)) and truth(tx, condition):
        return NONE
    raise Unsupported("torch-check")


def _needs_data(name: str) -> Any:
    def handler(tx: Tracing, *args: VariableTracker, **kwargs: VariableTracker) -> VariableTracker | None:
        if any(is_in_graph(arg) for arg in args):
            raise Unsupported("tensor-data", name=name, what=args[0].describe())
        return None

    return handler


for _name in ("equal", "allclose", "is_nonzero"):
    handles(getattr(torch, _name))(_needs_data(_name))


@handles(torch.typename, VariableTracker)
def typename(tx: Tracing, obj: VariableTracker) -> VariableTracker | None:
    if isinstance(obj, TensorVariable):
        return call_method(tx, obj, "type", [], {})
    return None


@handles(torch.manual_seed, VariableTracker)
def manual_seed(tx: Tracing, seed: VariableTracker) -> VariableTracker:
    raise Unsupported("random-state", name="torch.manual_seed")


@handles(torch.nn.Parameter)
def parameter(tx: Tracing, *args: VariableTracker, **kwargs: VariableTracker) -> VariableTracker:
    raise Unsupported("tensor-created", cls="Parameter")
