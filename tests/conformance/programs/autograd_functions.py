"""`torch.autograd.Function` and what asks autograd: gradients, hooks on tensors and modules, saved tensors."""

import torch

from tests.conformance.program import program, t

G = lambda: [t(2, 3, grad=True)]


def gradient(result):
    """The gradient by every leaf below the result."""
    first = result[0] if isinstance(result, tuple) else result
    leaves, waiting = [], [first.grad_fn]
    while waiting:
        at = waiting.pop()
        if hasattr(at, "variable"):
            leaves.append(at.variable)
        waiting.extend(each for each, _ in at.next_functions if each is not None)
    unique = list({id(leaf): leaf for leaf in leaves}.values())
    return sorted(torch.autograd.grad(first.sum(), unique), key=lambda g: g.tolist())


class Double(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * 2 + 1

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * x


class Scaled(torch.autograd.Function):
    """With `setup_context`, and a number."""

    @staticmethod
    def forward(x, scale):
        return x * scale

    @staticmethod
    def setup_context(ctx, inputs, output):
        x, ctx.scale = inputs
        ctx.save_for_backward(x)

    @staticmethod
    def backward(ctx, g):
        return g * ctx.scale * 10, None

    @staticmethod
    def vmap(info, in_dims, x, scale):
        return Scaled.apply(x, scale) + 1, in_dims[0]


class Generated(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(x):
        return x.sin()

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * x.cos() * 3


class Once(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.exp()

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, g):
        return g * 5


class InPlace(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.mark_dirty(x)
        return x.add_(1)

    @staticmethod
    def backward(ctx, g):
        return g * 4


class Several(torch.autograd.Function):
    """Two results, of which one has no gradient; counts its calls."""

    calls = 0

    @staticmethod
    def forward(ctx, x, y):
        Several.calls += 1
        ctx.shape = tuple(x.shape)
        index = x.argmax()
        ctx.mark_non_differentiable(index)
        return x * y, index

    @staticmethod
    def backward(ctx, g, _):
        Several.calls += 1
        return g * len(ctx.shape), g


class Straight(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.round()

    @staticmethod
    def backward(ctx, g):
        return g


class Failing(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        raise LookupError("no forward here")


class Contained(torch.autograd.Function):
    """Tensors in containers are no inputs for autograd."""

    @staticmethod
    def forward(ctx, x, pair, options, *more):
        ctx.save_for_backward(x, None, pair[1])
        ctx.options = options
        return x * pair[0] + options["bias"] + sum(more)

    @staticmethod
    def backward(ctx, g):
        x, _, second = ctx.saved_tensors
        return g * x * second * ctx.options["scale"], None, None, g, None


class Exponential(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        result = x.exp()
        ctx.save_for_backward(result)
        ctx.half = result / 2
        return result

    @staticmethod
    def backward(ctx, g):
        return g * ctx.saved_tensors[0] + ctx.half


class Affine(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, weight, bias=None):
        ctx.save_for_backward(x, weight, bias)
        return x @ weight if bias is None else x @ weight + bias

    @staticmethod
    def backward(ctx, g):
        x, weight, bias = ctx.saved_tensors
        dx = g @ weight.t() if ctx.needs_input_grad[0] else None
        dw = x.t() @ g if ctx.needs_input_grad[1] else None
        db = g.sum(0) if bias is not None and ctx.needs_input_grad[2] else None
        return dx, dw, db


class Sorted(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        values, index = x.sort()
        ctx.mark_non_differentiable(index)
        ctx.save_for_backward(index)
        return values, index

    @staticmethod
    def backward(ctx, g, _):
        (index,) = ctx.saved_tensors
        return torch.zeros_like(g).scatter(-1, index, g)


class Outer(torch.autograd.Function):
    """Applies other functions."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return Double.apply(x) + Exponential.apply(x)

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return Double.apply(g) * Straight.apply(x)


class Unfilled(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.set_materialize_grads(False)
        return x * 2, x * 3

    @staticmethod
    def backward(ctx, g, h):
        return g * 5 if h is None else g * h


class Same(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x

    @staticmethod
    def backward(ctx, g):
        return g * 7


class Quantized(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(t(3, 3))
        self.round = Straight.apply

    def forward(self, x):
        for _ in range(2):
            x = torch.nn.functional.linear(x, self.round(self.weight)) + 1
        return x


class Layer(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(t(3, 3))

    def forward(self, x):
        return x @ self.weight + 1


class Hooked(torch.nn.Module):
    """The first of two layers has a hook of each kind that there is for backward passes."""

    def __init__(self):
        super().__init__()
        self.first, self.second = Layer(), Layer()
        self.seen = []
        self.first.register_full_backward_hook(self.after)
        self.first.register_full_backward_pre_hook(self.before)

    def after(self, module, grad_input, grad_output):
        self.seen.append(("after", type(module).__name__, len(grad_input), len(grad_output)))
        return (grad_input[0] * 2,)

    def before(self, module, grad_output):
        self.seen.append(("before", len(grad_output)))

    def forward(self, x):
        return self.second(self.first(x * 2)) + 1


double = Double.apply
QUANTIZED = Quantized()
HOOKED = Hooked()
LAYER = Layer()


@program("H14", G, then=gradient)
def function_applied(x):
    y = x + 1
    z = Double.apply(y)
    return z * 3


@program("H14", G, then=gradient)
def function_applied_by_another_name(x):
    return double(x + 1) * 3


@program("H14", G, then=gradient)
def function_applied_twice(x):
    return Double.apply(Double.apply(x + 1) * 2) * 3


@program("H14", G, then=gradient)
def function_applied_in_a_loop(x):
    for _ in range(3):
        x = Double.apply(x) * 2
    return x


@program("H14", G, then=gradient)
def function_with_setup_context(x):
    return Scaled.apply(x + 1, 3.0) * 2


@program("H14 F12", G, differs="torch_differs", why="torch passes by the class's own vmap")
def function_under_vmap(x):
    y = torch.vmap(Generated.apply)(x + 1)
    return y * 2, torch.vmap(lambda row: Scaled.apply(row, 2.0))(x * 2) + 1


@program("H14 F12", differs="torch_differs", why="torch passes by the class's own backward")
def function_under_grad(x):
    return torch.func.grad(lambda a: Generated.apply(a).sum())(x + 1) * 2


@program("H14", G, then=gradient)
def function_differentiable_once(x):
    return Once.apply(x * 2) + 1


@program("H14", G, then=gradient, differs="fewer_breaks", why="torch does not know that x.add_(1) returns x")
def function_that_changes_its_input(x):
    y = x * 2
    z = InPlace.apply(y)
    return z + 1, z is y


@program("H14", G, then=gradient, differs="fewer_breaks", why="torch.compile runs this forward as plain Python")
def function_of_several_results(x):
    product, index = Several.apply(x * 2, x + 1)
    return product + 1, index + 1, Several.calls


@program("H14", G)
def function_whose_forward_raises(x):
    try:
        Failing.apply(x + 1)
    except LookupError as error:
        return x * 2, error.args


@program("H14", G)
def function_without_a_gradient_to_take(x):
    with torch.no_grad():
        y = Double.apply(x + 1)
    return y * 2, y.requires_grad


@program("H14", lambda: [(t(2, 3, grad=True), t(2, 3, start=2))], then=gradient)
def function_of_containers(x, y):
    return Contained.apply(x * 2, [y, y * 2], {"bias": y, "scale": 2}, x, 0) + 1


@program("H14", G, then=gradient)
def function_that_saves_its_result(x):
    return Exponential.apply(x * 2) * 3


@program("H14", lambda: [(t(2, 3, grad=True), t(3, 3)), (t(2, 3), t(3, 3, grad=True))], then=gradient)
def function_that_asks_what_needs_a_gradient(x, weight):
    return Affine.apply(x, weight, weight[0]) + Affine.apply(x, weight)


@program("H14", G, then=gradient)
def function_with_a_result_without_gradient(x):
    values, index = Sorted.apply(x * -2)
    return values * 3, index + 1, values.requires_grad, index.requires_grad


@program("H14", G, then=gradient)
def function_inside_a_function(x):
    return Outer.apply(x + 1) * 2


@program("H14", G, then=gradient, differs="torch_differs", why="torch passes zeros for gradients that are missing")
def function_that_tells_of_missing_gradients(x):
    y, z = Unfilled.apply(x + 1)
    return y * 2, z.detach()


@program("H14", G, then=gradient)
def function_that_returns_its_input(x):
    y = x * 2
    z = Same.apply(y)
    return z + 1, z is y


@program("H14", lambda: [t(2, 3), t(2, 3, start=3)], then=gradient)
def function_in_a_module(x):
    return QUANTIZED(x * 2) * 2


@program("F12", lambda: [t(2, 3, grad=True), t(2, 3, start=3, grad=True)], then=lambda r: (gradient(r), HOOKED.seen))
def module_with_backward_hooks(x):
    return HOOKED(x + 1) * 2


@program(
    "F12",
    G,
    then=gradient,
    differs="fewer_breaks",
    why="torch.compile runs what leads up to the hooks as plain Python",
)
def backward_hooks_registered_here(x):
    seen = []
    handle = LAYER.register_full_backward_hook(lambda module, gi, go: seen.append(len(gi)))
    y = LAYER(x + 1)
    handle.remove()
    return LAYER(y) * 2


@program("F12", G)
def gradient_by_keywords(x):
    y = (x * x * 2).sum()
    (g,) = torch.autograd.grad(outputs=y, inputs=[x], create_graph=True)
    (second,) = torch.autograd.grad(g.sum(), x)
    return g + second


@program("F12 O7", G)
def backward_by_the_function(x):
    torch.autograd.backward((x * x).sum(), retain_graph=True)
    torch.autograd.backward([(x * 3).sum()], grad_tensors=[torch.tensor(2.0)])
    return x.grad + 1


@program("F12 O7", G, then=gradient)
def hook_on_a_tensor(x):
    y = x * 2
    y.register_hook(lambda g: g * 10)
    return y + 1


@program("F12 O7", G, differs="fewer_breaks", why="torch.compile gives up on the whole function")
def gradient_kept(x):
    y = x * 2
    y.retain_grad()
    (y * 3).sum().backward()
    return y.grad + 1


@program("F12", G)
def hook_on_several_tensors(x):
    seen = []
    y, z = x * 2, x + 1
    torch.autograd.graph.register_multi_grad_hook([y, z], lambda grads: seen.append(len(grads)))
    (y * z).sum().backward()
    return y.detach() + 1, seen


@program("F12", G)
def gradients_checked(x):
    y = x.detach().double().requires_grad_()
    return torch.autograd.gradcheck(lambda a: a * a, (y,)), x.detach() * 2


@program(
    "F12 I6",
    G,
    then=gradient,
    differs="fewer_breaks",
    why="torch.compile runs the block and what is around it as plain Python",
)
def saved_on_the_cpu(x):
    with torch.autograd.graph.save_on_cpu():
        y = x * x
    return y + 1


@program(
    "F12 I6",
    G,
    then=gradient,
    differs="fewer_breaks",
    why="torch.compile runs the block and what is around it as plain Python",
)
def saved_on_the_cpu_and_pinned(x):
    with torch.autograd.graph.save_on_cpu(pin_memory=False):
        y = Double.apply(x * x)
        z = y.exp()
    return z + 1


@program(
    "F12 I6", G, then=gradient, differs="fewer_breaks", why="torch.compile runs the block with hooks as plain Python"
)
def saved_through_hooks_around_a_break(x):
    packed = []

    def pack(v):
        packed.append(tuple(v.shape))
        return v * 1

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda v: v):
        y = torch.utils.checkpoint.checkpoint(torch.sin, x * x, use_reentrant=False)
        z = y * y
    return z + 1, len(packed)


@program("F12 I6", G)
def mutation_of_what_is_saved(x):
    with torch.autograd.graph.allow_mutation_on_saved_tensors():
        y = x * 1
        z = y.sin()
        y.mul_(2)
        (g,) = torch.autograd.grad(z.sum(), x)
    return g + 1
