"""`executorch_call_delegate`: a module that was lowered for another runtime, as one node."""

from __future__ import annotations

from typing import Any

import torch
from torch._higher_order_ops.executorch_call_delegate import (
    LOWERED_BACKEND_MODULE_TYPE,
    executorch_call_delegate,
)
from torch.fx import map_arg
from torch.utils import _pytree as pytree

from tracer_core.errors import Unsupported
from tracer_core.graph.memory import storage_of
from tracer_core.guards import make
from tracer_core.higher_order.results import run_operator
from tracer_core.variables.builders.results import wrap_fx_proxy
from tracer_core.variables.core.base import VariableTracker, constant_or
from tracer_core.variables.core.registry import handles
from tracer_core.variables.core.tensors import InGraphVariable
from tracer_core.variables.core.tracing import Tracing
from tracer_core.variables.objects.nn_module import NNModuleVariable

_NAME = "executorch_call_delegate"


@handles(executorch_call_delegate)
def _call_delegate(tx: Tracing, lowered: VariableTracker, /, *args: VariableTracker) -> VariableTracker | None:
    lowered = lowered.realize()
    if not isinstance(lowered, NNModuleVariable) or lowered.source is None:
        return None
    module = tx.trace.real_value(lowered)
    if type(module).__name__ != LOWERED_BACKEND_MODULE_TYPE:
        return None
    tx.guard(make.identity(lowered.source, module))
    given = [_in_graph(arg.realize()) for arg in args]
    fakes = [map_arg(value, lambda node: node.meta["example_value"]) for value in given]
    fake = run_operator(tx, executorch_call_delegate, (module, *fakes), {})
    _refuse_aliases(given, fakes, fake)
    called = tx.output.current.add_attribute("delegate", module, module)
    node = tx.output.add_node("call_function", executorch_call_delegate, (called, *given), {}, fake)
    return wrap_fx_proxy(tx, node, fake)


def _in_graph(arg: VariableTracker) -> Any:
    if isinstance(arg, InGraphVariable):
        return arg.node
    value = constant_or(arg, arg)
    if value is arg:
        raise Unsupported("body-argument", type=arg.python_type_name())
    return value


def _refuse_aliases(given: list[Any], fakes: list[Any], results: Any) -> None:
    """Check that no result shares memory with an argument, as modules of that runtime promise."""
    inputs = {
        storage_of(fake): node.name for node, fake in zip(given, fakes, strict=True) if isinstance(fake, torch.Tensor)
    }
    for result in pytree.tree_leaves(results):
        if isinstance(result, torch.Tensor) and storage_of(result) in inputs:
            raise Unsupported("body-returns-alias", what=f"its input {inputs[storage_of(result)]}")
