"""Make a function of the captured graph, with every tensor that it uses as an argument."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
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
        FloatsMustBeConstants: if it does, from floats that are known while tracing.
        CannotLower: if it does, from random ones.
    """
    for node in module.graph.nodes:
        if not isinstance(node.meta.get("example_value"), _NUMBERS) or node.target == "item":
            continue
        symbols = {symbol for each in node.all_input_nodes for symbol in _float_symbols(each)}
        if any(symbol_is_type(symbol, SymT.UNBACKED_FLOAT) for symbol in symbols):
            raise CannotLower("it computes numbers from a float that is drawn when it runs")
        if symbols:
            raise FloatsMustBeConstants


_NUMBERS = (torch.SymInt, torch.SymFloat, torch.SymBool, int, float)


def check_recurrent_dropout(module: torch.fx.GraphModule) -> None:
    """Check that no recurrent network of the graph, or of a body in it, drops out between layers: torch's
    decompositions of those, which tracing cannot avoid, compute them without.

    Raises:
        CannotLower: if one does.
    """
    for part in module.modules():
        for node in part.graph.nodes if isinstance(part, torch.fx.GraphModule) else ():
            if node.target in _RECURRENT and _drops_out(node):
                name = node.target.__name__
                raise CannotLower(f"it calls {name} with dropout between layers, which torch's decomposition omits")


_RECURRENT = frozenset([torch.lstm, torch.gru, torch.rnn_tanh, torch.rnn_relu])


def _drops_out(node: torch.fx.Node) -> bool:
    # (Calls with a packed sequence, which have other arguments, depend on data, and are in no graph.)
    names = ("input", "hx", "params", "has_biases", "num_layers", "dropout", "train")
    given: dict[str, Any] = {**dict(zip(names, node.args, strict=False)), **node.kwargs}
    return bool(given["dropout"] and given["train"]) and given["num_layers"] != 1


def _float_symbols(node: torch.fx.Node) -> Iterator[Any]:
    """Return the symbols for floats that the node's number depends on."""
    value = node.meta.get("example_value")
    for symbol in value.node.expr.free_symbols if isinstance(value, torch.SymFloat) else ():
        if symbol_is_type(symbol, (SymT.FLOAT, SymT.UNBACKED_FLOAT)):
            yield symbol


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
