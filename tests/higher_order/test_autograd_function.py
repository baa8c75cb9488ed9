"""`torch.autograd.Function`: forward and backward are traced, and gradients are those of plain Python."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any
from unittest import mock

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch._dynamo.backends.debugging import aot_eager
from torch._higher_order_ops.wrap import wrap
from torch.autograd import Function
from torch.autograd.function import once_differentiable

import tracer_core
from tests.higher_order.three_ways import (
    Arguments,
    Graphs,
    agree,
    outcome,
    refused,
    torch_refuses,
    written,
)
from tests.variables.whole_state import State
from tracer_core.higher_order import autograd_function
from tracer_core.runtime.gradients import differentiable_once
from tracewalk import record

pytestmark = pytest.mark.row("H14")

WEIGHT = torch.linspace(-1, 1, 3).requires_grad_()
BIAS = torch.linspace(0, 2, 3)
SEEN: list[Any] = []


def leaf(*sizes: int, start: float = 0.25) -> torch.Tensor:
    count = torch.Size(sizes).numel()
    return ((torch.arange(count, dtype=torch.float32) % 5 + start) / 3).reshape(sizes).requires_grad_()


def one() -> tuple[Any, ...]:
    return (leaf(2, 3),)


def two() -> tuple[Any, ...]:
    return leaf(2, 3), leaf(2, 3, start=1.5)


class Watched(Graphs):
    """A back end that keeps the graphs it is given, and what they raise when they run, as plain Python then stands in
    for them."""

    def __init__(self, back_end: Callable[..., Any] | None = None) -> None:
        super().__init__()
        self.back_end = back_end
        self.raised: list[Exception] = []

    def __call__(self, graph: torch.fx.GraphModule, examples: Any) -> Callable[..., Any]:
        self.graphs.append(graph)
        compiled = graph if self.back_end is None else self.back_end(graph, examples)

        def run(*args: Any) -> Any:
            try:
                return compiled(*args)
            except Exception as error:
                self.raised.append(error)
                raise

        return run


def captured(
    function: Callable[..., Any], arguments: Arguments, *, as_torch: bool = True, dynamic: bool | None = None
) -> torch.fx.GraphModule:
    """Check that the function is one graph and gives what plain Python gives, forward and backward, as it is and as
    back ends get it; and that its graph is torch's. Return the graph."""
    expected = outcome(function, arguments)
    ours, theirs = Watched(), Graphs()
    for back_end in (Watched(aot_eager), ours):
        tracer_core.reset()
        compiled = tracer_core.compile(function, backend=back_end, fullgraph=True, dynamic=dynamic)
        agree(outcome(compiled, arguments), expected)
        assert back_end.raised == []
    if as_torch:
        torch._dynamo.reset()
        by_torch = torch.compile(function, backend=theirs, fullgraph=True, dynamic=dynamic)
        agree(outcome(by_torch, arguments), expected)
        without_grad_mode(*theirs.graphs, *ours.graphs)
        assert [written(graph) for graph in ours.graphs] == [written(graph) for graph in theirs.graphs]
    (graph,) = ours.graphs
    return graph


def without_grad_mode(*graphs: torch.fx.GraphModule) -> None:
    """Take out what sets the grad mode in graphs of backward, and what looks at it: torch disables gradients there,
    even for those who differentiate twice."""
    for graph in graphs:
        for name, body in graph.named_modules():
            if "bwd_body" in name:
                for node in body.graph.find_nodes(op="call_function", target=differentiable_once):
                    for item in list(node.users):
                        item.replace_all_uses_with(node.args[item.args[1] + 1])
                        body.graph.erase_node(item)
                    body.graph.erase_node(node)
                for target in (torch._C._set_grad_enabled, torch.is_grad_enabled):
                    for node in body.graph.find_nodes(op="call_function", target=target):
                        body.graph.erase_node(node)


def bodies(graph: torch.fx.GraphModule) -> tuple[torch.fx.GraphModule, torch.fx.GraphModule]:
    return graph.fwd_body_0, graph.bwd_body_0  # type: ignore[return-value]


def targets(graph: torch.fx.GraphModule) -> list[str]:
    return [str(getattr(node.target, "__name__", node.target)) for node in graph.graph.nodes if "call" in node.op]


