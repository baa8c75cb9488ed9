"""Say what a value, a node or a graph is, as text that is equal for two graphs that are."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import sympy
import torch
from torch.fx.passes.shape_prop import TensorMetadata
from torch.nested._internal.nested_int import NestedIntNode

ADDRESS = re.compile(r"0x[0-9a-f]+")


def describe(value: Any) -> str:
    """A value in a node's arguments or metadata."""
    for kind, text in KINDS.items():
        if isinstance(value, kind):
            return text(value)
    return ADDRESS.sub("0x", repr(value))


def tensor(value: torch.Tensor) -> str:
    if torch._C._functorch.is_functorch_wrapped_tensor(value):  # whose transform has ended, so it answers nothing
        return f"<wrapped {tensor(torch._C._functorch.get_unwrapped(value))}>"
    parts = [
        type(value).__name__,
        str(value.dtype),
        describe(tuple(value.shape)),
        str(value.device),
        str(value.layout),
    ]
    if value.layout is torch.strided and not value.is_nested:
        parts += [f"strides {describe(value.stride())}", f"offset {describe(value.storage_offset())}"]
    flags = ("requires_grad", "is_leaf", "is_conj", "is_neg", "is_inference")
    parts += [flag for flag in flags if truth(getattr(value, flag))]
    if torch.utils._python_dispatch.is_traceable_wrapper_subclass(value):
        names, context = value.__tensor_flatten__()  # type: ignore[attr-defined]
        parts += [f"{name}: {tensor(getattr(value, name))}" for name in names] + [describe(context)]
    return f"<{' '.join(parts)}>"


def truth(flag: Any) -> bool:
    return bool(flag() if callable(flag) else flag)


def symbolic_number(value: Any) -> str:
    node = value.node
    if isinstance(node, NestedIntNode):  # the sizes of a jagged tensor, numbered through the process
        return f"{type(value).__name__}(nested, times {node.nested_int_coeff()})"
    hint = node.hint if node.has_hint() else None
    return f"{type(value).__name__}({node.expr}, hint {hint})"


def graph_module(value: torch.fx.GraphModule) -> str:
    return f"GraphModule({'; '.join(f'{node.op} {node.name}' for node in value.graph.nodes)})"


def callable_object(value: Any) -> str:
    name = getattr(value, "__qualname__", None) or getattr(value, "__name__", type(value).__name__)
    return f"{getattr(value, '__module__', '')}.{name}"


def operator_object(value: Any) -> str:
    return f"{type(value).__name__} {value}"


def sequence(value: Any) -> str:
    return f"{type(value).__name__}({', '.join(map(describe, value))})"


def mapping(value: Any) -> str:
    return f"{type(value).__name__}({', '.join(f'{describe(k)}: {describe(v)}' for k, v in value.items())})"


def slice_object(value: slice) -> str:
    return f"slice{sequence((value.start, value.stop, value.step))}"


def named_sequence(value: Any) -> str:
    fields = (f"{name}={describe(each)}" for name, each in zip(value._fields, value, strict=True))
    return f"{type(value).__name__}({', '.join(fields)})"


KINDS: dict[Any, Callable[[Any], str]] = {
    torch.fx.Node: lambda node: f"%{node.name}",
    torch.Tensor: tensor,
    (torch.SymInt, torch.SymFloat, torch.SymBool): symbolic_number,
    torch.fx.GraphModule: graph_module,
    (torch._ops.OpOverload, torch._ops.OpOverloadPacket, torch._ops.HigherOrderOperator): operator_object,
    TensorMetadata: named_sequence,
    slice: slice_object,
    (tuple, list, torch.Size): sequence,
    dict: mapping,
    sympy.Basic: str,
    type: callable_object,
    (type(len), type(describe)): callable_object,
}
