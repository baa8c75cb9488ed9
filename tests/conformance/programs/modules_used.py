"""Modules as programs use them: called with other parameters, parametrized, in scalers and closures; losses."""

import torch
import torch.nn.functional as F
from torch import nn

from tests.conformance.program import program, t


def filled(module):
    with torch.no_grad():
        for number, parameter in enumerate(module.parameters()):
            parameter.copy_(t(*parameter.shape, start=number))
    return module


def module_and_sizes(make):
    def calls():
        module = make()
        return [(module, t(4, 3)), (module, t(5, 3))]

    return calls


@program("B11", module_and_sizes(lambda: filled(nn.Linear(3, 3))))
def functional_call(m, x):
    doubled = {name: parameter * 2 for name, parameter in m.named_parameters()}
    return torch.func.functional_call(m, doubled, (x,))


@program("B11", module_and_sizes(lambda: filled(nn.Sequential(nn.Linear(3, 3), nn.BatchNorm1d(3)))))
def functional_call_with_buffers(m, x):
    held = {**dict(m.named_parameters()), **dict(m.named_buffers())}
    own = {name: value.clone() for name, value in held.items()}
    return torch.func.functional_call(m, own, x), m[1].running_mean


@program("B11 I5", module_and_sizes(lambda: filled(nn.Linear(3, 3))))
def functional_call_with_unknown_names(m, x):
    try:
        return torch.func.functional_call(m, {"nothing": x}, x, strict=True)
    except RuntimeError as error:
        return str(error), m(x)


class Symmetric(nn.Module):
    def forward(self, x):
        return x.triu() + x.triu(1).T


def parametrized():
    module = filled(nn.Linear(3, 3))
    nn.utils.parametrize.register_parametrization(module, "weight", Symmetric())
    return module


@program("B11 O7", module_and_sizes(parametrized))
def parametrizations_cached(m, x):
    with nn.utils.parametrize.cached():
        return m(m(x))


@program("B11", lambda: [(m := filled(nn.Linear(3, 3)), t(2, 3)), (m, t(2, 3)), (filled(nn.Linear(3, 3)), t(2, 3))])
def address_of_a_module(m, x):
    seen = {id(m): x}
    return m(seen[id(m)]), id(m) == id(m)


def three_tensors():
    return [(t(n, 3), t(n, 3, start=2), t(n, 3).abs() + 0.1) for n in (4, 5)]


CHECKS_DATA = "torch.compile ends the graph where a loss checks its data"


@program("F10", three_tensors)
def loss_with_a_function_of_the_user(x, y, z):
    return F.triplet_margin_with_distance_loss(x, y, z, distance_function=lambda a, b: (a - b).abs().sum(-1))


@program("F10", three_tensors)
def loss_with_a_module_as_function(x, y, z):
    return nn.TripletMarginWithDistanceLoss(distance_function=nn.PairwiseDistance())(x, y, z)


@program("F10 I4", three_tensors, differs="fewer_breaks", why=CHECKS_DATA)
def loss_that_checks_its_data(x, y, z):
    return F.gaussian_nll_loss(x, y, z)


@program("F10 I5", lambda: [(t(4, 3), t(4, 3), t(4, 3))], differs="fewer_breaks", why=CHECKS_DATA)
def loss_whose_check_fails(x, y, z):
    try:
        return F.gaussian_nll_loss(x, y, z)
    except ValueError as error:
        return str(error)


def scaled():
    module = filled(nn.Linear(3, 2))
    optimizer = torch.optim.SGD(module.parameters(), lr=0.1)
    scaler = torch.amp.GradScaler("cpu")
    return [(module, optimizer, scaler, t(n, 3), t(n, 2)) for n in (4, 4, 5)]


@program("B12", scaled, differs="fewer_breaks", why="torch.compile leaves all of a GradScaler to Python")
def gradients_scaled(m, optimizer, scaler, x, y):
    optimizer.zero_grad()
    loss = F.mse_loss(m(x), y)
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
    return loss.detach()


def optimized():
    module = filled(nn.Linear(3, 2))
    optimizer = torch.optim.SGD(module.parameters(), lr=0.1)
    return [(module, optimizer, t(n, 3), t(n, 2)) for n in (4, 4, 5)]


@program("B12", optimized)
def step_with_a_closure(m, optimizer, x, y):
    def closure():
        optimizer.zero_grad()
        loss = F.mse_loss(m(x), y)
        loss.backward()
        return loss

    return optimizer.step(closure).detach()
