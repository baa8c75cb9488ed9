"""Arithmetic on Python numbers and tensors."""

import torch

from tests.conformance.program import program, t


@program("I2")
def add_and_multiply(x, y):
    return x * 2 + y


@program("I2 I4", lambda: [t(3), t(4), t(5)])
def branch_on_value(x):
    if x.sum() > 0:
        return x + 1
    print("neg")
    return x - 1
