"""NumPy arrays in traced code: as arguments, made inside, on the way from and to tensors."""

import numpy as np
import torch

from tests.conformance.program import program, t

GIVES_UP = "torch gives up on the function for what the first call brings"
SCALARS = "a 0-d array in place of a numpy scalar"
STRICT = "graphs keep to what NumPy gives in dtype, memory and order"
TORCH_WRONG = "torch gives other types, values or errors than NumPy"
WEIGHTS = np.array([0.5, 1.5, 2.5])


def a(*shape, dtype=np.float64, start=0):
    count = int(np.prod(shape))
    return (((np.arange(count) + start) * 37 % 23 - 11) / 4).astype(dtype).reshape(shape)


def pair():
    return [(a(2, 3), a(2, 3, start=4)), (a(2, 3, start=9), a(2, 3))]


@program("B6", pair, differs="torch_differs", why=TORCH_WRONG)
def arithmetic(x, y):
    return x + y, x - y * 2, x / 4, -x, abs(y), 1 + x, 3 - y


@program("B6", pair)
def comparisons(x, y):
    return x > y, x <= 0, x == y, x != 1, 0 < y


@program("B6", lambda: [(a(2, 3), a(3, 2)), (a(2, 3), a(3, 2))])
def matrix_product(x, y):
    return x @ y, np.dot(x, y), x.dot(y)


@program(
    "B6",
    lambda: [(np.arange(6), np.arange(1, 7)), (np.arange(6), np.arange(1, 7))],
    differs="torch_differs",
    why=TORCH_WRONG,
)
def integers(x, y):
    return x + y, x * y, x // y, x % y, x / y, x & y, x | y, x ^ y, ~x


@program("B6", lambda: [a(4, dtype=np.float32)])
def single_precision_stays(x):
    return x * 2, x + 0.5, x * np.float32(2), x.astype(np.float64), x / np.ones(4, np.float32)


@program("B6", lambda: [(a(4, dtype=np.float32), np.arange(4)), (a(4, dtype=np.float32), np.arange(4))])
def mixed_dtypes(x, n):
    return x + n, n * 0.5, n / n.astype(np.float32).sum()


@program("B6", lambda: [a(3, 4)], differs="torch_differs", why=SCALARS)
def reductions_to_scalars(x):
    return x.sum(), x.mean(), x.max(), x.min(), x.argmax(), x.any(), x.all(), np.sum(x), np.prod(x)


@program("B6", lambda: [a(3, 4)], differs="stricter", why=STRICT)
def reductions_along_an_axis(x):
    return x.sum(axis=0), x.max(axis=1), x.mean(axis=1, keepdims=True), np.cumsum(x, axis=1), x.argmin(axis=0)


@program("B6", lambda: [a(3, 4)])
def shapes(x):
    return x.reshape(2, 6), x.reshape(-1), x.T, x[None], x.swapaxes(0, 1), np.expand_dims(x, 0), np.squeeze(x[None])


@program("B6", lambda: [a(3, 4)])
def slices(x):
    return x[1], x[:, 1], x[1:, ::2], x[..., 0], x[-1, 1:3]


@program("B6", lambda: [a(3, 4)])
def reversed_slice(x):
    return (x + 1)[::-1]


@program("B6", lambda: [a(3, 4)], differs="torch_differs", why=SCALARS)
def one_element(x):
    y = x + 1
    return y[0, 1], y[2][3] * 2


@program("B6", lambda: [(a(3, 4), np.array([0, 2]))])
def indexed_by_an_array(x, i):
    return (x + 1)[i]


@program("B6", lambda: [a(3, 4)])
def indexed_by_a_mask(x):
    return x[x > 0] * 2


@program("B6", lambda: [(a(2, 2), a(2, 2, start=3))])
def joined(x, y):
    return np.concatenate([x, y]), np.stack((x, y), axis=1), np.vstack([x, y]), np.hstack([x, y])


@program("B6", lambda: [a(3, 3)])
def functions(x):
    return np.square(np.abs(x)), np.maximum(x, 0), np.where(x > 0, x, -x), np.clip(x, -1, 1), np.floor(x), np.tril(x)


@program("B6", lambda: [a(3)], differs="stricter", why="arrays of constants that leave are created outside the graph")
def arrays_made_inside(x):
    return x + np.zeros(3), x * np.ones(3), np.arange(3) + x, np.full(3, 2.5) - x, np.eye(3) @ x, np.linspace(0, 1, 3)


