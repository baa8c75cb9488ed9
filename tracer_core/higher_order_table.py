"""Higher-order operators and transforms of functions: what people call each, and why a call of it breaks the graph.

Found by `higher_order`: the Python functions by the module and name they are defined under, so that nothing is imported
for the table's sake; operators of `torch.ops.higher_order` by their class, those of tomorrow too. A handler registered
for one (`@handles` in `variables/registry.py`) traces the call, and where there is none, or it says "not like this",
the call breaks the graph by the name given here.
"""

from __future__ import annotations

import types
from dataclasses import dataclass
from typing import Any

import torch
from torch._ops import HigherOrderOperator


@dataclass(frozen=True, slots=True)
class HigherOrder:
    """`name` is as people write it. One that `returns_function` does nothing with tensors until the function that it
    returns is called; it is of `transformed` functions that the name is completed by what they were made of."""

    name: str
    reason_id: str
    returns_function: bool = False
    transformed: bool = False


_FUNCTIONS: dict[str, HigherOrder] = {}


def _add(reason_id: str, module: str, names: str, public: str | None = None) -> None:
    """Functions defined in `module`, which people find in `public`."""
    for name in names.split():
        _FUNCTIONS[f"{module}.{name}"] = HigherOrder(f"{public or module}.{name}", reason_id)


def _add_transform(module: str, name: str, made: str, returned_at_once: bool = False) -> None:
    """A transform in `torch.func`, and the function `made` inside it that it returns: at once, or beside a result."""
    public = f"torch.func.{name}"
    _FUNCTIONS[f"{module}.{name}"] = HigherOrder(public, "function-transform", returns_function=returned_at_once)
    named = public if returned_at_once else f"the function returned by {public}"
    _FUNCTIONS[f"{module}.{made}"] = HigherOrder(named, "function-transform", transformed=returned_at_once)


_APIS, _EAGER = "torch._functorch.apis", "torch._functorch.eager_transforms"
_add_transform(_APIS, "vmap", "vmap.<locals>.wrapped", returned_at_once=True)
_add_transform(_APIS, "grad", "grad.<locals>.wrapper", returned_at_once=True)
_add_transform(_APIS, "grad_and_value", "grad_and_value.<locals>.wrapper", returned_at_once=True)
_add_transform(_EAGER, "jacrev", "jacrev.<locals>.wrapper_fn", returned_at_once=True)
_add_transform(_EAGER, "jacfwd", "jacfwd.<locals>.wrapper_fn", returned_at_once=True)
_add_transform(_EAGER, "functionalize", "functionalize.<locals>.wrapped", returned_at_once=True)
_add_transform(_EAGER, "vjp", "_vjp_with_argnums.<locals>.wrapper")
_add_transform(_EAGER, "linearize", "linearize.<locals>.jvp_fn")
_FUNCTIONS[f"{_EAGER}.hessian"] = HigherOrder("torch.func.hessian", "function-transform", returns_function=True)
_add("function-transform", _EAGER, "jvp", "torch.func")
_add(
    "function-transform",
    "torch._functorch.deprecated",
    "vmap grad grad_and_value vjp jvp jacrev jacfwd hessian functionalize",
    "functorch",
)
_add("function-transform", "torch.autograd.functional", "vjp jvp vhp hvp jacobian hessian")

_add("autograd-call", "torch.autograd", "grad backward")
_add("autograd-call", "torch.autograd.gradcheck", "gradcheck gradgradcheck", "torch.autograd")
_add("autograd-call", "torch.autograd.graph", "register_multi_grad_hook get_gradient_edge")

_add("checkpoint", "torch.utils.checkpoint", "checkpoint checkpoint_sequential")

_HOPS = "torch._higher_order_ops"
for _module, _name, _public in (
    ("cond", "cond", "torch"),
    ("while_loop", "while_loop", "torch"),
    ("map", "map", _HOPS),
    ("scan", "scan", _HOPS),
    ("associative_scan", "associative_scan", _HOPS),
    ("foreach_map", "foreach_map", _HOPS),
):
    _add("control-flow-operator", f"{_HOPS}.{_module}", _name, _public)
_add("higher-order-operator", f"{_HOPS}.strict_mode", "strict_mode", _HOPS)
_add("higher-order-operator", f"{_HOPS}._invoke_quant", "InvokeQuant.__call__", _HOPS)
_add("higher-order-operator", "torch._library.triton", "wrap_triton", "torch.library")
_add("flex-attention", "torch.nn.attention.flex_attention", "flex_attention create_block_mask create_mask")

_CONTROL_FLOW = frozenset(
    {"cond", "while_loop", "while_loop_stack_output", "map_impl", "scan", "associative_scan", "foreach_map"}
)

_DISABLED_CODE = torch._compile._disable_dynamo(len).__code__


def higher_order(function: Any) -> HigherOrder | None:
    """The entry of a function or operator; None for those of which there is none."""
    if isinstance(function, HigherOrderOperator):
        name = function.name()
        reason_id = "control-flow-operator" if name in _CONTROL_FLOW else "higher-order-operator"
        return HigherOrder(f"torch.ops.higher_order.{name}", reason_id)
    if not isinstance(function, types.FunctionType):
        return None
    plain = undecorated(function)
    module = plain.__globals__.get("__name__")
    return _FUNCTIONS.get(f"{module}.{plain.__code__.co_qualname}") if isinstance(module, str) else None


def undecorated(function: types.FunctionType) -> types.FunctionType:
    """A function of torch's that it marks as not to be compiled, without the mark; any other as it is."""
    if function.__code__ is not _DISABLED_CODE:
        return function
    inside = function.__closure__[function.__code__.co_freevars.index("fn")].cell_contents  # type: ignore[index]
    return inside if isinstance(inside, types.FunctionType) else function


def written(function: Any) -> str:
    """A call's function as people would write it: `torch.func.vmap(f)` for what a transform returned."""
    entry = higher_order(function)
    if entry is None:
        owner = getattr(function, "__self__", None)
        name = str(getattr(function, "__name__", None) or type(function).__name__)
        return f"{owner.__qualname__}.{name}" if isinstance(owner, type) else name
    if not entry.transformed:
        return entry.name
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
    return f"{entry.name}({written(cells['func'].cell_contents)})"
