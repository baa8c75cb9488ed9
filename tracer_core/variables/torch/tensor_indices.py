"""Scalar tensors as indices, where torch computes masks: they look up elements, and are not read."""

from __future__ import annotations

import operator
from typing import Any

import torch
import torch.utils._pytree as pytree
from torch.overrides import TorchFunctionMode

from tracer_core.errors import Unsupported
from tracer_core.graph.settings import Entered
from tracer_core.variables.containers.sequences import ListVariable, SliceVariable, TupleVariable
from tracer_core.variables.core.base import VariableTracker, constant_or
from tracer_core.variables.core.constant import NONE, ConstantVariable
from tracer_core.variables.core.registry import handles
from tracer_core.variables.core.tensors import TensorVariable
from tracer_core.variables.core.tracing import Tracing
from tracer_core.variables.objects.user_objects import UserDefinedObjectVariable
from tracer_core.variables.operations.in_graph import call_in_graph


class IndicesAreTensors(TorchFunctionMode):
    """In the block, fakes are indexed so. The operator that runs the graph does the same."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func is torch.Tensor.__getitem__:
            tensor, indices = args[0], pytree.tree_leaves(args[1])
            if all(isinstance(index, (torch.Tensor, int)) for index in indices):
                return torch.ops.aten.index(tensor, [torch.as_tensor(i, device=tensor.device) for i in indices])
        return func(*args, **(kwargs or {}))


_MODULE, _NAME = "torch._dynamo._trace_wrapped_higher_order_op", "TransformGetItemToIndex"
"""Torch's own mode for it, in a module that the engine does not import."""


@handles(torch._C._push_on_torch_function_stack, UserDefinedObjectVariable)
def enter(tx: Tracing, mode: UserDefinedObjectVariable) -> VariableTracker | None:
    if (mode.cls.__module__, mode.cls.__qualname__) != (_MODULE, _NAME):
        return None
    tx.output.settings.entered.append(Entered(mode, _nothing, False, tx.root_step))
    return NONE


@handles(torch._C._pop_torch_function_stack)
def leave(tx: Tracing) -> VariableTracker:
    settings = tx.output.settings
    entered = next((each for each in reversed(settings.entered) if _is_mode(each)), None)
    if entered is None or settings.innermost(entered.manager) is not entered:
        raise Unsupported("left-elsewhere", type=_NAME)
    settings.leave(entered)
    return entered.manager  # type: ignore[no-any-return]


def _is_mode(entered: Entered) -> bool:
    return isinstance(entered.manager, UserDefinedObjectVariable) and entered.manager.cls.__qualname__ == _NAME


def _nothing() -> None:
    """Nothing was entered for real: the nodes below are what it does."""


@handles(operator.getitem, TensorVariable, VariableTracker)
def look_up(tx: Tracing, tensor: TensorVariable, index: VariableTracker) -> VariableTracker | None:
    if not any(map(_is_mode, tx.output.settings.entered)):
        return None
    parts = index.items if isinstance(index, (TupleVariable, ListVariable)) else [index]
    keys = [_key(part.realize()) for part in parts]
    if not keys or None in keys:
        return None
    scalars: list[VariableTracker] = [key for key in keys if isinstance(key, TensorVariable)]
    if len(scalars) == len(keys):
        return call_in_graph(tx, "call_function", torch.ops.aten.index, [tensor, ListVariable(scalars)], {})
    # Numbers first: as tensors beside others, they would not be of the same level of `vmap`.
    whole = SliceVariable([NONE, NONE, NONE])
    numbers = TupleVariable([whole if key in scalars else key for key in keys if key is not None])
    chosen = call_in_graph(tx, "call_function", operator.getitem, [tensor, numbers], {})
    if not scalars:
        return chosen
    return call_in_graph(tx, "call_function", torch.ops.aten.index, [chosen, ListVariable(scalars)], {})


def _key(part: VariableTracker) -> VariableTracker | None:
    if isinstance(part, TensorVariable):
        return part
    value = constant_or(part, None)
    return ConstantVariable(int(value)) if isinstance(value, int) else None
