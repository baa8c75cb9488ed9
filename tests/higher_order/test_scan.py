"""`torch._higher_order_ops.scan` as plain Python, through the engine and through `torch.compile`."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch._higher_order_ops import scan
from torch._higher_order_ops.partitioner import HopGraphMinCutPartitioner

import tracer_core
from tests.higher_order import three_ways
from tests.higher_order.inputs import matrix
from tests.higher_order.three_ways import Graphs, refused_as_by_torch

pytestmark = pytest.mark.row("H4")

same_three_ways = functools.partial(three_ways.same_three_ways, back_ends=True)


def with_gradient() -> tuple[torch.Tensor]:
    return (matrix()[0].requires_grad_(),)


def both(c: torch.Tensor, r: torch.Tensor) -> Any:
    return c * 0.5 + r, c.sin() * r


# --- results, gradients, graphs -------------------------------------------------------------------------------


def over_rows(x: torch.Tensor) -> Any:
    last, seen = scan(both, x[0] + 1, x * 2)
    return last + 1, seen * 2


def over_columns(x: torch.Tensor) -> Any:
    return scan(both, x[:, 0] + 1, x * 2, dim=1)


def backwards(x: torch.Tensor) -> Any:
    return scan(combine_fn=both, init=x[0] + 1, xs=x * 2, reverse=True)


def over_columns_backwards(x: torch.Tensor) -> Any:
    return scan(lambda c, r: (c + r, c.sum()), x[:, 0] + 1, x * 2, dim=-1, reverse=True)


def containers(x: torch.Tensor) -> Any:
    def step(c: Any, r: Any) -> Any:
        return {"a": c["a"] + r[0], "b": [c["b"][0] * r[1]["k"]]}, [c["a"] * 2, (r[0] + 1,)]

    return scan(step, {"a": x[0] + 1, "b": [x[0] * 1]}, (x * 2, {"k": x + 1}))


def captured(x: torch.Tensor) -> Any:
    k = x.sum()
    return scan(lambda c, r: (c + r * k, c * 2), x[0] + 1, x * 2)


def no_slices(x: torch.Tensor) -> Any:
    return scan(both, x[0] + 1, [])


def a_condition_inside(x: torch.Tensor) -> Any:
    step = lambda c, r: (torch.cond(r.sum() > 0, torch.add, torch.sub, (c, r)), c * 2)
    return scan(step, x[0] + 1, x * 2)


PROGRAMS = [over_rows, over_columns, backwards, over_columns_backwards, containers, captured, no_slices]


@pytest.mark.row("O2")
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_results_gradients_and_graphs(program: Callable[..., Any]) -> None:
    same_three_ways(program, with_gradient)


@pytest.mark.row("H18")
def test_a_condition_inside() -> None:
    same_three_ways(a_condition_inside, matrix)


def test_a_module() -> None:
    torch.manual_seed(0)
    linear = torch.nn.Linear(3, 3)
    step = lambda x, module: scan(lambda c, r: (module(c + r), c * 2), x[0] + 1, x * 2)
    same_three_ways(step, lambda: (*with_gradient(), linear))


@pytest.mark.row("O2")
def test_dynamic_shapes() -> None:
    def program(x: torch.Tensor) -> Any:
        n = x.shape[0]
        return scan(lambda c, r: (c + r * n, c * 2), x[0] + 1, x * 2)

    same_three_ways(program, matrix, dynamic=True)
    graphs = Graphs()
    tracer_core.reset()
    compiled = tracer_core.compile(program, backend=graphs, fullgraph=True, dynamic=True)
    for rows in (2, 3, 5):
        (x,) = matrix(rows)
        last, seen = compiled(x)
        carry, outputs = x[0] + 1, []
        for row in x * 2:
            outputs.append(carry * 2)
            carry = carry + row * rows
        torch.testing.assert_close(last, carry)
        torch.testing.assert_close(seen, torch.stack(outputs))
    assert len(graphs.graphs) == 1
    assert not graphs.raised


# --- what is refused ------------------------------------------------------------------------------------------


def returns_the_carry(x: torch.Tensor) -> Any:
    return scan(lambda c, r: (c + r, c), x[0] + 1, x * 2)


def other_dtype(x: torch.Tensor) -> Any:
    return scan(lambda c, r: ((c + r).double(), c * 2), x[0] + 1, x * 2)


def other_size(x: torch.Tensor) -> Any:
    return scan(lambda c, r: (torch.cat([c, r]), c * 2), x[0] + 1, x * 2)


def one_value(x: torch.Tensor) -> Any:
    return scan(lambda c, r: c + r, x[0] + 1, x * 2)


def three_values(x: torch.Tensor) -> Any:
    return scan(lambda c, r: (c + r, c * 1, c * 2), x[0] + 1, x * 2)


def no_rows(x: torch.Tensor) -> Any:
    return scan(both, x[0] + 1, x[:0])


def no_such_dimension(x: torch.Tensor) -> Any:
    return scan(both, x[0] + 1, x, dim=3)


def a_number_to_begin_with(x: torch.Tensor) -> Any:
    return scan(lambda c, r: (c + 1, r * 2), 0, x)


def nothing_to_begin_with(x: torch.Tensor) -> Any:
    return scan(lambda c, r: ([], r * 2), [], x)


def returns_a_number(x: torch.Tensor) -> Any:
    return scan(lambda c, r: (c + r, 1), x[0] + 1, x)


def writes(x: torch.Tensor) -> Any:
    return scan(lambda c, r: (c.add_(r) * 1, c * 2), x[0] + 1, x * 2)


def reads_a_value(x: torch.Tensor) -> Any:
    return scan(lambda c, r: (c + r if r.sum() > 0 else c - r, c * 2), x[0] + 1, x * 2)


def leaks(x: torch.Tensor) -> Any:
    kept: list[Any] = []
    result = scan(lambda c, r: kept.append(r + 1) or (c + r, c * 2), x[0] + 1, x * 2)
    return result, kept[0]


def breaks(x: torch.Tensor) -> Any:
    return scan(lambda c, r: torch._dynamo.graph_break() or (c + r, c * 2), x[0] + 1, x * 2)


REFUSED = {
    returns_the_carry: ("body-breaks", "shares memory with"),
    other_dtype: ("carried-differs", "dtypes differ: float32 given, float64 returned"),
    other_size: ("carried-differs", "sizes differ: (3,) given, (6,) returned"),
    one_value: ("operator-refuses", "not a carry and an output"),
    three_values: ("operator-refuses", "not a carry and an output"),
    no_rows: ("operator-refuses", "no slices along dimension 0"),
    no_such_dimension: ("operator-refuses", "no dimension 3"),
    a_number_to_begin_with: ("operator-refuses", "init has an object of type int"),
    nothing_to_begin_with: ("operator-refuses", "init has no tensors"),
    returns_a_number: ("body-result", "type int"),
    writes: ("body-breaks", "writes to the tensor"),
    reads_a_value: ("body-breaks", "branches on the value"),
    leaks: ("body-breaks", "changes"),
    breaks: ("body-breaks", "graph_break"),
}


@pytest.mark.parametrize("program", REFUSED, ids=lambda program: program.__name__)
def test_what_torch_refuses_is_refused(program: Callable[..., Any]) -> None:
    reason_id, words = REFUSED[program]
    refused_as_by_torch(program, matrix, reason_id, words, "torch._higher_order_ops.scan")


def test_the_backward_pass_is_not_traced_before_the_graph_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """torch's operator does that each time it is called with tensors that require gradients."""
    traced = []
    partition = HopGraphMinCutPartitioner.create_partitioned_graph
    monkeypatch.setattr(
        HopGraphMinCutPartitioner,
        "create_partitioned_graph",
        staticmethod(lambda *args, **kwargs: traced.append(args) or partition(*args, **kwargs)),
    )
    weight = torch.randn(3, requires_grad=True)

    def step(state, x):
        new = (state * weight + x).tanh()
        return new, new.clone()

    def run(xs):
        return scan(step, torch.zeros(3), xs)[1] * 2

    before = []
    compiled = tracer_core.compile(
        run, fullgraph=True, backend=lambda graph, _: before.append(len(traced)) or graph.forward
    )
    result = compiled(torch.randn(4, 3))
    assert before == [0]
    assert traced
    assert result.requires_grad
    result.sum().backward()
    assert weight.grad is not None
