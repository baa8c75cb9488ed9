"""Activation checkpointing, of both kinds, as models use it."""

import functools

import torch
from torch.utils.checkpoint import (
    CheckpointPolicy,
    checkpoint,
    checkpoint_sequential,
    create_selective_checkpoint_contexts,
)

from tests.conformance.program import program, t

G = lambda: [t(2, 3, grad=True)]
GG = lambda: [t(2, 3, grad=True), t(2, 3, start=5, grad=True)]


def backward(y):
    y.sum().backward()
    return LOG


def block(x, scale=2.0):
    LOG.append("block")
    return (x * scale).sin() * x


class Layer(torch.nn.Module):
    def __init__(self, start):
        super().__init__()
        self.weight = torch.nn.Parameter(t(3, 3, start=start))

    def forward(self, x):
        LOG.append("layer")
        return (x @ self.weight).tanh()


class Model(torch.nn.Module):
    """As models of the large libraries do it: by a function put on the module, chosen by a flag."""

    def __init__(self):
        super().__init__()
        self.layers = torch.nn.ModuleList([Layer(1), Layer(4)])
        self.checkpointing = True
        self.checkpoint = functools.partial(checkpoint, use_reentrant=False)

    def forward(self, x):
        for layer in self.layers:
            if self.checkpointing and self.training:
                x = self.checkpoint(layer.__call__, x)
            else:
                x = layer(x)
        return x * 2


LOG = []
MODEL = Model()
SEQUENCE = torch.nn.Sequential(Layer(1), Layer(2), Layer(3), Layer(4))


@program("H7", G, then=backward)
def checkpoint_not_reentrant(x):
    y = x + 1
    z = checkpoint(block, y, use_reentrant=False)
    return z * 3


@program("H7", G, then=backward)
def checkpoint_reentrant(x):
    return checkpoint(block, x + 1, use_reentrant=True) * 3


@program("H7", G, then=backward)
def checkpoint_with_keywords(x):
    return checkpoint(block, x + 1, scale=3.0, use_reentrant=False, preserve_rng_state=False) * 3


@program("H7", G, then=backward)
def checkpoint_of_a_lambda(x):
    scale = x.detach() + 1
    return checkpoint(lambda a: (a * scale).exp(), x * 2, use_reentrant=False) + 1


@program("H7", G, then=backward)
def checkpoint_twice(x):
    y = checkpoint(block, x + 1, use_reentrant=False)
    return checkpoint(block, y * 2, use_reentrant=False) + 1


@program(
    "H7",
    GG,
    then=backward,
    differs="fewer_breaks",
    why="torch.compile runs a checkpoint with side effects as plain Python",
)
def checkpoint_in_a_model(x):
    return MODEL(x + 1)


@program("H7", GG, then=backward)
def checkpoint_of_a_sequence(x):
    return checkpoint_sequential(SEQUENCE, 2, x + 1, use_reentrant=False) * 2


@program("H7", G, then=backward)
def checkpoint_inside_a_checkpoint(x):
    def outer(a):
        return checkpoint(block, a * 2, use_reentrant=False) + 1

    return checkpoint(outer, x + 1, use_reentrant=False) * 3


@program("H7", G, then=backward)
def checkpoint_that_keeps_some_results(x):
    def policy(ctx, op, *args, **kwargs):
        keep = op is torch.ops.aten.sin.default
        return CheckpointPolicy.MUST_SAVE if keep else CheckpointPolicy.PREFER_RECOMPUTE

    contexts = functools.partial(create_selective_checkpoint_contexts, policy)
    return checkpoint(block, x + 1, use_reentrant=False, context_fn=contexts) * 2


@program("H7", G, then=backward, differs="torch_differs", why="torch leaves its generator in another state")
def checkpoint_that_draws(x):
    torch.manual_seed(5)
    y = checkpoint(lambda a: torch.nn.functional.dropout(a, 0.5), x + 1, use_reentrant=False)
    return y * 2


@program("H7", G, differs="fewer_breaks", why="torch.compile gives up on the whole function")
def checkpoint_of_code_that_raises(x):
    def failing(a):
        LOG.append("failing")
        raise ArithmeticError("no")

    try:
        checkpoint(failing, x + 1, use_reentrant=False)
    except ArithmeticError as error:
        return x * 2, error.args


@program("H7", G, differs="fewer_breaks", why="torch.compile gives up on the whole function")
def checkpoint_refuses_a_keyword(x):
    y = x + 1
    try:
        checkpoint(lambda a: a, y, use_reentrant=True, strange=1)
    except ValueError as error:
        return y * 2, str(error)
