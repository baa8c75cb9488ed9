"""Operators that take functions, transforms and modules of torch: lowered, with the results of plain Python."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn
from torch._higher_order_ops.associative_scan import associative_scan
from torch._higher_order_ops.map import map as map_over
from torch._higher_order_ops.scan import scan
from torch._higher_order_ops.while_loop import while_loop
from torch.nn.attention.flex_attention import flex_attention
from torch.utils.checkpoint import checkpoint

from tests.aot.comparing import check

NORM = nn.BatchNorm1d(3)


def branches(x: torch.Tensor) -> Any:
    return torch.cond(x.sum() > 0, lambda x: x.sin(), lambda x: x.cos() * 2, (x,))


def loops(x: torch.Tensor) -> Any:
    return while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y.sin()), (torch.tensor(0), x.detach()))[1] + x


def maps(x: torch.Tensor) -> Any:
    return map_over(lambda row: row.sin() * 2, x)


def scans(x: torch.Tensor) -> Any:
    return scan(lambda carry, row: (carry + row, carry * row), torch.zeros(3), x)


def scans_in_any_order(x: torch.Tensor) -> Any:
    return associative_scan(lambda a, b: a + b, x, 0, combine_mode="generic")


def checkpoints(x: torch.Tensor) -> Any:
    return checkpoint(lambda y: y.sin().exp(), x, use_reentrant=False) * 2


def checkpoints_draws(x: torch.Tensor) -> Any:
    return checkpoint(lambda y: nn.functional.dropout(y.sin(), 0.5), x, use_reentrant=False) * 2


class Cube(torch.autograd.Function):
    """Its backward is not the derivative, so that it is seen whether it is used."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> torch.Tensor:
        (x,) = ctx.saved_tensors
        return gradient * 2 * x


def applies_a_function(x: torch.Tensor) -> Any:
    return Cube.apply(x.sin()) + x


def maps_by_vmap(x: torch.Tensor) -> Any:
    return torch.vmap(lambda row: row.sin().sum())(x)


def takes_gradients_of_rows(x: torch.Tensor) -> Any:
    return torch.vmap(torch.func.grad(lambda row: (row**2).sum()))(x)


def takes_a_jacobian(x: torch.Tensor) -> Any:
    return torch.func.jacrev(lambda y: y.sin().sum(1))(x)


def takes_a_product(x: torch.Tensor) -> Any:
    return torch.func.jvp(torch.sin, (x,), (torch.ones_like(x),))


def attends_flexibly(x: torch.Tensor) -> Any:
    heads = x.detach().view(1, 1, 4, 3)
    return flex_attention(heads, heads, heads, score_mod=lambda score, b, h, q, k: score + q - k)


def hooks_a_gradient(x: torch.Tensor) -> Any:
    y = x.sin()
    if y.requires_grad:
        y.register_hook(lambda gradient: gradient * 2)
    return y * 2


def is_in_inference_mode_for_a_while(x: torch.Tensor) -> Any:
    with torch.inference_mode():
        y = x.sin()
    return y.clone(), x * 2


def normalizes(x: torch.Tensor) -> Any:
    return NORM(x)


def attends(x: torch.Tensor) -> Any:
    heads = x[None, None]
    return nn.functional.scaled_dot_product_attention(heads, heads, heads, is_causal=True)


def sorts(x: torch.Tensor) -> Any:
    return x.sort(0)


def decomposes(x: torch.Tensor) -> Any:
    return torch.linalg.svd(x)[1]


def converts(x: torch.Tensor) -> Any:
    return x.half().float(), x.to(torch.float64), x.to(torch.float32)


def writes_to_a_copy(x: torch.Tensor) -> Any:
    y = x.clone()
    y[torch.tensor([0, 1])] = 0
    return y


FUNCTIONS = [
    branches, loops, maps, scans, scans_in_any_order, checkpoints, checkpoints_draws, applies_a_function,
    maps_by_vmap, takes_gradients_of_rows, takes_a_jacobian, takes_a_product, attends_flexibly, hooks_a_gradient,
    is_in_inference_mode_for_a_while, normalizes, attends, sorts, decomposes, converts, writes_to_a_copy,
]  # fmt: skip


@pytest.mark.filterwarnings("ignore::UserWarning:torch.nn.attention.flex_attention")
@pytest.mark.parametrize("requires_grad", [True, False], ids=["training", "inference"])
@pytest.mark.parametrize("function", FUNCTIONS)
def test_it_is_lowered_and_gives_what_plain_python_gives(
    function: Callable[[torch.Tensor], Any], requires_grad: bool
) -> None:
    check(function, lambda: (torch.randn(4, 3, requires_grad=requires_grad),))
