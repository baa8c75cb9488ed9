"""More versions than the limit allows, in what a program compiles and in what that calls."""

import functools

import torch

from tests.conformance.program import program, t


def lengthened(x, text):
    return x + len(text)


@program("G4", lambda: [(t(2), "a" * n) for n in range(11)])
def function_past_its_limit(x, text):
    return lengthened(x, text) * 2


@program("G4", lambda: [(t(2), "a" * n) for n in range(11)])
def past_its_limit_before_and_after_a_break(x, text):
    y = lengthened(x, text) * 2
    print(end="")
    return lengthened(y, text) * 3


LAYERS = (
    *(torch.nn.ReLU, torch.nn.Tanh, torch.nn.GELU, torch.nn.Sigmoid, torch.nn.ELU, torch.nn.SiLU),
    *(torch.nn.Softplus, torch.nn.LeakyReLU, torch.nn.Mish, torch.nn.Softsign),
)


@program("G4", lambda: [(layer(), t(3)) for layer in LAYERS])
def given_ten_kinds_of_layers(layer, x):
    return layer(x) + 1


def doubled(function):
    @functools.wraps(function)
    def wrapper(*args):
        return function(*args) * 2

    return wrapper


DECORATED = [doubled(lambda x, n=n: x + n) for n in range(10)]


@program("G4", lambda: [(n, t(3)) for n in range(10)], compile={"dynamic": False})
def ten_decorated_functions_of_one_code(n, x):
    return DECORATED[n](x)
