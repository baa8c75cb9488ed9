"""`torch.while_loop` as plain Python, through the engine and through `torch.compile`."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import pytest
import torch

import tracer_core
from tests.higher_order import three_ways
from tests.higher_order.three_ways import Graphs, refused, refused_as_by_torch, torch_refuses

pytestmark = pytest.mark.row("H3")

same_three_ways = functools.partial(three_ways.same_three_ways, back_ends=True)

WEIGHT = torch.linspace(0.5, 1, 3)
loop = torch.while_loop


def vector(value: float = 0.5) -> tuple[torch.Tensor]:
    return (torch.full((3,), value),)


def start() -> torch.Tensor:
    return torch.tensor(0)


# --- results, gradients, graphs -------------------------------------------------------------------------------


def counts(x: torch.Tensor) -> Any:
    return loop(lambda i, a: i < 3, lambda i, a: (i + 1, a * 2 + 1), (start(), x + 1))


def by_keywords(x: torch.Tensor) -> Any:
    return loop(cond_fn=lambda a: a.sum() < 9, body_fn=lambda a: (a + 1,), carried_inputs=[x])


def ints(x: torch.Tensor) -> Any:
    return loop(lambda i, a: i < 3, lambda i, a: (i + 1, a * 2 + i), (0, x + 1))


def captured(x: torch.Tensor) -> Any:
    return loop(lambda i, a: a.sum() + x.cos().sum() < 30, lambda i, a: (i + 1, a + WEIGHT), (start(), x + 1))


def captured_by_each(x: torch.Tensor) -> Any:
    y, z = x * 2, x.cos()
    return loop(lambda a: a.sum() + z.sum() < 30, lambda a: (a + y + WEIGHT,), (x + 1,))


def nested(x: torch.Tensor) -> Any:
    def step(c: Any, d: Any) -> Any:
        return [c[0] + 1, c[1] * 2], {"i": d["i"] + 1}

    return loop(lambda c, d: d["i"] < 3, step, ([x + 0, x + 1], {"i": start()}))


def the_same_tensor_twice(x: torch.Tensor) -> Any:
    return loop(lambda a, b: a.sum() < 9, lambda a, b: (a + b, b + 1), (x, x))


def never(x: torch.Tensor) -> Any:
    return loop(lambda a: False, lambda a: (a + 1,), (x,))


def inside_another(x: torch.Tensor) -> Any:
    def step(i: torch.Tensor, a: torch.Tensor) -> Any:
        _, b = loop(lambda j, b: j < 2, lambda j, b: (j + 1, b + a), (start(), a * 2))
        return i + 1, b

    return loop(lambda i, a: i < 3, step, (start(), x + 1))


def with_a_condition_inside(x: torch.Tensor) -> Any:
    step = lambda i, a: (i + 1, torch.cond(a.sum() > 5, torch.sin, torch.exp, (a,)))
    return loop(lambda i, a: i < 3, step, (start(), x + 1))


def a_size_from_the_loop(x: torch.Tensor) -> Any:
    i, a = loop(lambda i, a: i < 3, lambda i, a: (i + 1, a * 2 + i), (0, x + 1))
    return torch.zeros(i) + i, a


def by_the_operator(x: torch.Tensor) -> Any:
    step = lambda i, a, k: (i + 1, a * 2 + k)
    return torch.ops.higher_order.while_loop(lambda i, a, k: i < 3, step, (start(), x + 1), (x,))


def stacked(x: torch.Tensor) -> Any:
    step = lambda i, a: (i + 1, a * 2)
    return torch.ops.higher_order.while_loop_stack_output(lambda i, a: i < 3, step, (start(), x + 1), ())


PROGRAMS = [
    *(counts, by_keywords, ints, captured, captured_by_each, nested, never, inside_another),
    *(with_a_condition_inside, a_size_from_the_loop, by_the_operator, stacked),
]


@pytest.mark.row("O2")
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_results_and_graphs(program: Callable[..., Any]) -> None:
    same_three_ways(program, vector, lambda: vector(2.5))


def test_the_same_tensor_is_carried_twice() -> None:
    i, j = tracer_core.compile(the_same_tensor_twice, backend="eager", fullgraph=True)(*vector())
    assert (i.tolist(), j.tolist()) == ([5.0] * 3, [3.5] * 3)
    # Other back ends refuse the graph; the loop runs as plain Python there.
    error = refused(the_same_tensor_twice, vector, backend="aot_eager")
    assert error.reason_id == "body-inputs-alias"
    torch_refuses(the_same_tensor_twice, vector, backend="aot_eager")


@pytest.mark.parametrize("program", [counts, captured], ids=lambda program: program.__name__)
def test_gradients(program: Callable[..., Any]) -> None:
    def last(x: torch.Tensor) -> Any:
        return program(x)[1]

    same_three_ways(last, lambda: (vector()[0].requires_grad_(),))


class Step(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = torch.nn.Linear(3, 3)
        self.register_buffer("limit", torch.tensor(3))

    def forward(self, x: torch.Tensor) -> Any:
        return loop(lambda i, a: i < self.limit, lambda i, a: (i + 1, self.linear(a)), (start(), x + 1))[1]


def test_a_module_in_the_body() -> None:
    torch.manual_seed(0)
    step = Step()
    same_three_ways(lambda x, module: module(x), lambda: (vector()[0].requires_grad_(), step))


# --- dynamic shapes -------------------------------------------------------------------------------------------


def captured_size(x: torch.Tensor) -> Any:
    n = x.shape[0]
    return loop(lambda i, a: a.sum() < 30, lambda i, a: (i + 1, a + n), (start(), x + 1))


def an_int_and_a_size(x: torch.Tensor) -> Any:
    return loop(lambda i, a: 2 * i < a.shape[0], lambda i, a: (i + 1, a * 2 + i), (0, x + 1))


@pytest.mark.row("O2")
def test_dynamic_shapes() -> None:
    same_three_ways(captured_size, vector, dynamic=True)
    # torch.compile reads the size from the tensor in the body, where ours has the symbol.
    same_three_ways(an_int_and_a_size, vector, dynamic=True, graphs=False)


def test_one_graph_serves_all_sizes() -> None:
    graphs = Graphs()
    tracer_core.reset()
    compiled = tracer_core.compile(an_int_and_a_size, backend=graphs, fullgraph=True, dynamic=True)
    for size in (2, 3, 6):
        count, result = compiled(torch.ones(size))
        i, a = 0, torch.ones(size) + 1
        while 2 * i < size:
            i, a = i + 1, a * 2 + i
        assert count == i
        assert result.equal(a)
    assert len(graphs.graphs) == 1
    assert not graphs.raised


# --- writes ---------------------------------------------------------------------------------------------------


def test_without_gradients_a_body_may_write_to_a_captured_tensor() -> None:
    def program(x: torch.Tensor) -> Any:
        kept = torch.zeros(3)

        def step(i: torch.Tensor, a: torch.Tensor) -> Any:
            kept.add_(1)
            return i + 1, a * 2

        with torch.no_grad():
            return loop(lambda i, a: i < 3, step, (start(), x + 1)), kept + 1

    (graph,) = same_three_ways(program, vector)
    (node,) = [node for node in graph.graph.nodes if node.target is torch.ops.higher_order.while_loop]
    assert node.kwargs == {"mutated_arg_indices": "2"}


def test_what_is_carried_is_not_written_to() -> None:
    # torch.compile takes it without gradients, though torch.while_loop's own page forbids it.
    def program(x: torch.Tensor) -> Any:
        with torch.no_grad():
            return loop(lambda i, a: i < 3, lambda i, a: (i + 1, a.add_(1) * 2), (start(), x))

    assert "writes to a value that is carried" in str(refused(program, vector))


# --- what is refused ------------------------------------------------------------------------------------------


def writes(x: torch.Tensor) -> Any:
    return loop(lambda i, a: i < 3, lambda i, a: (i + 1, a.add_(1) * 2), (start(), x))


def returns_its_input(x: torch.Tensor) -> Any:
    return loop(lambda i, a: i < 3, lambda i, a: (i + 1, a), (start(), x))


def grows(x: torch.Tensor) -> Any:
    return loop(lambda a: a.sum() < 9, lambda a: (torch.cat([a, a]),), (x,))


def other_dtype(x: torch.Tensor) -> Any:
    return loop(lambda a: a.sum() < 9, lambda a: (a.double() + 1,), (x,))


def other_number(x: torch.Tensor) -> Any:
    return loop(lambda a: a.sum() < 9, lambda a: (a + 1, a + 2), (x,))


def an_int_for_a_tensor(x: torch.Tensor) -> Any:
    return loop(lambda a, b: a.sum() < 9, lambda a, b: (a + 1, 2), (x, x + 1))


def no_bool(x: torch.Tensor) -> Any:
    return loop(lambda a: a.sum() + 1, lambda a: (a + 1,), (x,))


def several_bools(x: torch.Tensor) -> Any:
    return loop(lambda a: a < 9, lambda a: (a + 1,), (x,))


def always(x: torch.Tensor) -> Any:
    return loop(lambda a: True, lambda a: (a + 1,), (x,))


def floats(x: torch.Tensor) -> Any:
    return loop(lambda i, a: i < 3.0, lambda i, a: (i + 1, a + 1), (0.0, x))


def not_a_function(x: torch.Tensor) -> Any:
    return loop(3, lambda a: (a + 1,), (x,))


def reads_a_value(x: torch.Tensor) -> Any:
    return loop(lambda a: a.sum() < 9, lambda a: (a + 1 if a.sum() > 0 else a - 1,), (x,))


def leaks(x: torch.Tensor) -> Any:
    kept = []

    def step(a: torch.Tensor) -> Any:
        kept.append(a * 2)
        return (a + 1,)

    return loop(lambda a: a.sum() < 9, step, (x,))[0] + kept[0]


def breaks(x: torch.Tensor) -> Any:
    def step(a: torch.Tensor) -> Any:
        torch._dynamo.graph_break()
        return (a + 1,)

    return loop(lambda a: a.sum() < 9, step, (x,))


REFUSED = {
    writes: ("body-breaks", "writes to the tensor"),
    returns_its_input: ("body-breaks", "shares memory with"),
    grows: ("carried-differs", "sizes differ: (3,) given, (6,) returned"),
    other_dtype: ("carried-differs", "dtypes differ: float32 given, float64 returned"),
    other_number: ("carried-differs", "numbers of values differ: 1 given, 2 returned"),
    an_int_for_a_tensor: ("carried-differs", "types differ: Tensor given, int returned"),
    no_bool: ("operator-refuses", "not a bool or a tensor with one bool"),
    several_bools: ("operator-refuses", "not a bool or a tensor with one bool"),
    always: ("operator-refuses", "the loop never ends"),
    floats: ("operator-refuses", "an object of type float"),
    not_a_function: ("operator-refuses", "cond_fn is an object of type int"),
    reads_a_value: ("body-breaks", "branches on the value"),
    leaks: ("body-breaks", "changes"),
    breaks: ("body-breaks", "graph_break"),
}


@pytest.mark.parametrize("program", REFUSED, ids=lambda program: program.__name__)
def test_what_torch_refuses_is_refused(program: Callable[..., Any]) -> None:
    reason_id, words = REFUSED[program]
    refused_as_by_torch(program, vector, reason_id, words, "torch.while_loop")
