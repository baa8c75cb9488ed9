"""Transforms of functions: `torch.func`, `torch.autograd.functional`, and functions that were transformed before."""

import functools

import torch
from torch.func import functional_call, grad, hessian, jacfwd, jacrev, jvp, vjp, vmap

from tests.conformance.program import program, t

G = lambda: [t(2, 3, grad=True)]


def energy(x):
    return (x.sin() * x).sum()


def row_energy(x, scale=1.0):
    return (x * x * scale).sum(), x * 2


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(t(3, 3))

    def forward(self, x):
        return (x @ self.weight).relu()


class PerSample(torch.nn.Module):
    """Gradients of each sample, as differential privacy takes them."""

    def __init__(self):
        super().__init__()
        self.net = Net()

    def loss(self, parameters, x):
        return functional_call(self.net, parameters, (x,)).sum()

    def forward(self, x):
        parameters = {name: p.detach() for name, p in self.net.named_parameters()}
        grads = vmap(grad(self.loss), in_dims=(None, 0))(parameters, x * 1)
        return {name: g * 2 for name, g in grads.items()}


TRANSFORMED = vmap(grad(energy))
NET = Net()
PER_SAMPLE = PerSample()


@program("F12")
def vmap_of_a_lambda(x):
    y = x + 1
    z = vmap(lambda row: row.sin().sum())(y)
    return z * 2


@program("F12")
def vmap_with_keywords(x, y):
    z = torch.vmap(func=torch.dot, in_dims=(1, 1), out_dims=0)(x + 1, y)
    return vmap(torch.mul, in_dims=(0, None), out_dims=1, chunk_size=1)(x, z[0]) + 1


@program("F12")
def vmap_of_many_arguments(x, y):
    pairs = vmap(lambda d, w: {"sum": d["a"] + w, "prod": d["b"] * w})({"a": x, "b": x * 2}, y)
    return pairs["sum"] * 2, pairs["prod"]


@program("F12")
def vmap_in_a_loop(x):
    for i in range(3):
        x = vmap(lambda row: row * i + 1)(x) * 2  # noqa: B023
    return x


@program("F12")
def vmap_twice_in_one_function(x):
    rows = vmap(torch.sum)
    y = rows(x * 2)
    z = rows(x.t() * 3)
    return y.sum() + z.sum()


@program("F12")
def vmap_of_vmap(x):
    return vmap(vmap(lambda a: a * a + 1))(x * 2) + 1


@program("F12")
def vmap_as_a_decorator(x):
    @vmap
    def per_row(row):
        return row / row.abs().max()

    return per_row(x + 1) * 2


@program("F12")
def vmap_as_a_decorator_with_arguments(x):
    @functools.partial(vmap, in_dims=1)
    def per_column(column):
        return column - column.mean()

    return per_column(x + 1) * 2


@program("F12")
def vmap_that_draws(x):
    torch.manual_seed(3)
    return vmap(lambda row: row + torch.randn(3), randomness="different")(x) * 2


@program("F12", differs="torch_differs", why="torch raises an error of its own")
def vmap_refuses_to_draw(x):
    try:
        vmap(lambda row: row + torch.randn(3))(x + 1)
    except RuntimeError as error:
        return x * 2, str(error).splitlines()[0]


@program("F12")
def vmap_refuses_its_options(x):
    y = x + 1
    try:
        vmap(torch.sin, chunk_size=-1)(y)
    except ValueError as error:
        return y * 2, str(error)


@program("F12")
def vmap_refuses_sizes_that_differ(x):
    y = x + 1
    try:
        return vmap(torch.mul)(y, y.t())
    except ValueError as error:
        return y * 2, type(error).__name__


@program("F12")
def vmap_of_code_that_raises(x):
    seen = []

    def body(row):
        seen.append(type(row).__name__)
        raise KeyError("inside")

    try:
        vmap(body)(x + 1)
    except KeyError as error:
        return x * 2, seen, error.args


@program("F12")
def vmap_changes_what_it_closes_over(x):
    count = 0
    seen = []

    def body(row):
        nonlocal count
        count += 1
        seen.append(row.dim())
        return row * count

    y = vmap(body)(x + 1)
    z = vmap(body)(y)
    return z * 2, count, seen


@program("F12", differs="torch_differs", why="torch's function has another name")
def vmap_is_returned(x):
    f = vmap(lambda row: row + 1)
    return f, x * 2


