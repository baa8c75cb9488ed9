"""Gradients read where torch has something to say of it: of tensors that are no leaves."""

import torch

from tests.conformance.program import program, t

WARNED = {"differs": "torch_differs", "why": "torch.compile leaves warnings out, or gives them from lines of its own"}


def leaf():
    return t(3, grad=True)


def between():
    return leaf() * 2


def with_gradient():
    x = leaf()
    (x * x).sum().backward()
    return x


def retained():
    x = between()
    x.retain_grad()
    x.sum().backward()
    return x


def leaves_first():
    return [leaf(), between(), between(), with_gradient(), t(3), between()]


def others_first():
    return [between(), leaf(), between(), retained(), retained(), between()]


@program("F10 G1", leaves_first, **WARNED)
def none_of_a_leaf(x):
    return x.grad is None, x * 2


@program("F10 G1", others_first, **WARNED)
def none_of_what_is_between(x):
    return x.grad is None, x * 2


@program("F10 G1", leaves_first, **WARNED)
def read_and_dropped(x):
    x.grad
    return x * 2


@program("F10 G1", others_first, **WARNED)
def added_if_there(x):
    return x + x.grad if x.grad is not None else x - 1


class Holder:
    def __init__(self, weight):
        self.weight = weight


@program(
    "F10 G1", lambda: [(t(3), Holder(make())) for make in (leaf, between, with_gradient, retained, between)], **WARNED
)
def of_an_attribute(x, holder):
    return x + (0 if holder.weight.grad is None else holder.weight.grad), hasattr(holder.weight, "grad")


@program(
    "F10 G1",
    lambda: [(t(3), [leaf(), leaf()]), (t(3), [leaf(), between()]), (t(3), [between(), retained()])],
    **WARNED,
)
def of_each_in_a_list(x, weights):
    return x + sum(w.grad is None for w in weights)


@program("F10", lambda: [leaf(), between()], **WARNED)
def of_what_the_program_makes(x):
    y = x * 2
    return y.grad is None, y + 1


@program("F10 G1", lambda: [leaf(), between(), with_gradient()], **WARNED)
def read_after_a_break(x):
    y = x * 2
    torch._dynamo.graph_break()
    return y + (0 if x.grad is None else x.grad)
