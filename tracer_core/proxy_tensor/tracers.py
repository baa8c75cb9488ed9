"""`PythonKeyTracer`: builds the graph of a trace, with constants and parameters as attributes of its root."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

import torch
import torch.fx._symbolic_trace as symbolic_trace
from torch import Tensor
from torch._higher_order_ops.invoke_subgraph import InvokeSubgraphHOP
from torch._higher_order_ops.triton_kernel_wrap import TritonKernelWrapperFunctional, TritonKernelWrapperMutation
from torch._library.fake_class_registry import FakeScriptObject
from torch._library.opaque_object import OpaqueBase, get_reconstruct_fn, is_opaque_reference_type
from torch._library.utils import get_layout_constraint_tag
from torch._ops import HigherOrderOperator, OpOverload
from torch._subclasses.fake_tensor import FakeTensor
from torch.fx import Graph, Node, Proxy, Tracer
from torch.fx.node import map_aggregate
from torch.fx.proxy import GraphAppendingTracer
from torch.types import py_sym_types
from torch.utils._pytree import tree_any

from tracer_core import observer
from tracer_core.proxy_tensor.metadata import extract_val, set_meta
from tracer_core.proxy_tensor.modes import disable_proxy_modes_tracing
from tracer_core.proxy_tensor.slots import add_slots, get_proxy_slot, is_object, set_proxy_slot


class PythonKeyTracer(Tracer):
    """Build the graph of the operators that reach the proxy mode. Modules are not leaves of it."""

    script_object_tracker: Any
    opaque_tracker: Any
    _opaque_real_obj_proxy: dict[int, Proxy]
    symnode_tracker: Any
    sympy_expr_tracker: dict[Any, Any]
    tensor_tracker: Any
    torch_fn_metadata: Any
    torch_fn_counts: dict[Any, int]
    enable_thunkify: bool
    proxy_module_inputs = False
    root: torch.nn.Module

    def __init__(self) -> None:
        super().__init__(autowrap_modules=())  # type: ignore[arg-type]
        add_slots(self)
        self._parameters: tuple[torch.nn.Module, dict[int, str]] | None = None

    def for_body(self) -> PythonKeyTracer:
        """Return a tracer like this one for the body of a higher-order operator."""
        return PythonKeyTracer()

    # --- the graph --------------------------------------------------------------------------------------
    def trace(self, root: Any, concrete_args: Any = None) -> Graph:
        """Return the graph of `root`, which is called with proxies for its arguments."""
        kind = type(self)
        if (
            isinstance(root, torch.nn.Module)
            or kind.call_module is not PythonKeyTracer.call_module
            or kind.getattr is not PythonKeyTracer.getattr
        ):
            return super().trace(root, concrete_args)
        # What `Tracer.trace` adds to this is for tracers that see calls of modules.
        before, symbolic_trace._is_fx_tracing_flag = symbolic_trace._is_fx_tracing_flag, True
        try:
            self.root = torch.nn.Module()
            self.tensor_attrs = {}
            self.graph = Graph(tracer_cls=kind)
            code = root.__code__
            self.graph._co_fields = {
                "co_name": code.co_name,
                "co_filename": code.co_filename,
                "co_firstlineno": code.co_firstlineno,
            }
            function, args = self.create_args_for_root(root, False, concrete_args)
            returns = inspect.get_annotations(inspect.unwrap(function)).get("return")
            self.create_node("output", "output", (self.create_arg(function(*args)),), {}, type_expr=returns)
        finally:
            symbolic_trace._is_fx_tracing_flag = before
        return self.graph

    def call_module(self, m: Any, forward: Callable[..., Any], args: Any, kwargs: dict[str, Any]) -> Any:
        return forward(*args, **kwargs)

    def getattr(self, attr: str, attr_val: Any, parameter_proxy_cache: dict[str, Proxy]) -> Any:
        return attr_val

    def create_node(
        self, kind: str, target: Any, args: Any, kwargs: Any, name: str | None = None, type_expr: Any = None
    ) -> Node:
        node = super().create_node(kind, target, args, kwargs, name, type_expr)
        if kind in ("placeholder", "output"):
            node.meta.pop("stack_trace", None)
        elif kind == "get_attr":
            value = getattr(self.root, target)
            if isinstance(value, Tensor):
                with disable_proxy_modes_tracing():
                    node.meta["val"] = extract_val(value)
        elif _needs_strides(target, args, kwargs):
            # Inductor reproduces the strides that such operators were called with.
            node.meta["eager_input_vals"] = map_aggregate((args, kwargs), _fake_of_argument)
        seen = observer.current()
        if seen is not None:
            seen.on_dispatch_node(node)
        return node

    # --- arguments of nodes -------------------------------------------------------------------------------
    def create_arg(self, a: Any) -> Any:
        if isinstance(a, torch.nn.Parameter):
            return self.create_node("get_attr", self._parameter(a), (), {})
        if isinstance(a, py_sym_types):
            if a.node.constant is None:
                raise RuntimeError(f"the symbolic number {a} is an argument, but no node computes it")
            return a.node.constant
        if isinstance(a, (FakeScriptObject, OpaqueBase)):
            node = self._reconstructed(a)
            if node is not None:
                return node
        return super().create_arg(a)

    def _parameter(self, parameter: torch.nn.Parameter) -> str:
        """Return the name of a parameter in the root, which gets it as an attribute where it has none."""
        if self._parameters is None or self._parameters[0] is not self.root:
            self._parameters = (self.root, {id(each): name for name, each in self.root.named_parameters()})
        names = self._parameters[1]
        name = names.get(id(parameter))
        if name is None:
            name = names[id(parameter)] = self.get_fresh_qualname("_param_constant")
            setattr(self.root, name, parameter)
        return name

    def _reconstructed(self, value: Any) -> Node | None:
        """Return a node that derives an opaque object without a slot from those that have one, if its type can."""
        real = value.real_obj if isinstance(value, FakeScriptObject) else value
        if not is_opaque_reference_type(type(real)):
            return None
        reconstruct = get_reconstruct_fn(type(real))
        if reconstruct is None:
            return None

        def proxy_of(part: Any) -> Proxy | None:
            proxy = self._opaque_real_obj_proxy.get(id(part)) or get_proxy_slot(part, self, None)
            if proxy is not None:
                return proxy
            # A fake object may wrap another object that is equal.
            equal = (
                tracked_proxy
                for tracked, tracked_proxy in self.opaque_tracker.items()
                if isinstance(tracked, FakeScriptObject) and tracked.real_obj == part
            )
            return next(equal, None)

        proxy: Any = reconstruct(real, proxy_of, self)  # type: ignore[arg-type]
        if proxy is None:
            return None
        if "val" not in proxy.node.meta:
            set_meta(proxy, value)
        set_proxy_slot(value, self, proxy)
        self._opaque_real_obj_proxy.setdefault(id(real), proxy)
        node: Node = proxy.node
        return node

    def unwrap_proxy(self, e: Any) -> Any:
        """Return the proxy that stands for a value; a value without one as it is."""
        if isinstance(e, Tensor):
            slot = self.tensor_tracker.get(e)
            return e if slot is None else slot.proxy
        if isinstance(e, py_sym_types):
            return get_proxy_slot(e, self, e, lambda thunk: thunk.force())
        return get_proxy_slot(e, self, e) if is_object(e) else e


class AppendingTracer(GraphAppendingTracer):
    """Append to a graph that exists, as an interpreter of another graph does."""

    def __init__(self, graph: Graph) -> None:
        super().__init__(graph)
        add_slots(self)

    unwrap_proxy = PythonKeyTracer.unwrap_proxy


def _fake_of_argument(value: Any) -> Any:
    """Return the fake value of a node, for `meta["eager_input_vals"]`."""
    if not isinstance(value, Node) or "val" not in value.meta:
        return None
    fake = value.meta["val"]
    return None if isinstance(fake, Tensor) and not isinstance(fake, FakeTensor) else extract_val(fake)


_WITH_STRIDES = (TritonKernelWrapperFunctional, TritonKernelWrapperMutation, InvokeSubgraphHOP)
_FUNCTIONALIZED = (torch.ops.higher_order.auto_functionalized, torch.ops.higher_order.auto_functionalized_v2)


def _needs_strides(target: Any, args: Any, kwargs: Any) -> bool:
    """Must the strides of the arguments at this call be kept for the operator?"""
    if isinstance(target, OpOverload):
        return _operator_needs_strides(target)
    if not isinstance(target, HigherOrderOperator):
        return False
    if isinstance(target, _WITH_STRIDES):
        return True
    if target in _FUNCTIONALIZED:
        return _needs_strides(args[0], (), {})
    if target is not torch.ops.higher_order.with_effects and tree_any(_is_operator_with_strides, (args, kwargs)):
        raise RuntimeError(f"{target} got an operator that needs its arguments' strides, which is not supported yet")
    return False


def _is_operator_with_strides(value: Any) -> bool:
    return isinstance(value, (OpOverload, HigherOrderOperator)) and _needs_strides(value, (), {})


def _operator_needs_strides(operator: OpOverload) -> bool:
    if operator.namespace in ("aten", "prims", "prim"):
        return _builtin_needs_strides(operator)
    return get_layout_constraint_tag(operator) == torch._C.Tag.needs_exact_strides


@functools.lru_cache(maxsize=8192)
def _builtin_needs_strides(operator: OpOverload) -> bool:
    return get_layout_constraint_tag(operator) == torch._C.Tag.needs_exact_strides
