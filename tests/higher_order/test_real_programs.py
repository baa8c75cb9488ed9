"""Programs as people write them with higher-order operators: one graph each, with plain Python's results and
gradients."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch._higher_order_ops import map as map_rows
from torch._higher_order_ops import scan
from torch.func import functional_call, grad, vmap
from torch.utils.checkpoint import checkpoint

import tracer_core
from tests.higher_order.three_ways import Graphs, agree, outcome, same_three_ways

FIELD = torch.nn.Sequential(torch.nn.Linear(3, 8), torch.nn.Tanh(), torch.nn.Linear(8, 3))
HEAD = torch.nn.Linear(3, 1)


def points() -> tuple[torch.Tensor]:
    return (torch.linspace(-1, 1, 12).reshape(4, 3).requires_grad_(),)


def one_graph(program: Any, plain: Any = None) -> torch.fx.GraphModule:
    ours = Graphs()
    tracer_core.reset()
    compiled = tracer_core.compile(program, backend=ours, fullgraph=True)
    agree(outcome(compiled, points), outcome(plain or program, points))
    (graph,) = ours.graphs
    return graph


@pytest.mark.row("H4")
def test_an_ordinary_differential_equation_by_scan() -> None:
    """Steps of Euler's method; a loop over the steps is what they come to."""
    times = torch.linspace(0, 1, 6)

    def step(state: torch.Tensor, time: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        after = state + 0.2 * FIELD(state) * time.cos()
        return after, after.clone()

    def program(x: torch.Tensor) -> torch.Tensor:
        _, path = scan(step, x, times)
        return path

    def plain(x: torch.Tensor) -> torch.Tensor:
        path = []
        for time in times:
            x = x + 0.2 * FIELD(x) * time.cos()
            path.append(x)
        return torch.stack(path)

    one_graph(program, plain)


@pytest.mark.row("H3")
def test_a_sampler_that_stops_when_it_has_converged() -> None:
    def program(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        def goes_on(step: torch.Tensor, state: torch.Tensor) -> torch.Tensor:
            return (step < 50) & (state.norm() > 0.5)

        def denoise(step: torch.Tensor, state: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
            return step + 1, state - 0.1 * (state + FIELD(state).tanh() * 0.1)

        with torch.no_grad():
            return torch.while_loop(goes_on, denoise, (torch.zeros((), dtype=torch.int64), x.detach()))

    def plain(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        step, state = torch.zeros((), dtype=torch.int64), x.detach()
        with torch.no_grad():
            while bool((step < 50) & (state.norm() > 0.5)):
                step, state = step + 1, state - 0.1 * (state + FIELD(state).tanh() * 0.1)
        return step, state

    one_graph(program, plain)


@pytest.mark.row("F12")
def test_learning_to_learn() -> None:
    """One step of gradient descent on each task; the loss after it, differentiated by the parameters before."""

    def loss(params: dict[str, torch.Tensor], task: torch.Tensor) -> torch.Tensor:
        return ((functional_call(HEAD, params, (task,)) - 1) ** 2).mean()

    def adapted(params: dict[str, torch.Tensor], task: torch.Tensor) -> torch.Tensor:
        slopes = grad(loss)(params, task)
        return loss({name: value - 0.1 * slopes[name] for name, value in params.items()}, task)

    def program(tasks: torch.Tensor) -> Any:
        params = {name: value.detach() for name, value in HEAD.named_parameters()}
        mean = lambda params: vmap(adapted, in_dims=(None, 0))(params, tasks.reshape(2, 2, 3)).mean()
        return grad(mean)(params)

    same_three_ways(program, points)


class Scaled(torch.autograd.Function):
    """Multiplies by two; the gradient is three times what it should be, to be seen."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
        return x * 2

    @staticmethod
    def backward(ctx: Any, slope: torch.Tensor) -> torch.Tensor:
        return slope * 6


@pytest.mark.row("H18")
def test_a_function_of_autograd_in_a_branch_in_a_map_in_a_checkpoint() -> None:
    """torch's `map` takes no checkpoint or function of autograd apart; ours are whole graphs in each other."""

    def row(a: torch.Tensor) -> torch.Tensor:
        return torch.cond(a.sum() > 0, lambda b: b.sin() * 3, lambda b: b.cos() + 1, (a,))

    def program(x: torch.Tensor) -> torch.Tensor:
        return checkpoint(lambda a: map_rows(row, Scaled.apply(a)), x, use_reentrant=False)

    def plain(x: torch.Tensor) -> torch.Tensor:
        rows = Scaled.apply(x)
        return torch.stack([a.sin() * 3 if a.sum() > 0 else a.cos() + 1 for a in rows])

    graph = one_graph(program, plain)
    (outer,) = [node for node in graph.graph.nodes if "checkpoint" in str(node.target)]
    body = getattr(graph, outer.args[0].target)
    names = [node.target.__name__ for node in body.graph.nodes if node.op == "call_function"]
    assert "autograd_function_apply" in names
    assert "map_impl" in names
