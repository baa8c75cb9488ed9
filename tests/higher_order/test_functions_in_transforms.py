"""`torch.autograd.Function.apply` inside transforms of `torch.func`.

`torch.compile` ignores backward there, or fails: so graphs are compared with plain Python alone.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch.autograd import Function
from torch.func import functional_call, grad, jacrev, jvp, vjp, vmap

import tracer_core
from tests.higher_order.autograd_programs import WEIGHT, Arguments, captured, leaf, one
from tests.higher_order.three_ways import agree, outcome, refused

pytestmark = pytest.mark.row("F12", "H14")


class Power(Function):
    """Its backward is not what forward's own derivative would be."""

    generate_vmap_rule = True

    @staticmethod
    def forward(x, factor=2):
        return x**3 * factor

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(inputs[0], output)
        ctx.factor = inputs[1]

    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        return g * 3.5 * x**2 * ctx.factor + y * g, None


class Project(Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(x, w):
        return x @ w, x.argmax()

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.mark_non_differentiable(output[1])
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx, g, _):
        x, w = ctx.saved_tensors
        to_x = g @ w.t() if ctx.needs_input_grad[0] else None
        return to_x, torch.outer(x, g) if ctx.needs_input_grad[1] else None


class Layer(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(leaf(3, 2).detach())

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return Project.apply(x, self.weight)[0].tanh()


LAYER = Layer()


def per_sample_gradients(x: torch.Tensor) -> Any:
    loss = lambda parameters, row: (functional_call(LAYER, parameters, (row,)) ** 2).sum()
    parameters = {name: each.detach() for name, each in LAYER.named_parameters()}
    return vmap(grad(loss), in_dims=(None, 0))(parameters, x)


def inner_loop(x: torch.Tensor) -> torch.Tensor:
    loss = lambda w: (Power.apply(x * w) ** 2).mean()
    w = WEIGHT
    for _ in range(2):
        w = w - 0.1 * grad(loss)(w)
    return loss(w)


def data() -> tuple[torch.Tensor]:
    return (leaf(2, 3).detach(),)


PROGRAMS: dict[str, tuple[Callable[..., Any], Arguments]] = {
    "grad": (lambda x: grad(lambda a: Power.apply(a, 3).sum())(x), data),
    "grad_twice": (lambda x: grad(lambda b: grad(lambda a: Power.apply(a).sum())(b).sum())(x), data),
    "grad_of_a_tensor_that_is_differentiated_too": (lambda x: grad(lambda a: Power.apply(a * x).sum())(x), one),
    "vjp": (lambda x: vjp(lambda a: Power.apply(a), x)[1](x * 2)[0], data),
    "jacrev": (lambda x: jacrev(lambda a: Power.apply(a.sin()))(x), data),
    "vmap_of_a_tensor_that_is_differentiated": (lambda x: vmap(lambda row: Power.apply(row) * 2)(x), one),
    "vmap_of_grad": (lambda x: vmap(grad(lambda row: Power.apply(row).sum()))(x), data),
    "per_sample_gradients": (per_sample_gradients, data),
    "inner_loop": (inner_loop, data),
}


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("dynamic", [None, True])
def test_gradients_are_those_that_backward_computes(name: str, dynamic: bool | None) -> None:
    function, arguments = PROGRAMS[name]
    captured(function, arguments, as_torch=False, dynamic=dynamic)


def test_where_nothing_is_differentiated_forward_is_mapped() -> None:
    captured(lambda x: vmap(lambda row: Power.apply(row))(x * 2), data, as_torch=False)
    captured(lambda x: Power.apply(vmap(torch.sin)(x)), one, as_torch=False)


class MapsItself(Function):
    @staticmethod
    def forward(x):
        return x * 2

    @staticmethod
    def setup_context(ctx, inputs, output):
        pass

    @staticmethod
    def backward(ctx, g):
        return g * 2

    @staticmethod
    def jvp(ctx, tangent):
        return tangent * 2

    @staticmethod
    def vmap(info, in_dims, x):
        return MapsItself.apply(x) + 1, in_dims[0]


class Computes(Power):
    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(inputs[0].cos())

    @staticmethod
    def backward(ctx, g):
        return g * ctx.saved_tensors[0], None


REFUSED: list[tuple[Callable[..., Any], str]] = [
    (lambda x: vmap(MapsItself.apply)(x), "maps it by a vmap of its own"),
    (lambda x: jvp(MapsItself.apply, (x,), (x,))[1], "torch.func.jvp"),
    (lambda x: grad(lambda a: Computes.apply(a).sum())(x), "nor its setup_context compute anything"),
]


@pytest.mark.parametrize(("function", "why"), REFUSED, ids=[why for _, why in REFUSED])
def test_others_break_by_name_and_give_what_plain_python_gives(function: Callable[..., Any], why: str) -> None:
    error = refused(function, data)
    assert error.reason_id == "autograd-function"
    assert why in str(error)
    agree(outcome(tracer_core.compile(function, backend="eager"), data), outcome(function, data))
