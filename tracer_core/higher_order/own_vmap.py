"""`vmap` of a `torch.autograd.Function` by its own `vmap` staticmethod, which is traced outside of the level of
`torch.func.vmap` that it maps for."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from torch._C import _functorch
from torch._functorch.pyfunctorch import VmapInterpreter, retrieve_current_functorch_interpreter

from tracer_core.errors import Unsupported
from tracer_core.higher_order.autograd_call import Call, is_inherited
from tracer_core.polyfills import own_vmap as polyfill
from tracer_core.variables.core.base import VariableTracker
from tracer_core.variables.core.registry import handles
from tracer_core.variables.core.tracing import Tracing
from tracer_core.variables.objects.classes import ClassVariable


def maps_itself(tx: Tracing, call: Call) -> bool:
    """Return whether the innermost transform is `vmap`, and the Function has a `vmap` of its own for it."""
    if is_inherited(call.cls, "vmap") or tx.truth(tx.get_attr(call.cls, "generate_vmap_rule")):
        return False
    return isinstance(retrieve_current_functorch_interpreter(), VmapInterpreter)


def mapped(tx: Tracing, call: Call) -> VariableTracker:
    """Return the result of the call, mapped for the innermost level."""
    level = retrieve_current_functorch_interpreter()
    assert isinstance(level, VmapInterpreter)
    options = tx.constant(level.level()), tx.constant(level.randomness())
    return tx.call_python(polyfill.mapped, call.cls, *options, *call.inputs)


@handles(polyfill.below_level)
def _below_level(tx: Tracing, function: VariableTracker, /, *args: VariableTracker) -> VariableTracker:
    with _left_for_a_while(tx):
        return tx.call(function, args)


@contextlib.contextmanager
def _left_for_a_while(tx: Tracing) -> Iterator[None]:
    """Leave the innermost level and enter it again, in the graph and while tracing: fakes are those below it."""
    level = _functorch.pop_dynamic_layer_stack()
    node = tx.output.add_node("call_function", _functorch.pop_dynamic_layer_stack, (), {}, None)
    try:
        yield
    finally:
        _functorch.push_dynamic_layer_stack(level)
        tx.output.add_node("call_function", _functorch.push_dynamic_layer_stack, (node,), {}, None)


@handles(polyfill.refuse_result, ClassVariable)
def _refuse_result(tx: Tracing, function: ClassVariable) -> VariableTracker:
    name = f"{function.known.__qualname__}.apply"
    raise Unsupported("autograd-function", name=name, why="its vmap does not return outputs and their dimensions")
