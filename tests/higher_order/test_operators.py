"""Operators beside control flow, checkpoints and transforms; and the table of all operators."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest
import torch
from torch._dynamo._trace_wrapped_higher_order_op import trace_wrapped
from torch._dynamo.backends.debugging import aot_eager
from torch._dynamo.decorators import leaf_function
from torch._higher_order_ops._invoke_quant import InvokeQuant, invoke_quant
from torch._higher_order_ops.executorch_call_delegate import executorch_call_delegate
from torch._higher_order_ops.inline_asm_elementwise import inline_asm_elementwise
from torch._higher_order_ops.wrap import tag_activation_checkpoint, wrap_activation_checkpoint
from torch._ops import HigherOrderOperator
from torch.utils._pytree import register_dataclass

import tracer_core
from tests.higher_order.inputs import leaf, plain
from tests.higher_order.table import PAGE, page, registered, rows
from tests.higher_order.three_ways import Graphs, agree, outcome, refused, same_three_ways, torch_refuses, written
from tracer_core.higher_order_table import higher_order

pytestmark = pytest.mark.row("H17")

SCALE = torch.arange(1.0, 4)
QUANT = InvokeQuant()


def block(a: torch.Tensor) -> torch.Tensor:
    return (a * 2).sin() * SCALE


def pair(a: torch.Tensor, b: torch.Tensor) -> dict[str, Any]:
    return {"sum": a + b, "rest": [a * b]}


QUANTIZED: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "operator": (lambda x: invoke_quant(block, x, scheme="nf4"), block),
    "object": (lambda x: QUANT(block, x, scheme="nf4"), block),
    "created": (lambda x: InvokeQuant(codegen_low_precision=False)(block, x), block),
    "containers": (lambda x: QUANT(pair, x, x + 1)["rest"][0], lambda x: pair(x, x + 1)["rest"][0]),
    "captures": (lambda x: QUANT(lambda a: a * x.sum() + x.size(0), x + 1), lambda x: (x + 1) * x.sum() + x.size(0)),
    "nested": (lambda x: QUANT(lambda a: invoke_quant(block, a) + x, x * 2), lambda x: block(x * 2) + x),
    "twice": (lambda x: QUANT(block, QUANT(block, x)), lambda x: block(block(x))),
}


@pytest.mark.parametrize("name", QUANTIZED)
@pytest.mark.parametrize("arguments", [plain, leaf])
def test_invoke_quant_is_a_body_with_options(name: str, arguments: Any) -> None:
    function, same = QUANTIZED[name]
    same_three_ways(function, arguments, plain=same)
    tracer_core.reset()
    compiled = tracer_core.compile(function, backend=aot_eager, fullgraph=True)
    # Torch's partitioner fails for the gradient of a graph that creates an object.
    agree(outcome(compiled, plain), outcome(same, plain))


def writes(a: torch.Tensor) -> torch.Tensor:
    return a.add_(1).sin()


def same(a: torch.Tensor) -> torch.Tensor:
    return a


@pytest.mark.parametrize("body", [writes, same])
def test_its_body_neither_writes_to_its_inputs_nor_returns_them(body: Callable[..., Any]) -> None:
    def program(x: torch.Tensor) -> Any:
        return QUANT(body, x) + 1

    torch_refuses(program, plain)
    assert refused(program, plain).reason_id == "body-breaks"
    agree(outcome(tracer_core.compile(program, backend="eager"), plain), outcome(program, plain))


@pytest.mark.row("H7")
@pytest.mark.parametrize("operator", [tag_activation_checkpoint, wrap_activation_checkpoint])
def test_the_operators_of_checkpoints_are_called_by_themselves(operator: HigherOrderOperator) -> None:
    def program(x: torch.Tensor) -> Any:
        return operator(block, x, use_reentrant=False) + x  # type: ignore[operator]

    same_three_ways(program, leaf, plain=lambda x: block(x) + x)


@pytest.mark.row("H12")
def test_trace_wrapped_is_traced_through() -> None:
    def program(x: torch.Tensor, factor: float) -> Any:
        return trace_wrapped(x, fn=lambda a: block(a) * factor) + x

    def written_out(x: torch.Tensor, factor: float) -> Any:
        with torch.no_grad():
            y = block(x) * factor
        return y + x

    graphs = same_three_ways(program, lambda: (*leaf(), 3.0), plain=written_out)
    assert not any(isinstance(node.target, HigherOrderOperator) for graph in graphs for node in graph.graph.nodes)


def test_inline_assembly_is_a_node() -> None:
    def program(x: torch.Tensor) -> Any:
        y = inline_asm_elementwise(x, asm_str="mov.b32 $0, $1;", constraints="=r,r", dtype=torch.float32)
        return y + 1

    ours, theirs = Graphs(), Graphs()
    for compiled in (
        tracer_core.compile(program, backend=ours, fullgraph=True),
        torch.compile(program, backend=theirs, fullgraph=True),
    ):
        with pytest.raises(RuntimeError, match="only supports CUDA"):
            compiled(*plain())
    assert [written(graph) for graph in ours.graphs] == [written(graph) for graph in theirs.graphs]


# --- functions marked to be one node --------------------------------------------------------------------------


class Point(NamedTuple):
    a: Any
    b: Any


@dataclasses.dataclass
class Registered:
    a: Any
    b: Any


register_dataclass(Registered)


@torch._dynamo.nonstrict_trace
def not_traced(x: torch.Tensor, others: list[torch.Tensor], *, by: dict[str, int]) -> dict[str, Any]:
    torch._dynamo.graph_break()
    return {"product": x * others[0] * SCALE, "rest": ((x, others[0] + 1), by["k"])}


@torch._dynamo.nonstrict_trace
def not_traced_on_objects(given: Registered) -> Registered:
    torch._dynamo.graph_break()
    return Registered(given.a * given.b["k"], given.b)


@leaf_function
def as_it_is(x: torch.Tensor) -> tuple[torch.Tensor]:
    return (x * 2 if bool(x.sum() > 0) else x * 3,)


@as_it_is.register_fake  # type: ignore[attr-defined]
def _(x: torch.Tensor) -> tuple[torch.Tensor]:
    return (x * 2,)


def with_containers(x: torch.Tensor) -> Any:
    found = not_traced(x * 2, [x, x + 1], by={"k": 2})
    (a, b), k = found["rest"]
    return found["product"] + b * k, a


def with_objects(x: torch.Tensor) -> Any:
    found = not_traced_on_objects(Registered(x + 1, {"k": 3}))
    return found.a * found.b["k"], type(found) is Registered


@pytest.mark.parametrize("function", [with_containers, with_objects, lambda x: as_it_is(x + 1)[0] * x])
@pytest.mark.parametrize("arguments", [plain, leaf])
def test_a_function_that_is_marked_is_one_node(function: Callable[..., Any], arguments: Any) -> None:
    (graph,) = same_three_ways(function, arguments, graphs=False)
    assert any("as_it_is" in str(node) or "not_traced" in str(node) for node in graph.graph.nodes)
    tracer_core.reset()
    compiled = tracer_core.compile(function, backend=aot_eager, fullgraph=True)
    agree(outcome(compiled, arguments), outcome(function, arguments))


def test_a_marked_function_takes_and_returns_named_tuples() -> None:
    @torch._dynamo.nonstrict_trace
    def swapped(point: Point) -> Point:
        torch._dynamo.graph_break()
        return Point(point.b, point.a + 1)

    def program(x: torch.Tensor) -> Any:
        point = swapped(Point(x, x * 2))
        return point.a - point.b, type(point) is Point

    torch_refuses(program, plain)  # for named tuples that are returned, its own unflattening fails
    agree(outcome(tracer_core.compile(program, backend="eager", fullgraph=True), leaf), outcome(program, leaf))


# --- modules lowered for another runtime ----------------------------------------------------------------------


class Original(torch.nn.Module):
    """What a module was before it was lowered, as exported programs have it."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self.function = function

    def module(self) -> Callable[..., Any]:
        return self.function