@program("B6", lambda: [a(3)], differs="stricter", why=STRICT)
def array_of_numbers(x):
    return np.array([1, 2, 3]) * x, np.array([[1.5], [2.5]]) + x, np.asarray(x) is x


@program("B6 O7", lambda: [a(4), a(4)], differs="stricter", why=STRICT)
def changed_in_place(x):
    x += 1
    x *= 2
    x[0] = 5
    x[1:3] = x[3] * 1.0
    return x * 2


@program("B6 O7", lambda: [a(4), a(4)], differs="torch_differs", why=SCALARS)
def element_taken_before_the_change(x):
    first, view = x[0], x[:2]
    x[0] = 100
    return first, view, view + 0


@program("B6 O7", lambda: [(lambda m: (m, m[1:]))(a(4))], differs="stricter", why=STRICT)
def arguments_that_share_memory(x, y):
    x[1] = 100
    return y + 1


@program("B6 O7", lambda: [(lambda m: (m, m))(a(4))])
def one_array_twice(x, y):
    x += 1
    return y * 2, x is y


@program("B6", lambda: [a(4)])
def argument_returned(x):
    return x, x + 0


@program("B6", lambda: [a(4)])
def views_share_memory_with_the_argument(x):
    return x[1:], x.reshape(2, 2), x + 1


def read_only():
    x = a(4)
    x.flags.writeable = False
    return [x, a(4), x]


@program("B6", read_only, differs="stricter", why=STRICT)
def read_only_argument(x):
    return x * 2 + 1


@program("B6 I5", read_only, differs="torch_differs", why=TORCH_WRONG)
def read_only_argument_is_changed(x):
    y = x + 1
    try:
        x[0] = 1
    except ValueError as error:
        return str(error), y
    return y


@program(
    "B6",
    lambda: [a(2, 3).T, a(6)[::-1], a(6)[::2], a(2, 3)[:, ::-1]],
    differs="fewer_breaks",
    why="torch.compile leaves arrays with negative strides to Python",
)
def other_layouts(x):
    return x * 2, x.sum(axis=0)


@program(
    "B6",
    lambda: [np.array(["a", "b"]), np.array([1j]), np.array([1.0], dtype=np.float16)],
    differs="fewer_breaks",
    why=GIVES_UP,
)
def dtypes_without_tensors(x):
    return x + x if x.dtype.kind != "U" else x.shape


@program("B6", lambda: [a(3).view(np.recarray), a(3)])
def subclass_of_array(x):
    return x + 1, type(x).__name__


@program("B6", lambda: [t(3), t(3)])
def to_numpy_and_back(x):
    y = (x + 1).numpy()
    return torch.from_numpy(y * 2) + x, y


@program("B6 O7", lambda: [t(3), t(3)])
def tensor_changed_through_its_array(x):
    y = x.numpy()
    y += 1
    return x * 2


@program("B6 I5", lambda: [t(3, grad=True), t(3)], differs="torch_differs", why=TORCH_WRONG)
def array_of_a_tensor_with_grad(x):
    try:
        return x.numpy() + 1
    except RuntimeError as error:
        return str(error)


@program("B6", lambda: [a(3), a(3, dtype=np.float32)], differs="stricter", why=STRICT)
def tensors_of_an_array(x):
    return torch.from_numpy(x) + 1, torch.as_tensor(x) * 2, torch.tensor(x) - 1


@program("B6", lambda: [(t(3), a(3))], differs="torch_differs", why=TORCH_WRONG)
def tensor_times_array(x, y):
    return y.sum() * 2, (x + 1).shape, torch.from_numpy(y) * x


@program("B6", lambda: [t(3)], differs="stricter", why=STRICT)
def numpy_numbers_beside_tensors(x):
    return x / np.sqrt(4.0), x * np.float32(1.5), x + np.int64(2), np.pi * x


@program(
    "B6",
    lambda: [(t(3), np.float64(2.5)), (t(3), np.float64(3.5)), (t(3), np.int64(2))],
    differs="stricter",
    why=STRICT,
)
def scalar_arguments(x, s):
    return x * float(s), s


@program("B6", lambda: [(a(3), np.float64(2.5)), (a(3), np.float64(-0.0))], differs="torch_differs", why=SCALARS)
def scalar_with_array(x, s):
    return x * s, s + 1, s


