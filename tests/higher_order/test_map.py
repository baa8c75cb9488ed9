"""`torch._higher_order_ops.map` as plain Python, through the engine and through `torch.compile`."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch._higher_order_ops import map as over_rows

import tracer_core
from tests.higher_order import three_ways
from tests.higher_order.inputs import matrix
from tests.higher_order.three_ways import Graphs, refused_as_by_torch, torch_refuses

pytestmark = pytest.mark.row("H5")

same_three_ways = functools.partial(three_ways.same_three_ways, back_ends=True)


def with_gradient() -> tuple[torch.Tensor]:
    return (matrix()[0].requires_grad_(),)


# --- results, gradients, graphs -------------------------------------------------------------------------------


def one_argument(x: torch.Tensor) -> Any:
    return over_rows(lambda row: row.exp() * 2, x * 2) + 1


def more_arguments(x: torch.Tensor) -> Any:
    return over_rows(lambda row, other, k: row.sin() * k + other, x + 1, x[0] * 2, 3)


def captured(x: torch.Tensor) -> Any:
    return over_rows(lambda row: row.exp() * x.sum(), x * 2)


def nested_containers(x: torch.Tensor) -> Any:
    body = lambda d, e: {"a": d["p"] + e[0], "b": (d["q"][0] * 2, [d["p"].cos()])}
    return over_rows(body, {"p": x, "q": [x + 1]}, (x[0] + 1,))


def a_condition_inside(x: torch.Tensor) -> Any:
    return over_rows(lambda row: torch.cond(row.sum() > 0, torch.sin, torch.cos, (row,)), x)


def inside_another(x: torch.Tensor) -> Any:
    return over_rows(lambda row: over_rows(lambda each: each * 2 + x.sum(), row + 1), x * 2)


def a_loop_inside(x: torch.Tensor) -> Any:
    body = lambda row: torch.while_loop(lambda a: a.sum() < 9, lambda a: (a + 1,), (row + 1,))[0]
    return over_rows(body, x)


@pytest.mark.row("O2", "H18")
@pytest.mark.parametrize(
    "program",
    [one_argument, more_arguments, captured, nested_containers, a_condition_inside],
    ids=lambda p: p.__name__,
)
def test_results_gradients_and_graphs(program: Callable[..., Any]) -> None:
    same_three_ways(program, with_gradient)


@pytest.mark.row("O2", "H18")
@pytest.mark.parametrize("program", [inside_another, a_loop_inside], ids=lambda program: program.__name__)
def test_one_operator_in_another(program: Callable[..., Any]) -> None:
    same_three_ways(program, matrix)


def test_none_beside_tensors() -> None:
    same_three_ways(lambda x: over_rows(lambda row: (row + 1, None), x), matrix)


def test_a_module() -> None:
    torch.manual_seed(0)
    linear = torch.nn.Linear(3, 3)
    same_three_ways(lambda x, module: over_rows(module, x), lambda: (*with_gradient(), linear))


def captured_size(x: torch.Tensor) -> Any:
    n = x.shape[0]
    return over_rows(lambda row: row * n, x)


@pytest.mark.row("O2")
def test_dynamic_shapes() -> None:
    same_three_ways(captured_size, matrix, dynamic=True)
    graphs = Graphs()
    tracer_core.reset()
    compiled = tracer_core.compile(captured_size, backend=graphs, fullgraph=True, dynamic=True)
    for rows in (2, 3, 5):
        (x,) = matrix(rows)
        assert compiled(x).equal(x * rows)
    assert len(graphs.graphs) == 1
    assert not graphs.raised


def test_what_is_mapped_may_be_captured_too() -> None:
    # torch.compile takes the row and its elements for inputs that share memory, and refuses.
    def program(x: torch.Tensor) -> Any:
        return over_rows(lambda row: over_rows(lambda each: each * 2 + row.sum(), row), x)

    torch_refuses(program, matrix)
    (x,) = matrix()
    expected = x * 2 + x.sum(dim=1, keepdim=True)
    for back_end in ("eager", "aot_eager"):
        torch.testing.assert_close(tracer_core.compile(program, backend=back_end, fullgraph=True)(x), expected)


# --- what is refused ------------------------------------------------------------------------------------------


def a_scalar(x: torch.Tensor) -> Any:
    return over_rows(lambda row: row + 1, x.sum())


def no_rows(x: torch.Tensor) -> Any:
    return over_rows(lambda row: row + 1, x[:0])


def no_tensors(x: torch.Tensor) -> Any:
    return over_rows(lambda row: row, [])


def a_number(x: torch.Tensor) -> Any:
    return over_rows(lambda pair: pair[0] + 1, [x, 3])


def differing_rows(x: torch.Tensor) -> Any:
    return over_rows(lambda pair: pair[0] + pair[1], (x, x[:1]))


def returns_an_int(x: torch.Tensor) -> Any:
    return over_rows(lambda row: (row + 1, 2), x)


def returns_its_input(x: torch.Tensor) -> Any:
    return over_rows(lambda row: row, x)


def writes(x: torch.Tensor) -> Any:
    return over_rows(lambda row: row.add_(1) * 2, x)


def reads_a_value(x: torch.Tensor) -> Any:
    return over_rows(lambda row: row + 1 if row.sum() > 0 else row - 1, x)


def leaks(x: torch.Tensor) -> Any:
    kept: list[Any] = []
    return over_rows(lambda row: kept.append(row + 1) or row * 2, x) + kept[0]


def breaks(x: torch.Tensor) -> Any:
    return over_rows(lambda row: torch._dynamo.graph_break() or row + 1, x)


REFUSED = {
    a_scalar: ("operator-refuses", "without dimensions"),
    no_rows: ("operator-refuses", "no rows"),
    no_tensors: ("operator-refuses", "no tensors"),
    a_number: ("operator-refuses", "not tensors alone"),
    differing_rows: ("operator-refuses", "different numbers of rows"),
    returns_an_int: ("body-result", "type int"),
    returns_its_input: ("body-breaks", "shares memory with"),
    writes: ("body-breaks", "writes to the tensor"),
    reads_a_value: ("body-breaks", "branches on the value"),
    leaks: ("body-breaks", "changes"),
    breaks: ("body-breaks", "graph_break"),
}


@pytest.mark.parametrize("program", REFUSED, ids=lambda program: program.__name__)
def test_what_torch_refuses_is_refused(program: Callable[..., Any]) -> None:
    reason_id, words = REFUSED[program]
    refused_as_by_torch(program, matrix, reason_id, words, "torch._higher_order_ops.map")
