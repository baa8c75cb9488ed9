"""NumPy arrays written into by `out=`, `put`, `copyto` and their kin; dtypes of which torch computes less; how arrays
that functions make lie in memory."""

import numpy as np
import torch

from tests.conformance.program import program, t

TORCH_WRONG = "torch gives other types, values, memory or errors than NumPy"
STRICTER = {"differs": "stricter", "why": "NumPy computes these with other roundings than torch"}
FEWER = {"differs": "fewer_breaks", "why": "torch breaks, or compiles once more"}


def a(*shape, dtype=np.float64, start=0):
    count = int(np.prod(shape))
    return (((np.arange(count) + start) * 37 % 23 - 11) / 4).astype(dtype).reshape(shape)


def c(*shape, dtype=np.complex128, start=0):
    return a(*shape, start=start).astype(dtype) + a(*shape, start=start + 3).astype(dtype) * dtype(1j)


def twice():
    return [(a(2, 3), a(2, 3, start=2), np.zeros((2, 3))), (a(2, 3), a(2, 3, start=2), np.ones((2, 3)))]


@program("B6 O7", twice)
def out_by_position_and_name(x, y, out):
    first = np.add(x, y, out)
    second = np.multiply(first, 2, out=out)
    np.negative(y, out=y)
    return first is out, second is out, x - out


@program("B6 O7", twice)
def out_is_an_argument(x, y, out):
    np.add(x, 1, out=x)
    np.subtract(y, x, out=y)
    np.maximum(x, y, out=out)
    return out * 2


@program("B6 O7", twice)
def out_of_reductions(x, y, out):
    np.sum(x, axis=1, out=out[:, 0])
    x.max(axis=0, out=y[0])
    np.clip(x, -1, 1, out=out)
    return out, y


@program("B6 O7 I5", twice, differs="torch_differs", why=TORCH_WRONG)
def out_of_another_type_or_shape(x, y, out):
    try:
        np.add(x, y, out=np.zeros((2, 3), dtype=int))
    except TypeError as error:
        said = type(error).__name__, str(error)
    try:
        np.add(x, y, out=np.zeros(3))
    except ValueError as error:
        return said, type(error).__name__, out


@program(
    "B6 O7", lambda: [(a(4, start=i), a(3, 3, start=i)) for i in (0, 2)], differs="torch_differs", why=TORCH_WRONG
)
def written_by_functions(x, y):
    x.fill(0.5)
    np.put(x, [1, 2], [7, 8])
    np.copyto(y[0], x[:3])
    np.fill_diagonal(y, 9)
    return x + 1, y


@program("B6 O7", lambda: [(a(4, start=i), np.array([0, 0, 1])) for i in (0, 2)], differs="stricter", why=TORCH_WRONG)
def put_twice_at_one_place(x, i):
    x.put(i, [1.0, 2.0, 3.0])
    return x * 2


@program("B6", lambda: [c(2, 3), c(2, 3, start=4)], differs="torch_differs", why=TORCH_WRONG)
def complex_parts(x):
    return x.real, x.imag + 1, x + 2, x - 1j, -x, x.conj(), np.conj(x)[0], x.T.copy(), x == x[0], np.real(x) * 2


@program("B6 O7", lambda: [c(3), c(3, start=4)])
def complex_in_place(x):
    x += 1
    x[0] = 2j
    x.real[1] = 7
    x -= 1j
    return x[::2] + x[:2]


@program("B6", lambda: [c(3), c(3, start=4)], differs="torch_differs", why=TORCH_WRONG)
def complex_products(x):
    return x + 1, x * x, x / 2, np.abs(x)


@program("B6", lambda: [c(3, dtype=np.complex64)], **FEWER)
def single_complex(x):
    return x + np.complex64(1), x - 2.5, x.astype(np.complex128) + 1, x.real.dtype, x.reshape(3, 1)


@program("B6", lambda: [(a(2, 3, dtype=np.float16), a(2, 3, dtype=np.float16, start=4))])
def halves(x, y):
    return x * y, x / 2, x - 0.5, np.maximum(x, y), np.abs(x), x > y, x.astype(np.float32), np.where(x > 0, x, y)


@program("B6", lambda: [a(4, dtype=np.float16)], **STRICTER)
def halves_with_other_numbers(x):
    return x + 1, x * 0.1, x // 2


@program("B6 O7", lambda: [a(4, dtype=np.float16)])
def halves_in_place(x):
    x += 1
    x[0] = 0.5
    x *= 2
    return -x


@program("B6", lambda: [(a(3, 4), np.array([2, 0])), (a(3, 4, start=3), np.array([1, 1]))])
def order_of_what_is_read(x, i):
    return x[:, i], x[:, [0, 2]], x[i], x[:, i].T, x.T[[0, 1]], x[..., i][0], x.reshape(3, 2, 2)[:, :, [1, 0]]


@program("B6", lambda: [a(3, 4), a(3, 4, start=3)])
def order_of_what_is_made(x):
    y = x.T + 1
    return y, y.copy(), np.zeros_like(y), np.stack([y, y]), y.ravel(), np.concatenate([y, y]), x[:, [0, 1]] * 2


@program("B6 I3", lambda: [a(3, 2, 2), a(3, 2, 2, start=1)])
def rows_of_rows(x):
    total = x[0] * 0
    for row in x:
        for line in row:
            total = total + line
    return total, [row.T for row in x], *x[0]


@program("B6", lambda: [(t(3), np.float64(1.5), np.int64(2)), (t(3), np.float64(2.5), np.int64(3))])
def tensors_and_scalars(y, s, n):
    return y * s, y + n, y - s, y / n


@program(
    "B6",
    lambda: [(t(3, dtype=torch.int64), torch.tensor(2.0), np.float64(1.5), np.float32(0.1))],
    differs="torch_differs",
    why=TORCH_WRONG,
)
def tensors_and_scalars_of_other_kinds(i, z, s, f):
    return i * s, z * s, z + f, i + f
