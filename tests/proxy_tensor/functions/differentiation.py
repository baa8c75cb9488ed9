"""Gradients inside the traced function, and transforms of torch.func."""

import torch
from torch.func import functionalize, grad, jacrev, jvp, vmap

from tests.proxy_tensor.cases import Built, builder, floats, function


def leaf():
    return torch.randn(3, requires_grad=True)


@function(leaf)
def gradient_of_an_input(x):
    return torch.autograd.grad((x.sin() * x).sum(), x)


@function(leaf)
def second_gradient(x):
    (first,) = torch.autograd.grad((x**3).sum(), x, create_graph=True)
    return torch.autograd.grad(first.sum(), x)


@function(floats(3))
def gradient_of_an_intermediate(x):
    y = x.detach().requires_grad_()
    (y.exp() * x).sum().backward()
    return y.grad


@function(leaf)
def no_grad_inside(x):
    with torch.no_grad():
        y = x * 2
    return y + x, y.requires_grad


class Square(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, grad):
        return 2 * ctx.saved_tensors[0] * grad


@function(leaf)
def autograd_function(x):
    y = Square.apply(x)
    return y, torch.autograd.grad(y.sum(), x)


@function(floats(3))
def func_grad(x):
    return grad(lambda y: (y.sin() * x).sum())(x)


@function(floats(4, 3))
def func_vmap(x):
    return vmap(lambda row: row * row.sum())(x), vmap(torch.dot, in_dims=(1, 1))(x, x)


@function(floats(3))
def func_jacobian(x):
    return jacrev(torch.tanh)(x), jvp(torch.sin, (x,), (torch.ones_like(x),))


@function(floats(3))
def func_functionalize(x):
    def f(y):
        z = y.clone()
        z[0].add_(1)
        return z

    return functionalize(f)(x)


@builder()
def functionalized_from_outside() -> Built:
    def f(x):
        y = x.clone()
        y.view(-1)[0].mul_(2)
        x.add_(y)
        return y

    return functionalize(f, remove="mutations_and_views"), (torch.randn(2, 2),)


@builder()
def training_step() -> Built:
    network = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.GELU(), torch.nn.Linear(4, 1))
    parameters = {name: each.detach().requires_grad_() for name, each in network.named_parameters()}

    def step(parameters, x):
        loss = torch.func.functional_call(network, parameters, (x,)).square().mean()
        gradients = torch.autograd.grad(loss, list(parameters.values()))
        return loss, [p - 0.1 * g for p, g in zip(parameters.values(), gradients)]

    return step, (parameters, torch.randn(5, 3))


@builder()
def checkpointed_gradient() -> Built:
    from torch.utils.checkpoint import checkpoint

    def step(x):
        y = checkpoint(lambda t: t.sin().cos(), x, use_reentrant=False)
        return torch.autograd.grad(y.sum(), x)

    return step, (torch.randn(3, requires_grad=True),)
