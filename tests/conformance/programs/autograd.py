"""Gradients: asked for, read, cleared and left out."""

import torch

from tests.conformance.program import program, t


@program("F12 O7", lambda: [(t(3, grad=True),)])
def backward_is_called(x):
    y = (x * x).sum()
    y.backward()
    return x.grad


@program("F12", lambda: [(t(3, grad=True),)])
def autograd_grad(x):
    y = (x * x).sum()
    (g,) = torch.autograd.grad(y, x)
    return g + 1


@program("F10", lambda: [(t(3, grad=True),)])
def detach_and_requires_grad(x):
    y = (x * 2).detach()
    return y, y.requires_grad, (x * 2).requires_grad, x.detach() + 1


@program("F10 O7")
def requires_grad_set_on_an_input(x):
    x.requires_grad_()
    return x * 2


@program("F10 O7", lambda: [(t(3, grad=True),)])
def grad_read_and_cleared(x):
    before = x.grad
    x.grad = torch.ones(3)
    y = x * 2
    return y, before


@program("F10 O7", lambda: [(t(3, grad=True),)])
def data_attribute(x):
    x.data.mul_(2)
    return x * 1, x.data
