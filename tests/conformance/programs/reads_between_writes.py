"""Tensors that are read, written to and read again: each read gives what is there at its place."""

import torch
import torch.nn.functional as F

from tests.conformance.program import program, t

RAISES = "torch.compile lets the graph's IndexError past the handler, and leaves what the graph wrote"
ROUNDS = "torch.compile has torch.optim compute with tensors what plain Python computes with floats"


def optimizers():
    parameter = torch.nn.Parameter(torch.tensor([1.0, 2.0]))
    parameter.grad = torch.tensor([0.5, -0.5])
    return [(torch.optim.Adam([parameter], lr=0.1), parameter)] * 2


@program("B12", optimizers, differs="torch_differs", why=ROUNDS)
def two_steps_of_an_optimizer(optimizer, parameter):
    optimizer.step()
    parameter.grad.mul_(-2)
    optimizer.step()
    return parameter.detach() * 1


@program("I5")
def written_through_data(x):
    before = x.sum()
    x.data.add_(1)
    between = x.sum()
    torch.add(x.data, 1, out=x.data)
    return before, between, x.sum(), x


@program("I5", lambda: [(t(3), torch.tensor([n])) for n in (1, 7, 2)], differs="torch_differs", why=RAISES)
def written_through_data_where_the_graph_raises(x, index):
    x.data.add_(1)
    try:
        return torch.ones(3)[index] + x
    except IndexError:
        return x * 1


def normalized():
    return [(t(2, 3), torch.zeros(3), torch.ones(3), torch.tensor([n])) for n in (1, 7)]


@program("I5", normalized, differs="torch_differs", why=RAISES)
def running_statistics_where_the_graph_raises(x, mean, variance, index):
    y = F.batch_norm(x, mean, variance, training=True)
    try:
        return torch.ones(3)[index] + y
    except IndexError:
        return y, mean, variance


@program("O9", lambda: [(t(3, grad=True),)] * 2)
def grad_mode_after_inference_mode(x):
    with torch.no_grad(), torch.inference_mode(False):
        first = x * 2
        with torch.no_grad():
            second = x * 3
    return first.requires_grad, second.requires_grad, first, second


@program("O11", lambda: [(t(3), s) for s in (1.5, 2.5, -3.5)])
def products_with_zeros_of_both_signs(x, scale):
    return 1 / (x * (scale * 0.0)), 1 / (x * (scale * -0.0))
