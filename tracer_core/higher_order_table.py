"""Higher-order operators and transforms of functions: the public name of each, and why its call breaks the graph.

Python functions are found by the module and name that they are defined under, so that nothing is imported for the
table's sake; operators of `torch.ops.higher_order` by their class, so that new ones are known too. A handler that is
registered for one (`@handles` in `variables/core/registry.py`) traces the call; without one, or where it declines,
the call breaks the graph by the name given here.
"""

from __future__ import annotations

import types
from dataclasses import dataclass
from typing import Any

import torch
from torch._ops import HigherOrderOperator

from tracer_core.errors import Unsupported


@dataclass(frozen=True, slots=True)
class HigherOrder:
    """`name` is as people write it. `transformed` is set for functions that a transform returned: the function that
    was transformed is part of how they are written. `origin` says of an operator that no program calls where calls of
    it come from."""

    name: str
    reason_id: str
    transformed: bool = False
    origin: str = ""

    @property
    def is_inlined(self) -> bool:
        """Return whether torch's Python for it is traced."""
        return self.reason_id == "transform-called"

    @property
    def is_transform(self) -> bool:
        """Return whether the functions that it calls run on wrapped tensors, or are differentiated."""
        return self.reason_id in ("transform-called", "function-transform")


_FUNCTIONS: dict[str, HigherOrder] = {}
"""By the module and the qualified name of their code."""


def _add(reason_id: str, module: str, names: str, public: str | None = None) -> None:
    """Add functions defined in `module`, which people find in `public`."""
    for name in names.split():
        _FUNCTIONS[f"{module}.{name}"] = HigherOrder(f"{public or module}.{name}", reason_id)


_NOT_TRACED = ("functionalize", "linearize")


def _transform(module: str, name: str) -> str:
    """Return the reason id of a transform."""
    not_traced = name in _NOT_TRACED or module == "torch.autograd.functional"
    return "function-transform" if not_traced else "transform-called"


def _add_transforms(module: str, names: str, public: str | None = None) -> None:
    for name in names.split():
        _add(_transform(module, name), module, name, public)


def _add_returned(path: str, name: str, *, transformed: bool = False) -> None:
    """Add the inner function that a transform returns."""
    _FUNCTIONS[path] = HigherOrder(name, _transform("", name.rpartition(".")[2]), transformed)


_APIS, _EAGER = "torch._functorch.apis", "torch._functorch.eager_transforms"
_add_transforms(_APIS, "vmap grad grad_and_value", "torch.func")
_add_transforms(_EAGER, "vjp jvp jacrev jacfwd hessian functionalize linearize", "torch.func")
_add_transforms(
    "torch._functorch.deprecated",
    "vmap grad grad_and_value vjp jvp jacrev jacfwd hessian functionalize",
    "functorch",
)
_add_transforms("torch.autograd.functional", "vjp jvp vhp hvp jacobian hessian")
for _path in (
    *(f"{_APIS}.vmap.<locals>.wrapped", f"{_APIS}.grad.<locals>.wrapper"),
    *(f"{_APIS}.grad_and_value.<locals>.wrapper", f"{_EAGER}.functionalize.<locals>.wrapped"),
    *(f"{_EAGER}.jacrev.<locals>.wrapper_fn", f"{_EAGER}.jacfwd.<locals>.wrapper_fn"),
):
    _add_returned(_path, f"torch.func.{_path.split('.')[3]}", transformed=True)
_add_returned(f"{_EAGER}._vjp_with_argnums.<locals>.wrapper", "the function returned by torch.func.vjp")
_add_returned(f"{_EAGER}.linearize.<locals>.jvp_fn", "the function returned by torch.func.linearize")

_add("autograd-call", "torch.autograd", "grad backward")
_add("autograd-call", "torch.autograd.gradcheck", "gradcheck gradgradcheck", "torch.autograd")
_add("autograd-call", "torch.autograd.graph", "register_multi_grad_hook get_gradient_edge")
_add("higher-order-operator", "torch.utils.checkpoint", "checkpoint")

_OPERATORS = "torch._higher_order_ops"
for _name in ("cond", "while_loop"):
    _add("control-flow-operator", f"{_OPERATORS}.{_name}", _name, "torch")