@program(
    "F12",
    lambda: [t(2, 3)],
    then=lambda f: f(t(2, 3)),
    differs="torch_differs",
    why="torch's function has another name",
)
def vmap_is_all_that_is_returned(x):
    y = x * 2
    return vmap(lambda row: row + y[0])


@program("F12")
def vmap_is_kept_and_called_by_another(x):
    def apply(function, value):
        return function(value) + 1

    table = {"rows": vmap(torch.sum)}
    return apply(table["rows"], x * 2) * 3, table["rows"] is table["rows"]


@program("F12")
def transformed_before(x):
    y = x + 1
    return TRANSFORMED(y) * 2


@program("F12", differs="torch_differs", why="torch's function has another name")
def transformed_function_wraps(x):
    f = grad(energy)
    return f.__name__, x * 2


@program("F12")
def grad_of_a_function(x):
    y = x + 1
    g = grad(energy)(y)
    return g * 2


@program("F12")
def grad_with_auxiliary_results(x):
    g, aux = grad(row_energy, has_aux=True)(x + 1, scale=2.0)
    return g * 2, aux


@program("F12")
def grad_by_two_arguments(x, y):
    a, b = grad(lambda u, v: (u * v).sum(), argnums=(0, 1))(x + 1, y * 2)
    return a + b


@program("F12")
def grad_of_grad(x):
    return grad(grad(lambda s: s.sin()))(x.sum()) + 1


@program("F12", G)
def grad_is_differentiable(x):
    y = grad(energy)(x * 2)
    return y.sum()


@program("F12")
def grad_of_a_vector(x):
    try:
        grad(torch.sin)(x + 1)
    except RuntimeError as error:
        return x * 2, str(error).splitlines()[0]


@program("F12")
def grad_and_value_of_a_function(x):
    g, value = torch.func.grad_and_value(energy)(x + 1)
    return g * 2, value + 1


@program("F12")
def vjp_of_a_function(x, y):
    out, back = vjp(torch.sin, x + 1)
    (g,) = back(y * 2)
    return out + g


@program("F12")
def jvp_of_a_function(x, y):
    out, tangent = jvp(lambda a: a * a, (x + 1,), (y,))
    return out * 2 + tangent


@program("F12")
def jacobians(x):
    y = x[0] + 1
    reverse = jacrev(lambda a: a * a.sum())(y)
    forward = jacfwd(lambda a: a * a.sum())(y)
    return reverse - forward, reverse * 2


@program("F12")
def hessian_of_a_function(x):
    return hessian(lambda a: (a**3).sum())(x[0] + 1) * 2


@program("F12")
def linearize_a_function(x, y):
    out, tangent_of = torch.func.linearize(lambda a: a.sin() * 2, x + 1)
    return out + tangent_of(y * 2)


@program("F12")
def functionalize_a_function(x):
    def body(a):
        b = a.clone()
        b.add_(1)
        return b * 2

    return torch.func.functionalize(body)(x + 1) * 2


@program("F12")
def functional_call_of_a_module(x):
    parameters = {"weight": torch.full((3, 3), 0.5)}
    return functional_call(NET, parameters, (x * 2,)) + 1


@program("F12", lambda: [t(4, 3)])
def per_sample_gradients(x):
    return PER_SAMPLE(x)["weight"].sum(0) + 1


@program("F12", lambda: [t(4, 3), t(4, 3, start=2)])
def per_sample_gradients_twice(x):
    return PER_SAMPLE(x)


@program("F12", differs="stricter", why="torch compiles the bodies, which its back ends cannot differentiate twice")
def autograd_functional(x):
    y = x[0] + 1
    jacobian = torch.autograd.functional.jacobian(lambda a: a * a, y)
    second = torch.autograd.functional.hessian(lambda a: (a**3).sum(), y)
    out, product = torch.autograd.functional.vjp(lambda a: a * 2, y, v=y)
    return jacobian + second, out + product


@program("F12", differs="torch_differs", why="torch's compiler fails")
def autograd_functional_by_keywords(x):
    y = x[0] + 1
    wide = torch.autograd.functional.jacobian(func=torch.sin, inputs=y, vectorize=True, strategy="forward-mode")
    _, product = torch.autograd.functional.jvp(torch.cos, y, v=y, create_graph=True)
    _, second = torch.autograd.functional.hvp(lambda a: (a**3).sum(), y, v=y)
    _, transposed = torch.autograd.functional.vhp(lambda a: (a**3).sum(), y, v=y)
    return wide * 2, product + second + transposed
