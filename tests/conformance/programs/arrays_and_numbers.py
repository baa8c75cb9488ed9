"""NumPy arrays beside numbers that vary from call to call, or are drawn."""

import random

import numpy as np
import torch

from tests.conformance.program import program

STRICT = "graphs keep to what NumPy gives in dtype, memory and order"
MORE = "torch breaks at a draw, or compiles once more"
TORCH_WRONG = "torch gives other types, values or errors than NumPy"


def a(*shape, dtype=np.float64):
    return (np.arange(int(np.prod(shape))) * 7 % 5 - 2).astype(dtype).reshape(shape)


def varied(*dtypes):
    return lambda: [(a(2, 3, dtype=dtype), number) for number in (2.5, 3.5) for dtype in dtypes]


@program("B6", varied(np.float64, np.float32))
def floats(x, r):
    return x * r, r + x, x - r, r - x, x / r


@program("B6", varied(np.int64), differs="fewer_breaks", why=MORE)
def floats_and_integer_arrays(x, r):
    return x * r, r + x, x / r


@program("B6", lambda: [(a(4), n) for n in (3, 5)])
def integers(x, n):
    return x * n, n - x, x / n


@program("B6", lambda: [(a(4, dtype=np.int64), n) for n in (3, 5, -2)], differs="torch_differs", why=TORCH_WRONG)
def integers_and_integer_arrays(x, n):
    return x * n, n - x, x / n


@program("B6", lambda: [(a(4, dtype=np.int8), n) for n in (3, 5, 300)], differs="torch_differs", why=TORCH_WRONG)
def integers_and_short_arrays(x, n):
    return x * n


@program("B6", lambda: [a(2), a(3), a(4), a(5)], differs="torch_differs", why=TORCH_WRONG)
def sizes(x):
    return x / x.shape[0], x.sum() / len(x), x * x.size


@program("B6 O9", lambda: [a(3), a(3), a(3)], differs="fewer_breaks", why=MORE)
def drawn(x):
    return x * random.random() + random.randint(1, 5)


@program("B6", lambda: [(np.float32(1.5), r) for r in (2.5, 3.5, 4.5)], differs="torch_differs", why=TORCH_WRONG)
def scalars(x, r):
    return x * r, r - x


@program("B6", lambda: [(a(3), r) for r in (2.0, 1.0, 0.0)], differs="torch_differs", why=TORCH_WRONG)
def by_zero(x, r):
    return (x + 3) / r


@program("B6", lambda: [(a(3), torch.arange(3.0), r) for r in (2.0, 1.5, 0.5)])
def with_tensors(x, y, r):
    return torch.from_numpy(x * r) + y * r