# --- what functions may do ----------------------------------------------------------------------------------


class Double(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * 2

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * x * 10


class Several(Function):
    """Three inputs, one of them a number, and three results, one of them a number."""

    @staticmethod
    def forward(ctx, x, y, k):
        ctx.save_for_backward(x, None, y)
        ctx.k = k
        ctx.middle = x.sin()
        return x * k, k, y + ctx.middle

    @staticmethod
    def backward(ctx, g, number, h):
        x, nothing, y = ctx.saved_tensors
        assert nothing is None and number is None
        return g * ctx.k + h * ctx.middle, h * x + y, None


class Containers(Function):
    """Tensors in containers are no inputs for autograd."""

    @staticmethod
    def forward(ctx, x, pair, options):
        ctx.save_for_backward(x, pair[1])
        ctx.options = options
        return x * pair[0] + options["bias"]

    @staticmethod
    def backward(ctx, g):
        x, second = ctx.saved_tensors
        return g * x * second * ctx.options["scale"], None, None


class Needs(Function):
    @staticmethod
    def forward(ctx, x, y, k):
        ctx.save_for_backward(x if ctx.needs_input_grad[0] else y, y)
        return x * y * k

    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        assert ctx.needs_input_grad == (True, False, False)
        return g * x, g * y if ctx.needs_input_grad[1] else None, None


class Dirty(Function):
    @staticmethod
    def forward(ctx, x, y):
        ctx.mark_dirty(x)
        ctx.save_for_backward(y)
        x.mul_(y)
        return y * 2, x

    @staticmethod
    def backward(ctx, g, h):
        (y,) = ctx.saved_tensors
        return h * 4, g * y


class Sorted(Function):
    @staticmethod
    def forward(ctx, x):
        values, index = x.sort()
        floats = index.float()
        ctx.mark_non_differentiable(index, floats)
        ctx.save_for_backward(index)
        return values, index, floats

    @staticmethod
    def backward(ctx, g, *rest):
        (index,) = ctx.saved_tensors
        return torch.zeros_like(g).scatter(-1, index, g)


class OfResult(Function):
    @staticmethod
    def forward(ctx, x):
        result = x.exp()
        ctx.save_for_backward(result)
        return result

    @staticmethod
    def backward(ctx, g):
        return g * ctx.saved_tensors[0]


class Separate(Function):
    @staticmethod
    def forward(x, scale=3.0):
        return x * scale, x.sum()

    @staticmethod
    def setup_context(ctx, inputs, output):
        x, ctx.scale = inputs
        ctx.save_for_backward(x, output[0])

    @staticmethod
    def backward(ctx, g, h):
        x, result = ctx.saved_tensors
        return g * ctx.scale + h * x * result, None


class Once(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.exp()

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        return g * ctx.saved_tensors[0] * 5


class Outer(Function):
    """Applies other functions in forward and in backward."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return Double.apply(x) + OfResult.apply(x)

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return Double.apply(g) * Outer.scale(x)

    @staticmethod
    def scale(x):
        return Once.apply(x) + 1


class Same(Function):
    """Returns its inputs."""

    @staticmethod
    def forward(ctx, x, y):
        return x, y

    @staticmethod
    def backward(ctx, g, h):
        return h, g * 3


class Captures(Function):
    @staticmethod
    def forward(ctx, x):
        return x * WEIGHT

    @staticmethod
    def backward(ctx, g):
        return g * BIAS + WEIGHT


class Shapes(Function):
    @staticmethod
    def forward(ctx, x, n):
        ctx.shape, ctx.n = x.shape, n
        return x.sum(0) * n

    @staticmethod
    def backward(ctx, g):
        return g.expand(ctx.shape) * ctx.n, None


class OfClass(Function):
    factor = 3

    @classmethod
    def forward(cls, ctx, x):
        return x * cls.factor

    @classmethod
    def backward(cls, ctx, g):
        return g * cls.factor * 2


class Boxed(Function):
    boxed_grads_call = True

    @staticmethod
    def forward(ctx, x, y):
        return x * 2, y * 3

    @staticmethod
    def backward(ctx, grads):
        return grads.pop(), grads.pop()


class View(Function):
    """Returns a view of its input, and gives it back."""

    @staticmethod
    def forward(ctx, x):
        ctx.sizes = x.shape
        return x.view(-1)[1:]

    @staticmethod
    def backward(ctx, g):
        return torch.cat([g, g[:1]]).view(ctx.sizes)


def applied(x):
    y = x + 1
    return Double.apply(y) * 3


def several(x, y):
    a, k, b = Several.apply(x, y, 3)
    return a * k, b


def only_one_of_several(x, y):
    return Several.apply(x, y, 2)[2] * 2


def containers(x, y):
    return Containers.apply(x * 2, [y, BIAS], {"bias": BIAS, "scale": 2})


def needs(x, y):
    return Needs.apply(x, y.detach(), 3)


def dirty(x, y):
    z = x * 1
    a, b = Dirty.apply(z, y)
    return a, b + 1, z * 2, b is z


def sorts(x):
    values, index, floats = Sorted.apply(x)
    return values * floats, index + 1, floats.requires_grad, values.requires_grad


def of_result(x):
    return OfResult.apply(x * 2) + 1


def separate(x):
    return Separate.apply(x)[0], Separate.apply(x, 2.0)[1], Separate.apply(x=x, scale=x.shape[0] * 1.5)


def once(x):
    return Once.apply(x)


def outer(x):
    return Outer.apply(x + 1)


def same(x, y):
    a, b = Same.apply(x, y)
    return a * 2, b * 4, a is x


def captures(x):
    return Captures.apply(x)


def of_class(x):
    return OfClass.apply(x)


def view(x):
    return View.apply(x) * 2


def twice(x):
    return Double.apply(Double.apply(x)) + Double.apply(x)


def in_a_loop(x):
    for k in range(3):
        x = Several.apply(x, x + 1, k)[2]
    return x


def with_gradients_enabled_again(x):
    with torch.no_grad():
        y = Double.apply(x)
        with torch.enable_grad():
            z = Double.apply(x)
    return y, z


AS_TORCH: dict[Callable[..., Any], Arguments] = {
    applied: one, several: two, only_one_of_several: two, containers: two, needs: two, dirty: two, sorts: one,
    of_result: one, once: one, same: two, captures: one, view: one, twice: one, in_a_loop: one,
    with_gradients_enabled_again: one,
}  # fmt: skip


@pytest.mark.parametrize("function", AS_TORCH, ids=lambda function: function.__name__)
def test_captured_as_torch_captures_it(function: Callable[..., Any]) -> None:
    captured(function, AS_TORCH[function])


def test_arguments_by_name_and_by_default() -> None:
    # torch.compile passes setup_context the arguments that were given, without defaults.
    captured(separate, one, as_torch=False)


def test_forward_and_backward_as_class_methods() -> None:
    # torch.compile passes the class twice.
    captured(of_class, one, as_torch=False)


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


def test_a_tensor_that_is_written_to_inside_another_operator() -> None:
    def program(x, y):
        z = x * 1
        first = wrap(lambda a: Dirty.apply(a, y)[0], z)
        return first, z * 2

    captured(program, two, as_torch=False)


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


# --- exceptions and breaks ----------------------------------------------------------------------------------


class Fails(Function):
    @staticmethod
    def forward(ctx, x):
        SEEN.append("forward")
        raise LookupError("no forward", x.shape[0])

    @staticmethod
    def backward(ctx, g):
        return g


def test_what_forward_raises_is_raised_at_the_call() -> None:
    def program(x):
        SEEN.clear()
        y = x * 2
        try:
            y = Fails.apply(y)
        except LookupError as error:
            return y + 1, error.args, list(SEEN)
        return y

    captured(program, one, as_torch=False)


class BreaksForward(Function):
    @staticmethod
    def forward(ctx, x):
        y = x * 2
        if y.sum() > 0:  # forward breaks
            return y
        return x * 3

    @staticmethod
    def backward(ctx, g):
        return g * 2


class BreaksBackward(Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, g):
        SEEN.append("backward")  # backward breaks
        return g * 2


class RaisesBackward(BreaksForward):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, g):
        raise KeyError("no gradient")  # backward raises


@pytest.mark.parametrize(
    ("function", "method", "says"),
    [
        (BreaksForward, "forward", "# forward breaks"),
        (BreaksBackward, "backward", "# backward breaks"),
        (RaisesBackward, "backward", "# here"),
    ],
)
def test_a_break_inside_names_function_method_and_line(function: Any, method: str, says: str) -> None:
    def program(x):
        y = x + 1
        return function.apply(y) * 2  # here

    error = refused(program, one)
    torch_refuses(program, one)
    assert error.reason_id == "body-breaks"
    assert f"{function.__qualname__}.apply needs {function.__qualname__}.{method} as one graph" in str(error)
    source, first = inspect.getsourcelines(program if says == "# here" else getattr(function, method))
    line = first + next(place for place, text in enumerate(source) if says in text)
    assert f'File "{__file__}", line {line}' in str(error)
    assert "Try: " in str(error)
    if function is not RaisesBackward:
        compiled = tracer_core.compile(program, backend="eager")
        with record() as trace:
            agree(outcome(compiled, one), outcome(program, one))
        assert {broken.reason_id for broken in trace.breaks} >= {"body-breaks"}


@pytest.mark.parametrize("function", [BreaksForward, BreaksBackward, RaisesBackward])
def test_a_break_leaves_nothing_behind(function: Any) -> None:
    wrong: list[str] = []
    tried = 0
    plain = autograd_function._captured

    def watched(tx: Any, *given: Any) -> Any:
        nonlocal tried
        before = State(tx)
        mark = tx.trace.mark()
        try:
            return plain(tx, given[0], mark)
        except tracer_core.Unsupported:
            tried += 1
            tx.trace.roll_back(mark)
            wrong.extend(before.differences(State(tx)))
            raise

    def program(x):
        own = [x.cos()]
        return function.apply(own[0] * x.shape[0]) * 2

    with mock.patch.object(autograd_function, "_captured", watched):
        refused(program, one)
    assert tried > 0
    assert wrong == []


def refusing(**parts: Any) -> Any:
    """Return a Function with these parts."""
    plain = {"forward": lambda ctx, x: x * 2, "backward": lambda ctx, g: g * 2}
    methods = {name: staticmethod(part) if callable(part) else part for name, part in (plain | parts).items()}
    return type("Refused", (Function,), methods)


def _unmaterialized(ctx: Any, x: Any) -> Any:
    ctx.set_materialize_grads(False)
    return x * 2


def _dirty_and_not_returned(ctx: Any, x: Any) -> Any:
    ctx.mark_dirty(x)
    x.add_(1)
    return x * 2


def _saves_a_number(ctx: Any, x: Any) -> Any:
    ctx.save_for_backward(x, 3)
    return x * 2


def _returns_twice(ctx: Any, x: Any) -> Any:
    y = x * 2
    return y, y


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"forward": _unmaterialized}, "set_materialize_grads"),
    ({"forward": _dirty_and_not_returned}, "does not return"),
    ({"forward": _saves_a_number}, "save_for_backward"),
    ({"forward": _returns_twice, "backward": lambda ctx, g, h: g + h}, "twice"),
    ({"forward": lambda ctx, x: WEIGHT}, "none of its arguments"),
    ({"backward": lambda ctx, g: (g, g)}, "returns 2 gradients for 1"),
    ({"backward": lambda ctx, g: ()}, "returns 0 gradients for 1"),
    ({"backward": lambda ctx, g: 3}, "returns a int as a gradient"),
    ({"jvp": lambda ctx, t: t * 2}, "jvp of its own"),
    ({"vjp": lambda ctx, g: g * 2}, "vjp of its own"),
    ({"clear_saved_tensors_on_access": True}, "clear_saved_tensors_on_access"),
    ({"forward": lambda ctx, x, *, k=2: x * k}, "by name alone"),
]


@pytest.mark.parametrize(("parts", "says"), REFUSED, ids=[says for _, says in REFUSED])
def test_what_cannot_be_captured_is_refused_by_name(parts: dict[str, Any], says: str) -> None:
    function = refusing(**parts)

    def program(x):
        y = x + 1
        if "name alone" in says:
            return function.apply(x=y)
        return function.apply(y)

    error = refused(program, one)
    assert error.reason_id == "autograd-function"
    assert "Refused.apply" in str(error)
    assert says in str(error)
    found = []
    for called in (program, tracer_core.compile(program, backend="eager")):
        try:
            found.append(outcome(called, one))
        except (RuntimeError, TypeError) as raised:
            found.append((type(raised), str(raised)))
    agree(found[1], found[0])


def test_running_backward_compiles_nothing() -> None:
    def program(x):
        Double.apply(x).sum().backward()
        return x.grad + 1

    x = leaf(2, 3)
    with record() as trace:
        found = tracer_core.compile(program, backend="eager")(x)
    assert len(trace.graphs) == 2
    assert {broken.reason_id for broken in trace.breaks} == {"autograd-call"}
    torch.testing.assert_close(found, x.detach() * 10 + 1)


def test_another_backward_is_another_graph() -> None:
    class Changing(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g * 2

    compiled = tracer_core.compile(lambda x: Changing.apply(x), backend="eager", fullgraph=True)
    (gradient,) = outcome(compiled, one)[2]
    Changing.backward = staticmethod(lambda ctx, g: g * 7)  # type: ignore[method-assign]
    (other,) = outcome(compiled, one)[2]
    torch.testing.assert_close(other, gradient / 2 * 7)


# --- any function -------------------------------------------------------------------------------------------


@st.composite
def functions(draw: st.DrawFn) -> tuple[Any, int]:
    """Return a Function whose methods are put together at random, and how many tensors it takes."""
    count = draw(st.integers(1, 3))
    places = st.integers(0, count - 1)
    results = draw(st.lists(st.sampled_from(["input", "product", "number", "index", "list"]), min_size=1, max_size=3))
    saved = draw(st.lists(places, max_size=3))
    uses = [draw(st.sampled_from(["saved", "kept", "weight", "nothing"])) for _ in range(count)]
    given = [draw(st.sampled_from(["gradient", "none", "needed"])) for _ in range(count)]
    returned = [draw(places) for _ in results]
    separate, alone = draw(st.booleans()), draw(st.booleans())

    def compute(inputs: Any) -> Any:
        kinds = {
            "input": lambda x: x,
            "product": lambda x: x * inputs[0] * 2,
            "number": lambda x: x.shape[0],
            "index": lambda x: x.argmax(),
            "list": lambda x: [x, x + 1],
        }
        found = [kinds[kind](inputs[place]) for kind, place in zip(results, returned, strict=True)]
        return found[0] if alone and len(found) == 1 else tuple(found)

    def note(ctx: Any, inputs: Any, result: Any) -> None:
        ctx.save_for_backward(*(inputs[place] for place in saved))
        ctx.kept = inputs[-1].sin()
        ctx.count = len(inputs)

    class Drawn(Function):
        @staticmethod
        def forward(*given: Any) -> Any:
            if separate:
                return compute(given)
            ctx, *inputs = given
            result = compute(inputs)
            note(ctx, inputs, result)
            return result

        @staticmethod
        def backward(ctx: Any, *gradients: Any) -> Any:
            total = sum(g for g in gradients if g is not None and g.is_floating_point())
            found = []
            for place in range(ctx.count):
                g = total * (place + 1)
                if uses[place] == "saved":
                    g = g + sum(ctx.saved_tensors)
                elif uses[place] == "kept":
                    g = g * ctx.kept
                elif uses[place] == "weight":
                    g = g * WEIGHT
                needed = given[place] == "gradient" or (given[place] == "needed" and ctx.needs_input_grad[place])
                found.append(g if needed else None)
            return found[0] if count == 1 else tuple(found)

    if separate:
        Drawn.setup_context = staticmethod(note)  # type: ignore[method-assign]
    return Drawn, count


@settings(max_examples=25)
@given(functions(), st.lists(st.booleans(), min_size=3, max_size=3))
def test_any_function_gives_what_plain_python_gives(drawn: tuple[Any, int], needs: list[bool]) -> None:
    function, count = drawn

    def arguments() -> tuple[Any, ...]:
        return tuple(leaf(2, 3, start=place).detach().requires_grad_(needs[place]) for place in range(count))

    def program(*inputs: Any) -> Any:
        return function.apply(*inputs), function.apply(*(x * 2 for x in inputs))

    captured(program, arguments, as_torch=False)
