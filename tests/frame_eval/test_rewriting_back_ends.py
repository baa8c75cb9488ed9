"""Back ends that rewrite graphs: what they cannot take, or would lose, is kept from them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

import tracer_core
from tests.side_by_side import Watch
from tracer_core.observer import observing

BACKENDS = ["eager", "aot_eager"]

SCALARS: dict[str, Callable[[torch.Tensor, torch.Tensor], torch.Tensor]] = {
    "alpha": lambda x, s: torch.add(x, x, alpha=s),  # type: ignore[call-overload]
    "value": lambda x, s: torch.addcmul(x, x, x, value=s),  # type: ignore[call-overload]
    "fill": lambda x, s: torch.full((2,), s) + x.sum(),  # type: ignore[call-overload]
    "slope": lambda x, s: torch.nn.functional.leaky_relu(x, s),  # type: ignore[arg-type]
    "shifts": lambda x, s: x.roll(s.long()),  # type: ignore[arg-type]
}


def both(function: Callable[..., Any], backend: Any, *calls: Callable[[], tuple[Any, ...]]) -> None:
    """Plain and compiled results, and what is left of the arguments, are the same in each call."""
    compiled = tracer_core.compile(function, backend=backend, options={"raise_internal_faults": True})
    for make in calls:
        given, ours = make(), make()
        torch.testing.assert_close(compiled(*ours), function(*given), rtol=0, atol=0)
        for plain, after in zip(given, ours, strict=True):
            if isinstance(plain, torch.Tensor):
                assert torch.equal(plain, after)


@pytest.mark.row("O11")
@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", SCALARS)
def test_tensors_where_numbers_are_wanted(backend: str, name: str) -> None:
    both(SCALARS[name], backend, *[lambda s=s: (torch.ones(3), torch.tensor(s)) for s in (2.0, 3.0)])


@pytest.mark.row("O11")
@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(
    "use", [lambda x, s: x * s, lambda x, s: torch.ones(int(s * 2)) + x.sum(), lambda x, s: s + 1]
)
def test_floats_that_vary(backend: str, use: Callable[..., Any]) -> None:
    both(use, backend, *[lambda s=s: (torch.ones(3), s) for s in (1.5, 2.5, 3.5, 0.0)])


@pytest.mark.row("O11")
@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(
    "use",
    [
        lambda x, n: (x * 2, n not in (3, 5, 7), n in (4, 5), n > 5),
        lambda x, n: x.sum() + max(n * 0.5, 2.5),
        lambda x, n: (x + round(n / 3, 2), n / 3),
    ],
)
def test_what_back_ends_learn_of_numbers_is_guarded(backend: str, use: Callable[..., Any]) -> None:
    both(use, backend, *[lambda n=n: (torch.ones(3), n) for n in (2, 3, 4, 5, 7, 6, 9)])


@pytest.mark.row("O9")
@pytest.mark.row("O11")
@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(
    "draw",
    [
        lambda x: torch.rand(3),
        lambda x: torch.empty(3).uniform_() * 2,
        lambda x: torch.nn.functional.dropout(x) + 1,
    ],
)
def test_draws_that_nobody_takes_are_made(backend: str, draw: Callable[..., Any]) -> None:
    def function(x: torch.Tensor) -> torch.Tensor:
        draw(x)
        return x + torch.rand(2)

    results = []
    for run in (function, tracer_core.compile(function, backend=backend)):
        torch.manual_seed(0)
        results.append([run(torch.ones(2)) for _ in range(2)])
    assert all(map(torch.equal, *results))


@pytest.mark.row("O11")
@pytest.mark.parametrize("backend", BACKENDS)
def test_an_empty_list_among_those_written_to(backend: str) -> None:
    def function(weight: torch.Tensor, gradient: torch.Tensor, *state: torch.Tensor) -> torch.Tensor:
        lists = [[each] for each in (weight, gradient, *state[:2])]
        torch._fused_adam_(
            *lists, [], [state[2]], lr=0.1, beta1=0.9, beta2=0.99, weight_decay=0.0, eps=1e-8, amsgrad=False,
            maximize=False,
        )  # fmt: skip
        return weight + 1

    both(function, backend, *[lambda: (torch.ones(2), *torch.ones(3, 2).unbind(), torch.tensor(1.0))] * 2)


def shared_data(x: torch.Tensor, y: torch.Tensor) -> Any:
    x.data = y
    return x * 2, x.data_ptr() == y.data_ptr()


def view_before_data(x: torch.Tensor, y: torch.Tensor) -> Any:
    view = x.view(-1)
    x.data = x.data - 1
    return view * 1


def data_written_after(x: torch.Tensor, y: torch.Tensor) -> Any:
    x.data = x.data - 1
    x.data[0] = 5
    return x * 1


@pytest.mark.row("O11")
@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("function", [shared_data, view_before_data, data_written_after])
def test_writes_of_data(backend: str, function: Callable[..., Any]) -> None:
    both(function, backend, *[lambda: (torch.ones(2), torch.zeros(3))] * 2)


@pytest.mark.row("O11")
@pytest.mark.parametrize("backend", BACKENDS)
def test_leaves_made_inside(backend: str) -> None:
    def function(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        weight = torch.ones(2, requires_grad=True)
        return weight, (weight * x).sum()

    weight, loss = tracer_core.compile(function, backend=backend)(torch.full((2,), 3.0))
    loss.backward()
    assert weight.is_leaf and torch.equal(weight.grad, torch.full((2,), 3.0))


@pytest.mark.row("O11")
@pytest.mark.parametrize("keep", [True, False])
def test_the_option_keeps_them_in_the_graph(keep: bool) -> None:
    watch = Watch()
    options = {"graph_runs_as_it_is": keep}
    compiled = tracer_core.compile(shared_data, backend=watch.backend, options=options)
    with observing(watch):
        compiled(torch.ones(2), torch.zeros(3))
    assert ("lost-by-back-ends" in watch.breaks) is not keep


@pytest.mark.row("O11")
@pytest.mark.parametrize("backend", BACKENDS)
def test_learning_rates_that_are_tensors(backend: str) -> None:
    weights = []
    for compiles in (lambda step: step, lambda step: tracer_core.compile(step, backend=backend)):
        weight = torch.nn.Parameter(torch.tensor([1.0, -2.0]))
        optimizer = torch.optim.Adam([weight], lr=torch.tensor(0.1))

        def step(weight: torch.Tensor = weight, optimizer: Any = optimizer) -> None:
            weight.grad = weight.detach() * 2
            optimizer.step()

        step = compiles(step)
        for _ in range(3):
            step()
        weights.append(weight.detach())
    assert torch.equal(*weights)


@pytest.mark.row("O11")
@pytest.mark.parametrize("backend", BACKENDS)
def test_numpy_that_warns_on_constants(backend: str) -> None:
    def function(x: torch.Tensor) -> Any:
        return np.array([1.0]) / 0, x + 1

    with pytest.warns(RuntimeWarning, match="divide by zero"):
        array, result = tracer_core.compile(function, backend=backend)(torch.ones(2))
    assert array == np.array([np.inf]) and torch.equal(result, torch.full((2,), 2.0))


@pytest.mark.row("O11")
@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("cls", [torch.optim.Adam, torch.optim.AdamW, torch.optim.RMSprop, torch.optim.Adagrad])
def test_steps_of_an_optimizer_are_compiled_once(backend: str, cls: type[torch.optim.Optimizer]) -> None:
    """The first step makes the state; all after it are one graph."""
    compiled_by = torch._dynamo.lookup_backend(backend) if backend != "eager" else (lambda graph, _: graph.forward)
    graphs = []

    def counting(graph: torch.fx.GraphModule, inputs: list[torch.Tensor]) -> Any:
        graphs.append(graph)
        return compiled_by(graph, inputs)

    def weights(compile: Callable[..., Any]) -> torch.Tensor:
        parameter = torch.nn.Parameter(torch.tensor([1.0, 2.0]))
        optimizer = cls([parameter], lr=0.1)
        step = compile(lambda: optimizer.step())
        for number in range(6):
            parameter.grad = torch.tensor([0.5, number])
            step()
        return parameter.detach()

    expected = weights(lambda function: function)
    assert torch.equal(weights(lambda function: tracer_core.compile(function, backend=counting)), expected)
    assert len(graphs) <= 2
