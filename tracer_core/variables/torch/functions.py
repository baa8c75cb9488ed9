"""Torch functions that are not simply nodes: settings, predicates, and functions of Python objects."""

from __future__ import annotations

from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from tracer_core.errors import Unsupported
from tracer_core.variables.core.base import VariableTracker, constant_or
from tracer_core.variables.core.constant import NONE, ConstantVariable
from tracer_core.variables.core.registry import handles
from tracer_core.variables.core.tensors import (
    InGraphVariable,
    SymNodeVariable,
    TensorVariable,
    statically_known,
    unbacked,
)
from tracer_core.variables.core.tracing import Tracing
from tracer_core.variables.operations.in_graph import is_in_graph


@handles(torch._C._log_api_usage_once)
def log_api_usage_once(tx: Tracing, *args: VariableTracker) -> VariableTracker:
    """Do nothing: only a back end for statistics could observe the call."""
    return NONE


@handles(torch.is_tensor, VariableTracker)
def is_tensor(tx: Tracing, obj: VariableTracker) -> VariableTracker:
    return ConstantVariable(issubclass(obj.realize().python_type(), torch.Tensor))


@handles(torch.is_storage, VariableTracker)
def is_storage(tx: Tracing, obj: VariableTracker) -> VariableTracker:
    return ConstantVariable(obj.realize().python_type() in torch._storage_classes)


for _name in ("is_floating_point", "is_complex", "is_signed", "numel", "is_conj", "is_neg"):

    @handles(getattr(torch, _name), TensorVariable)
    def question(tx: Tracing, obj: TensorVariable, name: str = _name) -> VariableTracker:
        return tx.call_method(obj, name, [], {})


_NUMBERS = (int, float, complex)


@handles(torch.result_type, VariableTracker, VariableTracker)
def result_type(tx: Tracing, tensor1: VariableTracker, tensor2: VariableTracker) -> VariableTracker | None:
    """Compute the result type from the dtypes and numbers of dimensions of fakes; of a number, only its type
    counts."""
    operands = [tensor1.realize(), tensor2.realize()]
    if not any(isinstance(each, InGraphVariable) for each in operands):
        return None
    if not all(isinstance(each, TensorVariable) or issubclass(each.python_type(), _NUMBERS) for each in operands):
        return None
    given = [each.fake if isinstance(each, TensorVariable) else each.python_type()() for each in operands]
    return ConstantVariable(torch.result_type(*given))


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
    condition = condition.realize()
    if isinstance(condition, SymNodeVariable) and isinstance(condition.fake, torch.SymBool):
        if condition.fake.node.expr.free_symbols & unbacked(tx) and statically_known(condition.fake) is None:
            return _assert_in_graph(tx, condition)
    if isinstance(condition, (ConstantVariable, SymNodeVariable)) and tx.truth(condition):
        return NONE
    raise Unsupported("torch-check")


def _assert_in_graph(tx: Tracing, condition: SymNodeVariable) -> VariableTracker:
    """Have the graph check what no guard can: what follows is traced as if it held. Where it does not, the graph
    raises, and plain Python raises what the program would."""
    torch._check(condition.fake)  # type: ignore[no-untyped-call]
    message = f"Runtime assertion failed for expression {condition.fake.node.expr}"
    node = tx.output.add_node(
        "call_function", torch.ops.aten._assert_scalar.default, (condition.node, message), {}, None
    )
    node.meta["may_raise_on_data"] = True
    return NONE


def _needs_data(name: str) -> Any:
    def handler(tx: Tracing, *args: VariableTracker, **kwargs: VariableTracker) -> VariableTracker | None:
        if any(is_in_graph(arg) for arg in args):
            raise Unsupported("tensor-data", name=f"torch.{name}", what=args[0].describe())
        return None

    return handler


@handles(torch._has_compatible_shallow_copy_type, TensorVariable, TensorVariable)
def takes_the_data_of(tx: Tracing, tensor: TensorVariable, other: TensorVariable) -> VariableTracker:
    return ConstantVariable(torch._has_compatible_shallow_copy_type(tensor.fake, other.fake))


@handles(torch._C._nn._parse_to)
def parse_to(tx: Tracing, *args: VariableTracker, **kwargs: VariableTracker) -> VariableTracker | None:
    """Parse the arguments of `module.to`. Of a tensor argument, only its dtype and device matter."""
    known = [arg.realize() for arg in args]
    values = [arg.fake if isinstance(arg, TensorVariable) else constant_or(arg, arg) for arg in known]
    named = {name: constant_or(value.realize(), value) for name, value in kwargs.items()}
    if any(isinstance(value, VariableTracker) for value in (*values, *named.values())):
        return None
    try:
        return tx.constant(torch._C._nn._parse_to(*values, **named))
    except (TypeError, RuntimeError) as error:
        raise Unsupported("operation-fails", what="to", error=f"{type(error).__name__}: {error}") from None


for _name in ("equal", "allclose", "is_nonzero"):
    handles(getattr(torch, _name))(_needs_data(_name))


@handles(torch.typename, VariableTracker)
def typename(tx: Tracing, obj: VariableTracker) -> VariableTracker | None:
    if isinstance(obj, TensorVariable):
        return tx.call_method(obj, "type", [], {})
    return None


@handles(torch.manual_seed, VariableTracker)
def manual_seed(tx: Tracing, seed: VariableTracker) -> VariableTracker:
    raise Unsupported("random-state", name="torch.manual_seed")


@handles(torch.nn.Parameter)
def parameter(tx: Tracing, *args: VariableTracker, **kwargs: VariableTracker) -> VariableTracker:
    raise Unsupported("tensor-created", cls="Parameter")


@handles(TorchDispatchMode.__enter__, VariableTracker)
@handles(torch._C._push_on_torch_function_stack, VariableTracker)
@handles(torch._C._push_on_torch_dispatch_stack, VariableTracker)
def enter_mode(tx: Tracing, mode: VariableTracker) -> VariableTracker:
    raise Unsupported("torch-mode", mode=mode.python_type().__qualname__)