class LoweredBackendModule(torch.nn.Module):
    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self.original_module = Original(function)

    def forward(self, *args: Any) -> Any:
        return executorch_call_delegate(self, *args)


ADDS = LoweredBackendModule(lambda a, b: (a + b, a * b))


class UsesDelegate(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.lowered = LoweredBackendModule(lambda a, b: a.sin() * b)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.lowered(x * 2, x) + 1


def uses_delegate(x: torch.Tensor) -> Any:
    total, product = executorch_call_delegate(ADDS, x + 1, x)
    return total * product


@pytest.mark.row("H16")
@pytest.mark.parametrize("function", [uses_delegate, UsesDelegate()])
def test_a_delegate_is_a_node(function: Callable[..., Any]) -> None:
    graphs = same_three_ways(function, plain, eager=True)
    assert any(node.target is executorch_call_delegate for graph in graphs for node in graph.graph.nodes)


@pytest.mark.row("H16")
def test_another_delegate_is_another_graph() -> None:
    first, second = ADDS, LoweredBackendModule(lambda a, b: (a - b, b * 2))

    def program(lowered: Any, x: torch.Tensor) -> Any:
        return executorch_call_delegate(lowered, x, x * 2)[0] + 1

    compiled = tracer_core.compile(program, backend="eager", fullgraph=True)
    (x,) = plain()
    assert [compiled(each, x).equal(program(each, x)) for each in (first, second, first)] == [True] * 3


@pytest.mark.row("H16")
def test_a_delegate_that_returns_its_input_is_refused() -> None:
    returns = LoweredBackendModule(lambda a: a)

    def program(x: torch.Tensor) -> Any:
        return executorch_call_delegate(returns, x) + 1

    torch_refuses(program, plain)
    assert refused(program, plain).reason_id == "body-returns-alias"
    agree(outcome(tracer_core.compile(program, backend="eager"), plain), outcome(program, plain))


# --- the table ------------------------------------------------------------------------------------------------


def test_the_table_lists_each_operator_that_torch_registers() -> None:
    listed = rows()
    assert [row.name for row in listed] == sorted(registered())
    for row in listed:
        assert bool(row.module) == bool(row.calls)
        assert higher_order(registered()[row.name]) is not None


def test_the_page_is_the_table() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "run `python -m tests.higher_order.table --write` and commit"
