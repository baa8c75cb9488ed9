"""Transforms of `torch.func`: torch's Python for them is inlined down to the functions here, which are nodes.

A transform enters a level (of `vmap`, `grad` or `jvp`) and leaves it again. In between, its tensors are wrapped for
that level: so are the fakes, since levels are entered for real while the program is traced.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from torch._C import _functorch
from torch._functorch import eager_transforms, predispatch
from torch.autograd import forward_ad

from tracer_core.errors import Unsupported
from tracer_core.graph.settings import Entered
from tracer_core.variables.containers.sequences import TupleVariable
from tracer_core.variables.core.base import VariableTracker
from tracer_core.variables.core.constant import NONE, ConstantVariable
from tracer_core.variables.core.registry import handles
from tracer_core.variables.core.tensors import TensorVariable
from tracer_core.variables.core.tracing import Tracing
from tracer_core.variables.operations.in_graph import as_argument, call_in_graph


@dataclass(frozen=True, slots=True)
class Level:
    """A kind of level: its name for people, and the functions that enter and leave it."""

    name: str
    enter: Callable[..., int]
    leave: Callable[[], int]


LEVELS = (
    Level("torch.func.vmap", predispatch._vmap_increment_nesting, predispatch._vmap_decrement_nesting),
    Level("torch.func.grad", _functorch._grad_increment_nesting, _functorch._grad_decrement_nesting),
    Level("torch.func.jvp", predispatch._jvp_increment_nesting, predispatch._jvp_decrement_nesting),
)


def _register(level: Level) -> None:
    @handles(level.enter)
    def enter(tx: Tracing, *args: VariableTracker) -> VariableTracker:
        pairs = [as_argument(arg) for arg in args]
        number = ConstantVariable(level.enter(*(fake for _, fake in pairs)))
        entered = Entered(number, level.leave, False, tx.root_step, name=level.name)
        tx.output.settings.entered.append(entered)
        tx.output.add_node("call_function", level.enter, tuple(node for node, _ in pairs), {}, None)
        return number

    @handles(level.leave)
    def leave(tx: Tracing) -> VariableTracker:
        settings = tx.output.settings
        entered = settings.entered[-1] if settings.entered else None
        if entered is None or entered.name != level.name:
            raise Unsupported("left-elsewhere", type=level.name)
        tx.output.add_node("call_function", level.leave, (), {}, None)
        settings.leave(entered)
        return NONE

    enter.__qualname__ = f"{level.name}.enter"
    leave.__qualname__ = f"{level.name}.leave"


for _level in LEVELS:
    _register(_level)


def _node(function: Any) -> None:
    @handles(function)
    def node(tx: Tracing, /, *args: VariableTracker, **kwargs: VariableTracker) -> VariableTracker:
        return call_in_graph(tx, "call_function", function, list(args), kwargs)

    node.__qualname__ = f"transforms.{function.__name__}"


_NODES: tuple[Any, ...] = (
    predispatch._add_batch_dim,
    predispatch._remove_batch_dim,
    predispatch._unwrap_for_grad,
    _functorch._wrap_for_grad,
    eager_transforms._autograd_grad,
    eager_transforms._set_tensor_requires_grad,
)
for _function in _NODES:
    _node(_function)


def _answers_from_fake(function: Any) -> None:
    @handles(function, TensorVariable)
    def question(tx: Tracing, tensor: TensorVariable) -> VariableTracker:
        """Answer from the fake, which is wrapped as the tensor will be."""
        return ConstantVariable(function(tensor.fake))

    question.__qualname__ = f"transforms.{function.__name__}"


_READS_OF_LEVELS: tuple[Any, ...] = (
    _functorch.is_batchedtensor,
    _functorch.is_gradtrackingtensor,
    _functorch.is_functorch_wrapped_tensor,
    _functorch.maybe_get_level,
    _functorch.maybe_get_bdim,
)
for _function in _READS_OF_LEVELS:
    _answers_from_fake(_function)


@handles(_functorch._unwrap_batched, TensorVariable, VariableTracker)
def unwrap_batched(tx: Tracing, tensor: TensorVariable, level: VariableTracker) -> VariableTracker:
    """Return the tensor below this level of `vmap`, and the dimension that the level maps over."""
    fake = tensor.fake
    if not _functorch.is_batchedtensor(fake) or _functorch.maybe_get_level(fake) != level.value():
        return TupleVariable([tensor, NONE])
    below = call_in_graph(tx, "call_function", _functorch.get_unwrapped, [tensor], {})
    return TupleVariable([below, ConstantVariable(_functorch.maybe_get_bdim(fake))])


def _loader(function: Any) -> None:
    @handles(function)
    def load(tx: Tracing) -> VariableTracker:
        """Load torch's decompositions, which are needed when the graph runs, and here as well."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # torch calls functions of its own that are deprecated
            function()
        tx.output.add_node("call_function", function, (), {}, None)
        return NONE

    load.__qualname__ = f"transforms.{function.__name__}"


for _function in (predispatch.lazy_load_decompositions, forward_ad._maybe_load_decompositions):
    _loader(_function)
