"""Autograd functions, programs that apply them, and how they are compared with plain Python and `torch.compile`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch._dynamo.backends.debugging import aot_eager
from torch.autograd import Function
from torch.autograd.function import once_differentiable

import tracer_core
from tests.back_ends import Graphs
from tests.higher_order.three_ways import Arguments, agree, outcome, written
from tracer_core.runtime.gradients import differentiable_once

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
                        item.replace_all_uses_with(node.args[1][item.args[1]])
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


class Unfilled(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.set_materialize_grads(False)
        return x * 2

    @staticmethod
    def backward(ctx, g):
        return None if g is None else g * 5


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
