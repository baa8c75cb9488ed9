"""What the back end `tracer_aot` does not lower runs eagerly, and a warning says why."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import torch
from torch.testing._internal.two_tensor import TwoTensor

from tests.aot.comparing import compiled
from tracer_core.aot import Lowered, tracer_aot
from tracer_core.errors import BackendWarning


def says(reason: str) -> Any:
    return pytest.warns(BackendWarning, match=f"'tracer_aot' runs a graph eagerly, not as operators: {reason}")


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (lambda: TwoTensor(torch.ones(3), torch.zeros(3)), "an input is of the tensor subclass TwoTensor"),
        (lambda: torch.eye(3).to_sparse(), "an input has the layout torch.sparse_coo"),
    ],
    ids=["subclass", "sparse"],
)
def test_inputs_of_other_kinds(make: Any, reason: str) -> None:
    graph = torch.fx.symbolic_trace(lambda x: (x + x,))
    value = make()
    with says(reason):
        run = tracer_aot(graph, [value])
    assert run(value)[0].to_dense().equal((value + value).to_dense())


def writes_sizes(x: torch.Tensor) -> Any:
    x.t_()
    return (x + 1,)


def asks_for_gradients(x: torch.Tensor) -> Any:
    x.requires_grad_()
    return (x * 2,)


def stores_gradients(x: torch.Tensor) -> Any:
    x.sin().sum().backward()
    return (x * 2,)


def creates_a_leaf(x: torch.Tensor) -> Any:
    return (torch.zeros_like(x).requires_grad_(),)


@pytest.mark.parametrize(
    ("function", "requires_grad", "reason"),
    [
        (writes_sizes, False, "it changes the sizes, the strides or the storage of an input"),
        (asks_for_gradients, False, "it changes whether an input requires a gradient"),
        (stores_gradients, True, "it computes gradients and stores them in an input"),
        (creates_a_leaf, False, "an output is a leaf, to which gradients are to flow"),
    ],
)
def test_effects_that_operators_do_not_have(function: Any, requires_grad: bool, reason: str) -> None:
    graph = torch.fx.symbolic_trace(function)
    lowered: list[Lowered] = []
    mine, plain = (torch.ones(2, 3, requires_grad=requires_grad) for _ in range(2))
    with says(reason):
        run = tracer_aot(graph, [mine], options={"on_lowered": lowered.append})
    assert lowered[0].reason.startswith(reason)
    assert lowered[0].forward is None
    (found,), (expected,) = run(mine), function(plain)
    assert torch.equal(found, expected)
    assert found.requires_grad == expected.requires_grad
    assert mine.shape == plain.shape
    assert mine.requires_grad == plain.requires_grad
    assert (mine.grad is None) == (plain.grad is None)


def test_settings_that_a_graph_leaves_changed(grad_mode: None) -> None:
    def turns_gradients_off(x: torch.Tensor) -> torch.Tensor:
        torch.set_grad_enabled(False)
        return x * 2

    call, lowered = compiled(turns_gradients_off)
    result = call(torch.ones(2, requires_grad=True))
    assert not torch.is_grad_enabled()
    assert not result.requires_grad
    assert lowered[0].reason == ""


@pytest.fixture
def grad_mode() -> Iterator[None]:
    yield
    torch.set_grad_enabled(True)


def test_a_graph_that_turns_gradients_on() -> None:
    def turns_gradients_on(x: torch.Tensor, b: torch.Tensor) -> tuple[torch.Tensor, ...]:
        y = x * 2
        with torch.enable_grad():
            b.copy_(x.sin())
            return y, x * y

    results = []
    call, lowered = compiled(turns_gradients_on)
    for function in (turns_gradients_on, call):
        x, b = torch.ones(2, requires_grad=True), torch.zeros(2)
        with torch.no_grad():
            y, z = function(x, b)
        assert not y.requires_grad
        (z.sum() + b.sum()).backward()
        results.append(x.grad)
    assert torch.equal(*results)
    assert [each.reason for each in lowered] == [""]


def test_the_state_of_torch_is_as_before_when_tracing_fails() -> None:
    graph = torch.fx.Graph()
    x = graph.placeholder("x")
    graph.call_function(torch._C._set_grad_enabled, (False,))
    graph.output((graph.call_method("t_", (x,)),))
    with says("it changes the sizes"):
        tracer_aot(torch.fx.GraphModule({}, graph), [torch.ones(2, 2)])
    assert torch.is_grad_enabled()
    assert torch._C._len_torch_dispatch_stack() == 0
