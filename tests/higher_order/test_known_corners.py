"""Floats and numbers that vary in functions that operators call, operators inside transforms, and what their breaks
say."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch._higher_order_ops import map as map_function
from torch._higher_order_ops import scan

import tracer_core
from tests.higher_order.three_ways import agree, outcome, refused

pytestmark = pytest.mark.row("H2", "H4", "H12")

X = torch.arange(4.0).reshape(2, 2)


def by_a_float(x: Any, s: float) -> Any:
    return torch.cond(x.sum() > 0, lambda a: a * s, lambda a: a - s, (x,))


def by_a_computed_float(x: Any, s: float) -> Any:
    t = s * 2 + 1
    return map_function(lambda row: row * t, x)


def along_a_dimension(x: Any, dim: int) -> Any:
    return scan(lambda carry, a: (carry + a, carry * a), torch.zeros(2), x, dim=dim)


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
@pytest.mark.parametrize("program", [by_a_float, by_a_computed_float])
def test_a_float_that_varies_is_a_constant_in_a_body(program: Callable[..., Any], backend: str) -> None:
    compiled = tracer_core.compile(program, backend=backend, fullgraph=True)
    for s in (2.0, 3.0, 4.5, 2.0):
        arguments = lambda s=s: (X - s, s)
        agree(outcome(compiled, arguments), outcome(program, arguments))


@pytest.mark.parametrize("dynamic", [None, True])
def test_the_dimension_of_a_scan_varies(dynamic: bool | None) -> None:
    compiled = tracer_core.compile(along_a_dimension, backend="eager", fullgraph=True, dynamic=dynamic)
    for dim in (0, 1, 0, -1):
        arguments = lambda dim=dim: (X, dim)
        agree(outcome(compiled, arguments), outcome(along_a_dimension, arguments))


def branch(a: Any) -> Any:
    return torch.cond(a.sum() > 0, torch.sin, torch.cos, (a,))


def loop(a: Any) -> Any:
    return torch.while_loop(lambda i, r: i < 3, lambda i, r: (i + 1, r.sin()), (torch.tensor(0), a))[1]


INSIDE: dict[str, tuple[Callable[..., Any], str, str]] = {
    "cond": (lambda x: torch.func.grad(lambda a: branch(a).sum())(x), "cond", "torch.func.grad"),
    "loop": (lambda x: torch.func.grad(lambda a: loop(a).sum())(x), "while_loop", "torch.func.grad"),
    "map": (lambda x: torch.func.grad(lambda a: map_function(torch.sin, a).sum())(x), "map_impl", "torch.func.grad"),
    "forward": (lambda x: torch.func.jvp(branch, (x,), (x,)), "cond", "torch.func.jvp"),
}


@pytest.mark.parametrize("name", INSIDE)
def test_an_operator_that_torch_has_no_rule_for_in_a_transform(name: str) -> None:
    """(As plain Python, torch does not run them either.)"""
    program, operator, transform = INSIDE[name]
    with pytest.raises(Exception):  # noqa: B017, PT011 - torch's own, of several kinds
        program(X)
    error = refused(program, lambda: (X,))
    assert error.reason_id == "operator-refuses"
    assert f"{operator} does not take these arguments: torch has no rule for it inside {transform}" in error.message


def copied(x: Any) -> Any:
    y = copy.copy(x)
    y.add_(1)
    return x * 2, y is x


def test_a_copy_of_a_tensor_shares_its_memory_and_breaks_by_name() -> None:
    arguments = lambda: (X.clone(),)
    assert "the method __reduce_ex__ (as copy.copy and pickle do) of a tensor" in refused(copied, arguments).message
    agree(outcome(tracer_core.compile(copied, backend="eager"), arguments), outcome(copied, arguments))


class Noting(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> Any:
        return x * 1

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        ctx.seen = 1
        return gradients[0] * 2


def test_a_backward_that_writes_to_ctx() -> None:
    function = lambda x: Noting.apply(x)
    arguments = lambda: (X.clone().requires_grad_(),)
    assert "Noting.apply of a torch.autograd.Function" in refused(function, arguments).message
    assert "its backward sets an attribute of ctx" in refused(function, arguments).message
    agree(outcome(tracer_core.compile(function, backend="eager"), arguments), outcome(function, arguments))


@pytest.mark.parametrize("backend", ["eager", lambda graph, examples: graph, lambda graph, examples: graph.forward])
def test_hooks_for_all_modules_are_not_called_for_graphs(backend: Any) -> None:
    called: list[str] = []
    function = lambda x: (x + 1).sin()
    compiled = tracer_core.compile(function, backend=backend)
    handle = torch.nn.modules.module.register_module_forward_hook(lambda module, *given: called.append(str(module)))
    try:
        agree(compiled(X), function(X))
    finally:
        handle.remove()
    assert called == []
