"""`torch.autograd.Function`: forward and backward are traced, and gradients are those of plain Python."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from unittest import mock

import pytest
import torch
from torch._higher_order_ops.wrap import wrap
from torch.autograd import Function
from torch.utils.checkpoint import checkpoint

import tracer_core
from tests.higher_order.autograd_programs import (
    AS_TORCH,
    BIAS,
    WEIGHT,
    Boxed,
    Dirty,
    Double,
    Shapes,
    Unfilled,
    bodies,
    captured,
    leaf,
    of_class,
    one,
    outer,
    separate,
    targets,
    two,
)
from tests.higher_order.three_ways import agree, outcome, torch_refuses

pytestmark = pytest.mark.row("H14")


@pytest.mark.parametrize("function", AS_TORCH, ids=lambda function: function.__name__)
def test_captured_as_torch_captures_it(function: Callable[..., Any]) -> None:
    captured(function, AS_TORCH[function])


def test_arguments_by_name_and_by_default() -> None:
    # torch.compile passes setup_context the arguments that were given, without defaults.
    captured(separate, one, as_torch=False)


def test_forward_and_backward_as_class_methods() -> None:
    # torch.compile passes the class twice.
    captured(of_class, one, as_torch=False)


class WithoutGradient(Function):
    @staticmethod
    def forward(ctx, x):
        return x * 3

    @staticmethod
    def backward(ctx, g):
        return None


class UnfilledBesideOther(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.set_materialize_grads(False)
        values, places = x.max(1)
        ctx.mark_non_differentiable(places)
        ctx.save_for_backward(x)
        return values, places

    @staticmethod
    def backward(ctx, g, h):
        return ctx.saved_tensors[0] * (g[:, None] if h is None else 7)


@pytest.mark.parametrize("dynamic", [None, True])
def test_gradients_that_are_not_filled_with_zeros(dynamic: bool | None) -> None:
    captured(lambda x: Unfilled.apply(x + 1) * 2, one, dynamic=dynamic)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: WithoutGradient.apply(Unfilled.apply(x)),  # there is none at all
        lambda x: UnfilledBesideOther.apply(x)[0],  # torch.compile passes zeros
    ],
)
def test_backward_is_passed_none_for_a_gradient_that_there_is_not(function: Any) -> None:
    agree(outcome(tracer_core.compile(function, backend="eager", fullgraph=True), one), outcome(function, one))


class SetsFree(Function):
    @staticmethod
    def forward(ctx, x, y):
        ctx.sine, ctx.cosine = x.sin(), y.cos()
        return x * y

    @staticmethod
    def backward(ctx, g):
        sine, cosine = ctx.sine, ctx.cosine
        ctx.sine = None
        del ctx.cosine
        return g * sine, g * cosine


def test_backward_may_set_free_what_ctx_holds() -> None:
    # torch.compile takes None for an attribute, but does not delete one.
    captured(lambda x, y: SetsFree.apply(x, y) * 2, two, as_torch=False)


FACTOR = 2.0


class ReadsGlobal(Function):
    @staticmethod
    def forward(ctx, x):
        return x * 1

    @staticmethod
    def backward(ctx, g):
        return g * FACTOR


def test_backward_has_the_globals_of_when_forward_was_called() -> None:
    """(As with torch.compile: plain Python reads them when backward is called.)"""
    function = lambda x: ReadsGlobal.apply(x)
    for compiled in (
        tracer_core.compile(function, backend="eager", fullgraph=True),
        torch.compile(function, backend="eager", fullgraph=True),
    ):
        x = leaf(3)
        with mock.patch.dict(globals(), FACTOR=3.0):
            result = compiled(x)
        result.sum().backward()
        torch.testing.assert_close(x.grad, torch.full((3,), 3.0))
        x.grad = None
        compiled(x).sum().backward()
        torch.testing.assert_close(x.grad, torch.full((3,), 2.0))


def test_gradients_in_a_list() -> None:
    # torch.compile passes them one by one.
    captured(lambda x, y: Boxed.apply(x, y), two, as_torch=False)


@pytest.mark.parametrize("enabled", [False, True])
def test_autocast_kept_for_backward(enabled: bool) -> None:
    class Gram(Function):
        @staticmethod
        @torch.amp.custom_fwd(device_type="cpu")
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x @ x.t()

        @staticmethod
        @torch.amp.custom_bwd(device_type="cpu")
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return (g + g.t()) @ x

    def program(x):
        with torch.autocast("cpu", torch.bfloat16, enabled=enabled):
            return Gram.apply(x * 2)

    captured(program, one, as_torch=False)


def test_functions_inside_functions() -> None:
    # torch.compile breaks there.
    captured(outer, one, as_torch=False)


class Product(Function):
    @staticmethod
    def forward(ctx, x, y):
        ctx.save_for_backward(x, y)
        return x * y

    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        return g * y, g * x * 3


def test_one_tensor_passed_twice() -> None:
    def square(x):
        return Product.apply(x, x)

    # torch.compile breaks there.
    captured(square, one, as_torch=False)
    assert "duplicate tensor input" in str(torch_refuses(square, one))


# --- where it is called -------------------------------------------------------------------------------------


class Straight(Function):
    @staticmethod
    def forward(ctx, x):
        return x.round()

    @staticmethod
    def backward(ctx, g):
        return g


class Linear(Function):
    """Has a use for what each input needs."""

    @staticmethod
    def forward(ctx, x, weight, bias=None):
        ctx.save_for_backward(x, weight, bias)
        result = x @ weight.t()
        return result if bias is None else result + bias

    @staticmethod
    def backward(ctx, g):
        x, weight, bias = ctx.saved_tensors
        dx = g @ weight if ctx.needs_input_grad[0] else None
        dw = g.t() @ x if ctx.needs_input_grad[1] else None
        db = g.sum(0) if bias is not None and ctx.needs_input_grad[2] else None
        return dx, dw, db


class Quantized(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(leaf(3, 3).detach())
        self.bias = torch.nn.Parameter(leaf(3).detach())
        self.round = Straight.apply

    def forward(self, x):
        for bias in (self.bias, None):
            x = Linear.apply(x, self.round(self.weight), bias).tanh()
        return x


def test_in_a_module_with_its_parameters() -> None:
    module = Quantized()
    for x in (leaf(2, 3), leaf(2, 3).detach()):
        captured(module, lambda x=x: (x.clone().detach().requires_grad_(x.requires_grad),))


def test_modules_that_forward_and_backward_use() -> None:
    inner = torch.nn.Linear(3, 3)

    class Applies(Function):
        @staticmethod
        def forward(ctx, x, module):
            ctx.module = module
            return module(x)

        @staticmethod
        def backward(ctx, g):
            return g @ ctx.module.weight * 2 + inner.bias, None

    captured(lambda x: Applies.apply(x, inner), one)


def shapes(x):
    return Shapes.apply(x, x.shape[0] * 2) + 1


def test_symbolic_sizes() -> None:
    # torch.compile asks for sizes in the graph, and we pass symbols.
    graph = captured(shapes, one, as_torch=False, dynamic=True)
    forward, backward = bodies(graph)
    assert "expand" in targets(backward)
    graph = captured(lambda x: Double.apply(x) * 2, one, dynamic=True)


@pytest.mark.parametrize("dynamic", [None, True])
def test_a_graph_fits_other_sizes(dynamic: bool | None) -> None:
    compiled = tracer_core.compile(shapes, backend="aot_eager", fullgraph=True, dynamic=dynamic)
    for rows in (2, 5, 4):
        arguments = lambda rows=rows: (leaf(rows, 3),)
        agree(outcome(compiled, arguments), outcome(shapes, arguments))


@pytest.mark.row("H18")
def test_inside_other_operators_and_around_them() -> None:
    class Around(Function):
        @staticmethod
        def forward(ctx, x):
            y = wrap(lambda a: wrap(torch.sin, a * 2) + WEIGHT, x)
            ctx.save_for_backward(y, x)
            return torch.cond(x.sum() > 0, lambda a: a.cos(), lambda a: a * 2, (y,))

        @staticmethod
        def backward(ctx, g):
            y, x = ctx.saved_tensors
            return torch.cond(x.sum() > 0, lambda a: a * y, lambda a: a - y, (g,))

    def inside(x):
        z = wrap(lambda a: Double.apply(wrap(Double.apply, a * BIAS)) + 1, x * 2)
        return wrap(lambda a: Around.apply(a) * 2, z)

    captured(inside, one, as_torch=False)


@pytest.mark.row("H7", "H18")
def test_random_numbers_drawn_in_a_function_in_a_checkpoint_are_drawn_again() -> None:
    class Drops(Function):
        @staticmethod
        def forward(ctx, x):
            return torch.nn.functional.dropout(x)

        @staticmethod
        def backward(ctx, g):
            return g * 2

    def program(x):
        return checkpoint(lambda a: Drops.apply(a * 2).cos(), x, use_reentrant=False)

    compiled = tracer_core.compile(program, backend="eager", fullgraph=True)
    agree(outcome(compiled, one), outcome(program, one))


def test_a_tensor_that_is_written_to_inside_another_operator() -> None:
    def program(x, y):
        z = x * 1
        first = wrap(lambda a: Dirty.apply(a, y)[0], z)
        return first, z * 2

    captured(program, two, as_torch=False)