for _name in ("map", "scan", "associative_scan", "foreach_map"):
    _add("control-flow-operator", f"{_OPERATORS}.{_name}", _name, _OPERATORS)
_add("higher-order-operator", f"{_OPERATORS}.strict_mode", "strict_mode", _OPERATORS)
_add("higher-order-operator", f"{_OPERATORS}._invoke_quant", "InvokeQuant.__call__", _OPERATORS)
_add("higher-order-operator", "torch._library.triton", "wrap_triton", "torch.library")

_CONTROL_FLOW = frozenset(
    "cond while_loop while_loop_stack_output map_impl scan associative_scan foreach_map".split()
)
_ORIGINS = {
    "aoti_call_delegate": "lowering an exported program with AOTInductor puts it in the place of a module",
    "control_deps": "Inductor orders operations with it, in graphs that it rewrites",
    "flex_attention_backward": "the backward pass of flex_attention calls it",
    "graphsafe_run_with_rng_state": "AOTAutograd draws random numbers again with it, in backward graphs",
    "inductor_compiled_code": "Inductor calls the code that it has generated with it",
    "local_map_hop": "torch puts it in the place of local_map on distributed tensors, where a private switch is set",
    "run_const_graph": "compilers of exported programs compute what depends on constants alone with it",
    "run_dtensor_rng_op": "DTensor draws random numbers with it, when AOTAutograd traces its operations",
    "triton_kernel_wrapper_functional": "AOTAutograd puts it in the place of triton_kernel_wrapper_mutation",
    "with_effects": "AOTAutograd orders operations that have side effects with it",
}
"""Operators that no program calls: where calls of them come from."""

_NAMED = (types.FunctionType, types.MethodType, types.BuiltinFunctionType, type)
_DISABLED_CODE = torch._compile._disable_dynamo(len).__code__


def higher_order(function: Any) -> HigherOrder | None:
    """Return the entry of a function or operator; None for those that have none."""
    if isinstance(function, HigherOrderOperator):
        name: str = function.name()  # type: ignore[no-untyped-call]
        return HigherOrder(f"torch.ops.higher_order.{name}", _reason_of(name), origin=_ORIGINS.get(name, ""))
    if not isinstance(function, types.FunctionType):
        return None
    plain = undecorated(function)
    return defined_as(plain.__globals__.get("__name__"), plain.__code__)


def _reason_of(operator: str) -> str:
    if operator in _ORIGINS:
        return "operator-of-compilers"
    return "control-flow-operator" if operator in _CONTROL_FLOW else "higher-order-operator"


def unsupported(function: Any) -> Unsupported | None:
    """Return why a call of a function or operator of the table breaks the graph; None for others."""
    entry = higher_order(function)
    if entry is None:
        return None
    facts = {"origin": entry.origin} if entry.origin else {}
    return Unsupported(entry.reason_id, name=written(function), **facts)


def defined_as(module: Any, code: types.CodeType) -> HigherOrder | None:
    """Return the entry of the Python function with this code, defined in the module of this name."""
    return _FUNCTIONS.get(f"{module}.{code.co_qualname}") if type(module) is str else None


def undecorated(function: types.FunctionType) -> types.FunctionType:
    """Return a function that torch itself marks as not to be compiled, without the mark; any other unchanged."""
    if function.__code__ is not _DISABLED_CODE:
        return function
    inside = _closure(function)["fn"]
    return inside if isinstance(inside, types.FunctionType) else function


def written(function: Any) -> str:
    """Return a function as people write it in a call: `torch.func.vmap(f)` for a function that a transform
    returned."""
    entry = higher_order(function)
    if entry is not None:
        return f"{entry.name}({written(_closure(function)['func'])})" if entry.transformed else entry.name
    if not isinstance(function, _NAMED):
        return type(function).__name__
    owner = getattr(function, "__self__", None)
    return f"{owner.__qualname__}.{function.__name__}" if isinstance(owner, type) else function.__name__


def _closure(function: types.FunctionType) -> dict[str, Any]:
    cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
    return {name: cell.cell_contents for name, cell in cells}
