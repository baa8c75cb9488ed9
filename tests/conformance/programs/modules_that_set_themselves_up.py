"""Modules whose parameters come late, or are computed from others; and what a hook's handle is."""

import torch

from tests.conformance.program import program, t


def filled(x):
    module = torch.nn.LazyLinear(2)
    module(x)
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.copy_(t(*parameter.shape))
    return module


@program("B11", lambda: [(filled(t(2, 3)), t(2, 3)), (filled(t(2, 3)), t(4, 3))])
def lazy_module_that_is_set_up(module, x):
    return module(x) + 1


@program("B11 O6", differs="torch_differs", why="torch.compile draws the parameters from other random numbers")
def lazy_module_that_is_not_set_up_yet(x):
    module = torch.nn.LazyLinear(2)
    y = module(x)
    return x * 2, y.shape, module.in_features


class Doubled(torch.nn.Module):
    def forward(self, weight):
        return weight * 2


def parametrized():
    module = torch.nn.Linear(3, 2)
    torch.nn.utils.parametrize.register_parametrization(module, "weight", Doubled())
    with torch.no_grad():
        module.parametrizations.weight.original.copy_(t(2, 3))
        module.bias.copy_(t(2))
    return module


@program("B11", lambda: [(parametrized(), t(2, 3))])
def parametrized_weight(module, x):
    return module(x) + module.weight.sum()


def with_a_hook():
    module = torch.nn.Identity()
    return module, module.register_forward_hook(lambda module, given, result: result + 1), t(2, 3)


@program("B2 B11 O6", lambda: [with_a_hook()])
def hook_taken_off_by_its_handle(module, handle, x):
    y = module(x)
    handle.remove()
    return y, module(x)
