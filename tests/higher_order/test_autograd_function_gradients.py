"""What autograd makes of a captured function: gradients of gradients, results without any, memory, side effects."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch.autograd import Function

import tracer_core
from tests.higher_order.autograd_programs import (
    SEEN,
    WEIGHT,
    Watched,
    aot_eager,
    captured,
    leaf,
    once,
    one,
    outer,
    targets,
)
from tests.higher_order.three_ways import agree, outcome, refused

pytestmark = pytest.mark.row("H14")


# --- what depends on gradients ------------------------------------------------------------------------------


class Cube(Function):
    @staticmethod
    def forward(ctx, x, k):
        ctx.save_for_backward(x)
        ctx.k = k
        return x * x * x * k

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * 3 * x * x * ctx.k, None


class Exp(Function):
    @staticmethod
    def forward(ctx, x):
        result = x.exp()
        ctx.save_for_backward(result)
        return result

    @staticmethod
    def backward(ctx, g):
        return g * ctx.saved_tensors[0]


@pytest.mark.parametrize("function", [lambda x: Cube.apply(x, 2) + x * x, lambda x: Exp.apply(x * x)])
def test_gradients_of_gradients(function: Callable[..., Any]) -> None:
    # torch.compile takes gradients of what backward computes to be zero.
    compiled = tracer_core.compile(function, backend="eager", fullgraph=True)
    found = []
    for called in (function, compiled):
        x = leaf(2, 3)
        (gradient,) = torch.autograd.grad(called(x).sum(), x, create_graph=True)
        (second,) = torch.autograd.grad((gradient * gradient).sum(), x, create_graph=True)
        found.append((gradient, second, *torch.autograd.grad(second.sum(), x)))
    torch.testing.assert_close(found[1], found[0])


class PartlyConstant(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        with torch.no_grad():
            y = x * 1
        return g * y + g * x


class AppliesAnother(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return 3 * Square.apply(x) * g


class Square(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return 2 * x * g


def test_a_gradient_that_cannot_be_taken_twice_is_refused_even_where_unused_ones_are_allowed() -> None:
    """(A gradient of None would be taken for zero.)"""
    compiled = tracer_core.compile(lambda x: AppliesAnother.apply(x).sum(), backend="eager", fullgraph=True)
    x = leaf(2, 3)
    (gradient,) = torch.autograd.grad(compiled(x), x, create_graph=True)
    torch.testing.assert_close(gradient.detach(), 3 * x.detach() ** 2)
    with pytest.raises(RuntimeError, match="cannot be differentiated"):
        torch.autograd.grad(gradient.sum(), x, allow_unused=True)


def written_in_the_graph(x):
    y = x * 1
    z = Square.apply(y)
    y.add_(1)
    return z


def in_a_function(x):
    y = x * 1
    z = Around.apply(y)
    y.add_(1)
    return z


class Around(Function):
    @staticmethod
    def forward(ctx, x):
        with torch.enable_grad():
            ctx.save_for_backward(x)
            return Square.apply(x) + 1

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * x


def written_after_the_graph(x):
    y = x * 1
    return y, Square.apply(y)


def run_backward(function, use):
    x = leaf(2, 3)
    try:
        use(x, function(x))
    except RuntimeError as error:
        return str(error)
    return x.grad


def write_then_run(x, results):
    with torch.no_grad():
        results[0].add_(1)
    results[1].sum().backward()


def run_twice(x, result):
    result.sum().backward(retain_graph=True)
    result.sum().backward()
    result.sum().backward()


@pytest.mark.parametrize(
    ("function", "use", "error"),
    [
        (written_in_the_graph, lambda x, z: z.sum().backward(), "modified by an inplace operation"),
        (in_a_function, lambda x, z: z.sum().backward(), "modified by an inplace operation"),
        (written_after_the_graph, write_then_run, "modified by an inplace operation"),
        (lambda x: Square.apply(x), run_twice, "backward through the graph a second time"),
        (lambda x: Square.apply(x), lambda x, z: (z.sum().backward(retain_graph=True), z.sum().backward()), None),
    ],
)
def test_autograd_watches_over_what_is_saved(function, use, error) -> None:
    expected = run_backward(function, use)
    found = run_backward(tracer_core.compile(function, backend="eager", fullgraph=True), use)
    if error is None:
        torch.testing.assert_close(found, expected)
    else:
        assert error in expected
        assert error in found


@pytest.mark.parametrize("function", [once, outer, lambda x: PartlyConstant.apply(x)])
def test_what_is_captured_for_one_gradient_gives_no_other(function: Callable[..., Any]) -> None:
    for backend, refusal in (("eager", "cannot be differentiated"), ("aot_eager", "double backward")):
        compiled = tracer_core.compile(function, backend=backend, fullgraph=True)
        agree(outcome(compiled, one), outcome(function, one))
        x = leaf(2, 3)
        with pytest.raises(RuntimeError, match=refusal):
            (gradient,) = torch.autograd.grad(compiled(x).sum(), x, create_graph=True)
            torch.testing.assert_close(gradient, torch.autograd.grad(function(x).sum(), x)[0])
            (gradient + x).sum().backward()


class Flattened(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.shape = x.shape
        return x.view(-1)

    @staticmethod
    def backward(ctx, g):
        return g.view(ctx.shape)


def written_view(x):
    y = Flattened.apply(x * 1)
    try:
        y.add_(1)
    except RuntimeError as error:
        return y * 2, str(error)
    return y * 2


def test_autograd_names_the_function_of_the_program() -> None:
    expected, found = written_view(one()[0]), tracer_core.compile(written_view, backend="eager")(one()[0])
    agree(found, expected)
    assert "Output 0 of Flattened is a view" in expected[1]
    compiled = tracer_core.compile(lambda x: Flattened.apply(x), backend="eager", fullgraph=True)
    assert compiled(one()[0]).grad_fn.name() == Flattened.apply(one()[0]).grad_fn.name() == "FlattenedBackward"
    assert "Output 0 of Flattened is a view" in refused(lambda x: Flattened.apply(x * 1).add_(1), one).message


def test_where_nothing_is_differentiated_forward_alone_is_inlined() -> None:
    class Captured(Function):
        @staticmethod
        def forward(ctx, x, pair):
            ctx.mark_non_differentiable(x)
            ctx.save_for_backward(x)
            assert not torch.is_grad_enabled()
            return x * WEIGHT + pair[0]

        @staticmethod
        def backward(ctx, g):
            raise AssertionError

    def without(x):
        with torch.no_grad():
            return Captured.apply(x, [x])

    def program(x):
        y = Captured.apply(x.detach(), [x])
        return y, y.requires_grad

    for function in (without, program):
        assert "autograd_function_apply" not in targets(captured(function, one, as_torch=False))


def test_setup_context_is_called_where_nothing_is_differentiated() -> None:
    class Tells(Function):
        @staticmethod
        def forward(x):
            return x + 1

        @staticmethod
        def setup_context(ctx, inputs, output):
            SEEN.append(ctx.needs_input_grad)

        @staticmethod
        def backward(ctx, g):
            return g

    SEEN.clear()
    captured(lambda x: Tells.apply(x.detach()), one, as_torch=False)
    assert set(SEEN) == {(False,)}


class Hidden(Function):
    """Returns tensors that autograd does not see, and keeps one."""

    @staticmethod
    def forward(ctx, x):
        y = x.sin()
        SEEN.append(y)
        return y * 2, [y + 1, {"a": y.cos()}], x

    @staticmethod
    def backward(ctx, g, nothing, h):
        assert nothing is None
        return g * 2 + h


class Listed(Function):
    @staticmethod
    def forward(ctx, x):
        return [x * 2, x]

    @staticmethod
    def backward(ctx, *g):
        raise AssertionError


def test_tensors_in_containers_are_no_results_for_autograd() -> None:
    def hidden(x):
        SEEN.clear()
        a, (b, c), d = Hidden.apply(x * 2)
        kept = SEEN.pop()
        return a, b, c, d, kept + 1, [each.requires_grad for each in (a, b, c["a"], d, kept)]

    def listed(x):
        y = x * 2
        a, b = Listed.apply(y)
        return a, b, a.requires_grad, b is y

    # torch.compile differentiates them.
    captured(hidden, one, as_torch=False)
    captured(listed, one, as_torch=False)


# --- what lies otherwise in memory when backward runs ---------------------------------------------------------


class Flat(Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, g):
        h = (g * 2).contiguous().view(-1)
        return (g.contiguous().view(-1) * h).view(g.shape)


class Asks(Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, g):
        if not g.is_contiguous():
            g = g.contiguous()
        return g.view(-1).view(g.shape) * 3


@pytest.mark.parametrize("function", [Flat, Asks])
@pytest.mark.parametrize("use", [lambda y: y.sum(), lambda y: (y.t() * leaf(3, 2)).sum(), lambda y: (y * y).sum()])
def test_gradients_lie_in_memory_as_they_come(function: Any, use: Callable[..., Any]) -> None:
    for backend in (Watched(), Watched(aot_eager)):
        compiled = tracer_core.compile(lambda x: function.apply(x), backend=backend, fullgraph=True)
        x, y = one() + one()
        use(function.apply(x)).backward()
        use(compiled(y)).backward()
        torch.testing.assert_close(y.grad, x.grad)
        assert backend.raised == []


def test_torch_makes_gradients_contiguous_too_where_backward_asks() -> None:
    captured(lambda x: Asks.apply(x) + 1, one)


def test_results_that_share_memory_with_another_result_of_the_graph() -> None:
    def program(x):
        y = x * 2
        return y[0], OfView.apply(y), OfView.apply(y)

    # torch.compile with aot_eager gives the gradient of a view.
    captured(program, one, as_torch=False)
    captured(lambda x: OfView.apply(x * 2), one)


class OfView(Function):
    @staticmethod
    def forward(ctx, x):
        return x.view(-1)

    @staticmethod
    def backward(ctx, g):
        return g.view(2, 3) * 5


# --- side effects -------------------------------------------------------------------------------------------


class Counts(Function):
    calls = 0
    kept: Any = None

    @staticmethod
    def forward(ctx, x):
        Counts.calls += 1
        Counts.kept = x * 2
        SEEN.append(Counts.calls)
        return x * Counts.calls

    @staticmethod
    def backward(ctx, g):
        return g * 2


def test_what_forward_changes_counts() -> None:
    def program(x):
        y = Counts.apply(x)
        return Counts.apply(y), Counts.calls, Counts.kept

    found = []
    for function in (program, tracer_core.compile(program, backend="aot_eager", fullgraph=True)):
        SEEN.clear()
        Counts.calls = 0
        found.append((*outcome(function, one), list(SEEN), Counts.calls, Counts.kept.detach()))
    agree(found[1], found[0])
