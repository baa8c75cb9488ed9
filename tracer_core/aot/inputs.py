"""Make a function of the captured graph, with every tensor that it uses as an argument."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
import torch.fx
from torch._guards import detect_fake_mode
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode
from torch.fx.traceback import preserve_node_meta
from torch.nn.utils.stateless import _reparametrize_module
from torch.utils._sympy.symbol import SymT, symbol_is_type

from tracer_core.aot.lowered import CannotLower
from tracer_core.errors import FloatsMustBeConstants


@dataclass(frozen=True, slots=True)
class Inputs:
    """The arguments of the lowered function: those of the captured graph, then the tensors that it holds."""

    names: tuple[str, ...]
    held: tuple[torch.Tensor, ...]
    fakes: tuple[Any, ...]
    fake_mode: FakeTensorMode


def inputs_of(module: torch.fx.GraphModule, examples: Sequence[Any]) -> Inputs:
    """Return the inputs, with fakes for those that are real."""
    held = {**dict(module.named_parameters()), **dict(module.named_buffers())}
    values = (*examples, *held.values())
    for value in values:
        if isinstance(value, torch.Tensor):
            _check(value)
    mode = detect_fake_mode(values) or FakeTensorMode()
    fakes = tuple(
        mode.from_tensor(value, static_shapes=True)
        if isinstance(value, torch.Tensor) and not isinstance(value, FakeTensor)
        else value
        for value in values
    )
    return Inputs(tuple(held), tuple(held.values()), fakes, mode)


def _check(tensor: torch.Tensor) -> None:
    if type(tensor) not in (torch.Tensor, torch.nn.Parameter, FakeTensor):
        raise CannotLower(f"an input is of the tensor subclass {type(tensor).__qualname__}")
    if tensor.layout is not torch.strided:
        raise CannotLower(f"an input has the layout {tensor.layout}")


def check_numbers(module: torch.fx.GraphModule) -> None:
    """Check that the graph computes no numbers from floats that vary. In tracing, such a number is an expression of
    algebra, which knows neither signed zeros nor infinity.

    Raises:
        FloatsMustBeConstants: if it does.
    """
    for node in module.graph.nodes:
        value = node.meta.get("example_value")
        if isinstance(value, _NUMBERS) and node.target != "item" and any(map(_is_float, node.all_input_nodes)):
            raise FloatsMustBeConstants


_NUMBERS = (torch.SymInt, torch.SymFloat, torch.SymBool, int, float)


def _is_float(node: torch.fx.Node) -> bool:
    """Return whether the node gives a number that depends on a float of unknown value."""
    value = node.meta.get("example_value")
    symbols = value.node.expr.free_symbols if isinstance(value, torch.SymFloat) else ()
    return any(symbol_is_type(symbol, (SymT.FLOAT, SymT.UNBACKED_FLOAT)) for symbol in symbols)


def function_of(module: torch.fx.GraphModule, inputs: Inputs) -> Callable[..., list[Any]]:
    """Return the function that interprets the graph, node by node, so that operators traced from it know their node.
    It returns the outputs in a list."""
    split = len(inputs.fakes) - len(inputs.names)

    def run(*args: Any) -> list[Any]:
        held = dict(zip(inputs.names, args[split:], strict=True))
        with _reparametrize_module(module, held), preserve_node_meta():
            outputs = torch.fx.Interpreter(module).run(*args[:split])
        return list(outputs) if isinstance(outputs, (tuple, list)) else [outputs]

    return run