@program("B6 I4", lambda: [(a(3), np.float64(2.5)), (a(3), np.float64(-1.0))])
def branch_on_a_scalar(x, s):
    return x + 1 if s > 0 else x - 1


@program("B6", lambda: [a(3)])
def questions(x):
    return x.shape, x.ndim, x.dtype, x.size, len(x), x.dtype == np.float64, isinstance(x, np.ndarray), x.itemsize


@program("B6 I4", lambda: [a(3), a(3, dtype=np.float32)], differs="stricter", why=STRICT)
def dtype_decides(x):
    if x.dtype == np.float32:
        return x + 1
    return x - 1


@program("B6 I3", lambda: [a(3, 2)])
def iterated(x):
    total = 0
    for row in x:
        total = total + row
    return total


@program("B6", lambda: [a(3)])
def texts_of_arrays(x):
    y = x + 1
    return str(y), f"{y}", repr(y)


@program("B6", lambda: [a(3)], differs="torch_differs", why=TORCH_WRONG)
def builtins_on_arrays(x):
    y = x + 1
    return sum(y), max(y), list(y), sorted(y), 1.0 in y, y.tolist(), [1, 2, 3] + y


@program("B6 I5", lambda: [a(3), a(1)], differs="torch_differs", why=TORCH_WRONG)
def truth_of_an_array(x):
    try:
        return bool(x + 1)
    except ValueError as error:
        return str(error)


@program("B6", lambda: [a(3)], differs="torch_differs", why=TORCH_WRONG)
def functions_left_to_numpy(x):
    y = x + 1
    return np.linalg.norm(y), np.unique(y), np.nonzero(y), np.argsort(y), np.linalg.inv(np.eye(2) + y[0])


@program("B6", lambda: [a(3)])
def global_array(x):
    return x * WEIGHTS + WEIGHTS.sum()


@program("B6 O7", lambda: [a(3), a(3)], differs="stricter", why=STRICT)
def global_array_is_changed(x):
    WEIGHTS[0] += 1
    return x * WEIGHTS


@program("B6", lambda: [({"x": a(3)}, [a(3), a(2)]), ({"x": a(3)}, [a(3), a(2)])])
def arrays_in_containers(d, items):
    d["y"] = d["x"] + items[0]
    items.append(d["x"] * 2)
    return d, items


@program("B6 O6", lambda: [a(3), a(3)])
def arrays_across_a_break(x):
    y = x + 1
    print("between")
    return y * 2, y is not x


@program("B6", lambda: [a(3), a(4), a(5)], differs="stricter", why=STRICT)
def sizes_that_vary(x):
    return x.reshape(1, -1) * 2, x.shape[0], x[1:]


@program("B6 I5", lambda: [np.arange(4), np.arange(4)], differs="torch_differs", why=TORCH_WRONG)
def casting_that_numpy_refuses(x):
    try:
        x += 0.5
    except TypeError as error:
        return type(error).__name__, x + 1
    return x


@program("B6", lambda: [np.arange(4), np.arange(4)], differs="stricter", why=STRICT)
def floats_written_into_integers(x):
    x[0] = 2.7
    x[1:] = np.array([1.5, -1.5, 0.5])
    return x


@program("B6", lambda: [np.arange(3, dtype=np.uint8)])
def unsigned(x):
    return x + 1, x - x, x > 1, x * 2


@program(
    "B6",
    lambda: [(np.arange(3), np.array([1, 0, 2])), (np.arange(3), np.array([1, 1, 2]))],
    differs="torch_differs",
    why=TORCH_WRONG,
)
def division_by_zero(x, y):
    return x // y, x % y


@program("B6", lambda: [a(3)], differs="torch_differs", why=TORCH_WRONG)
def powers(x):
    return x**2, x**3, x**0.5, np.power(x, 2), 2**x


@program("B6", lambda: [np.array(3.0), np.array(4.0)], differs="torch_differs", why=SCALARS)
def array_without_dimensions(x):
    return x + 1, x * x, x[()], x.shape


@program("B6", lambda: [a(2, 9)], differs="torch_differs", why=TORCH_WRONG)
def functions_rounded_otherwise(x):
    """(On which machines they are depends on the processor; that the last one is a scalar is lost on all.)"""
    y = np.abs(x) + 1
    return np.sqrt(y), np.exp(x), np.sin(x), np.cumsum(x), x[0, 0]
