"""`make_fx` gives the graphs of torch's, in all its modes."""

from __future__ import annotations

from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch._decomp import core_aten_decompositions

from tests.proxy_tensor.checking import MODES, check_same
from tracer_core import make_fx

pytestmark = pytest.mark.row("P1")


def views(x: Any, y: Any) -> Any:
    z = torch.sin(x) @ y
    z.add_(1)
    return z.view(z.shape[0] * z.shape[1]) + x.size(0) * 2, {"sum": z.sum(0)}


def containers(x: Any, nested: Any) -> Any:
    first, (second, *_) = nested["pair"]
    return [x + first, (second * nested["n"], {"k": x})]


def constants(x: Any, y: Any) -> Any:
    t = torch.tensor([1.0, 2.0, 3.0, 4.0])
    one = torch.tensor(2)
    one.add_(3)
    return x + t * one.item() + torch.tensor(1.0)


def factories(x: Any, y: Any) -> Any:
    return x + torch.ones(x.shape) + torch.arange(x.shape[1]), torch.rand_like(x), torch.zeros(3)


def in_place(x: Any, y: Any) -> Any:
    w = x.clone()
    w[0] = 1
    w[:, 1:].mul_(2)
    w.relu_()
    return w


def indices(x: Any, y: Any) -> Any:
    return x[x > 0].shape[0] + 1, x[torch.tensor([0, 1])], x.nonzero(), torch.where(x > 0, x, 0)


def sizes(x: Any, y: Any) -> Any:
    n = x.shape[0] * 1 + x.numel() // 2
    return x.new_zeros(n), x.stride(0) + n, max(n, 2), x.transpose(0, 1).reshape(-1), -n, n / 2


def lists(x: Any, y: Any) -> Any:
    a, b = torch.split(x, 2, dim=1)
    return torch.cat([a, b, a]), torch.stack((a, b)), torch.topk(x, 2), torch._foreach_add([a, b], 1)


def gradients(x: Any, y: Any) -> Any:
    x = x.detach().requires_grad_()
    out = F.gelu(x @ y).sum() + F.softmax(x, dim=-1).pow(2).sum()
    return torch.autograd.grad(out, [x])


def several_results(x: Any, y: Any) -> Any:
    return torch.native_layer_norm(x, [x.shape[-1]], None, None, 1e-5), torch.var_mean(x), x.max(dim=1)


def truth(x: Any, y: Any) -> Any:
    if torch.tensor(3) > 2 and bool(torch.tensor([True])):
        return x + 1
    return x - 1


def sizes_by_operator(x: Any, y: Any) -> Any:
    return torch.take_along_dim(x, torch.zeros(1, 4, dtype=torch.int64), 0)


def nothing(x: Any, y: Any) -> None:
    x.add_(1)


FUNCTIONS = [
    views,
    constants,
    factories,
    in_place,
    sizes,
    lists,
    gradients,
    several_results,
    truth,
    sizes_by_operator,
    nothing,
]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_a_function_gives_the_graph_of_torch(function: Any, mode: str) -> None:
    check_same(function, torch.randn(3, 4), torch.randn(4, 5), tracing_mode=mode)


@pytest.mark.parametrize("mode", ["real", "symbolic"])
@pytest.mark.parametrize("function", [views, gradients, several_results], ids=lambda f: f.__name__)
def test_core_decompositions_apply_as_in_torch(function: Any, mode: str) -> None:
    table = core_aten_decompositions()
    check_same(function, torch.randn(3, 4), torch.randn(4, 5), tracing_mode=mode, decomposition_table=table)


@pytest.mark.parametrize("mode", MODES)
def test_arguments_may_be_nested(mode: str) -> None:
    x = torch.randn(2, 3)
    check_same(containers, x, {"pair": [x + 1, (x + 2, x)], "n": 3}, tracing_mode=mode)


@pytest.mark.parametrize("mode", MODES)
def test_functions_without_names_for_their_arguments(mode: str) -> None:
    x = torch.randn(2, 3)
    check_same(lambda *xs: xs[0] + xs[1], x, x + 1, tracing_mode=mode)
    check_same(torch.add, x, x + 1, tracing_mode=mode)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.row("P10")
def test_unbacked_symbols_are_bound_where_they_arise(mode: str) -> None:
    graph = check_same(indices, torch.randn(3, 4), torch.randn(4, 5), tracing_mode=mode)
    bound = [node for node in graph.graph.nodes if "unbacked_bindings" in node.meta]
    assert bool(bound) == (mode != "real")


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.inner = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.ReLU())
        self.out = nn.Linear(8, 2)
        self.register_buffer("scale", torch.ones(2))

    def forward(self, x: Any, *, shift: float = 0.0) -> Any:
        return self.out(self.inner(x)) * self.scale + shift


@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("mode", MODES)
def test_modules_are_traced_with_their_parameters_as_attributes(mode: str, training: bool) -> None:
    net = Net().train(training)
    options = {} if mode == "real" else {"_allow_non_fake_inputs": True}
    check_same(lambda x: net(x, shift=1.0), torch.randn(3, 4), tracing_mode=mode, **options)
    check_same(net, torch.randn(3, 4), tracing_mode=mode, **options)


@pytest.mark.row("P7")
def test_a_parameter_is_one_attribute_however_often_it_is_used() -> None:
    weight = nn.Parameter(torch.randn(3))
    graph = check_same(lambda x: x * weight + weight, torch.randn(3))
    assert [name for name, _ in graph.named_parameters()] == ["_param_constant0"]


def test_an_unknown_tracing_mode_is_refused() -> None:
    with pytest.raises(ValueError, match="real, fake, symbolic"):
        make_fx(views, tracing_mode="dynamic")


def test_the_graph_computes_what_the_function_does() -> None:
    x, y = torch.randn(3, 4), torch.randn(4, 5)
    graph = make_fx(views, tracing_mode="symbolic")(x, y)
    for rows in (3, 6):
        x = torch.randn(rows, 4)
        got, expected = graph(x, y), views(x, y)
        torch.testing.assert_close(got, expected)
