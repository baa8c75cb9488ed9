"""NumPy arrays read and written by masks, index arrays and items; scalars, dtypes and memory that tensors share."""

import numpy as np
import torch

from tests.conformance.program import program, t

MORE = "torch breaks, or compiles once more"
TORCH_WRONG = "torch gives other types, values or errors than NumPy"
SCALE = np.float32(0.5)
COUNT = np.int64(3)
TABLE = np.arange(6.0).reshape(2, 3)


def a(*shape, dtype=np.float64, start=0):
    count = int(np.prod(shape))
    return (((np.arange(count) + start) * 37 % 23 - 11) / 4).astype(dtype).reshape(shape)


def frozen(array):
    array.flags.writeable = False
    return array


@program(
    "B6", lambda: [(a(3, 4), a(3, 4) > 0), (a(3, 4, start=3), a(3, 4) > 1)], differs="torch_differs", why=TORCH_WRONG
)
def read_by_a_mask(x, mask):
    return x[mask], x[mask].sum(), (x * 2)[x > 0]


@program("B6 O7", lambda: [(a(3, 4), a(3, 4) > 0), (a(3, 4, start=3), a(3, 4) > 1)])
def written_by_a_mask(x, mask):
    x[mask] = 0
    x[x < -1] = -1.0
    return x * 2


@program("B6", lambda: [(a(4, 3), np.array([2, 0, 2])), (a(4, 3, start=2), np.array([1, 1, 3]))])
def read_by_indices(x, i):
    return x[i], x[[0, 1]], x[i, 0], x[:, [2, 0]]


@program("B6 O7", lambda: [(a(4, 3), np.array([2, 0])), (a(4, 3, start=2), np.array([1, 3]))])
def written_by_indices(x, i):
    x[i] = 1.5
    x[i, 0] = 2
    return x + 1


@program("B6 I5", lambda: [(a(4), np.array([2, 9]))], differs="torch_differs", why=TORCH_WRONG)
def index_out_of_range(x, i):
    y = x + 1
    try:
        return y[i]
    except IndexError as error:
        return str(error)


@program("B6 I3", lambda: [a(4), a(4, start=2)], differs="torch_differs", why=TORCH_WRONG)
def iterated(x):
    total = 0.0
    for value in x + 1:
        total = total + value * 2
    return total, [v for v in x], list(x), sum(x)


@program("B6 I3", lambda: [a(3, 2)])
def rows_iterated(x):
    first, second, third = x + 1
    return [row * 2 for row in x], first + second, third


@program("B6", lambda: [a(3, 2), a(3, 2, start=5)], differs="fewer_breaks", why=MORE)
def where_of_one_argument(x):
    return np.where(x > 0), np.nonzero(x), np.argwhere(x > 1), np.flatnonzero(x)


@program(
    "B6",
    lambda: [(np.array(2.5), np.float64(2.5)), (np.array(1.5), np.float64(1.5))],
    differs="torch_differs",
    why=TORCH_WRONG,
)
def arrays_without_dimensions(x, s):
    return x + 1, s + 1, x * np.array(2.0), -x, x[()], np.array(s), type(x + 1) is np.float64, type(x).__name__


@program("B6", lambda: [a(2, 3)], differs="torch_differs", why=TORCH_WRONG)
def of_given_dtypes(x):
    return (
        x.sum(dtype=np.float32),
        x.astype("float32"),
        np.zeros(3, dtype=int) + 1,
        np.array([1, 2], dtype=np.float32),
        np.arange(3, dtype=np.int32),
        np.ones_like(x, dtype=bool),
        x.mean(dtype=np.float64),
    )


@program("B6 O7", lambda: [(a(3), a(3, start=2), np.zeros(3)), (a(3), a(3, start=2), np.ones(3))])
def into_an_out_argument(x, y, out):
    result = np.add(x, y, out=out)
    np.multiply(out, 2, out=out)
    return result is out, out


@program("B6 O7", lambda: [a(4), a(4, start=2)], differs="fewer_breaks", why=MORE)
def methods_in_place(x):
    x.sort()
    x.fill(2.0) if x.shape[0] > 5 else None
    x.resize(2, 2) if x.shape[0] > 5 else None
    return x + 1


@program("B6 O7", lambda: [a(4), a(4, start=2)])
def filled(x):
    x.fill(3)
    x.put([0], 1.0)
    return x * 2


@program("B6", lambda: [np.array([(1, 2.5)], dtype=[("n", "i4"), ("v", "f8")])], differs="fewer_breaks", why=MORE)
def structured(x):
    return x["v"] * 2, torch.ones(2) + 1


@program("B6", lambda: [np.array(["a", "b"])], differs="fewer_breaks", why=MORE)
def strings(x):
    return x[0] + x[1], torch.ones(2) * 2


@program("B6", lambda: [np.array(["2020-01-01"], dtype="datetime64[D]")], differs="fewer_breaks", why=MORE)
def dates(x):
    return x + np.timedelta64(1, "D"), torch.ones(2) * 2


@program("B6 I5", lambda: [frozen(a(3)), frozen(a(3, start=2))], differs="torch_differs", why=TORCH_WRONG)
def not_to_be_written(x):
    y = x * 2
    try:
        x[0] = 1
    except ValueError as error:
        return y, str(error)


@program("B6 O7", lambda: [a(3), a(3, start=2)])
def memory_shared_by_from_numpy(x):
    y = torch.from_numpy(x)
    y.add_(1)
    x[0] = 100
    return y * 2, x * 2


@program("B6 O7", lambda: [t(3, dtype=torch.float64), t(3, dtype=torch.float64, start=4)])
def memory_shared_by_numpy(y):
    x = y.numpy()
    x += 1
    y[0] = 100
    return x, y, x * 2, np.shares_memory(x, y.numpy())


@program(
    "B6",
    lambda: [t(2, 3, dtype=torch.float64), t(2, 3, dtype=torch.float64, start=4)],
    differs="torch_differs",
    why=TORCH_WRONG,
)
def array_of_a_tensor(y):
    return np.asarray(y), np.array(y), np.asarray(y) + 1, y.numpy() * 2


@program("B6", lambda: [t(2, 3, grad=True)], differs="torch_differs", why=TORCH_WRONG)
def array_of_a_tensor_with_gradient(y):
    try:
        return y.numpy()
    except RuntimeError as error:
        return str(error), y.detach().numpy() * 2


@program("B6", lambda: [t(2, 3), t(2, 3, start=4)], differs="torch_differs", why=TORCH_WRONG)
def numpy_functions_of_tensors(y):
    return np.sum(y.numpy()), np.mean(np.asarray(y)), np.concatenate([y.numpy(), y.numpy()])


@program("B6 I13", lambda: [(a(2, 3), t(2, 3, dtype=torch.float64))] * 2, differs="fewer_breaks", why=MORE)
def constants_in_globals(x, y):
    return x * SCALE, x + TABLE, x * COUNT, y * torch.from_numpy(TABLE), y * float(SCALE)


@program(
    "B6",
    lambda: [(t(3), np.float64(2.5)), (t(3), np.float64(3.5)), (t(3), np.float64(4.5))],
)
def tensor_and_scalar(y, s):
    return y * s, y + float(s), y - s.item()


@program("B6", lambda: [(t(3), np.int64(2)), (t(3), np.int64(3))])
def index_by_a_scalar(y, n):
    return y[n - 1], y * int(n)


@program(
    "B6",
    lambda: [a(3, dtype=np.complex128), a(3, dtype=np.complex64)],
    differs="stricter",
    why="NumPy rounds products and magnitudes of complex numbers otherwise than torch",
)
def complex_numbers(x):
    return x + 1j, x.real, x * x, np.abs(x), x.conj()


@program("B6", lambda: [a(4, dtype=np.float16)])
def half_precision(x):
    return x + 1, x * x, x.astype(np.float32) * 2, -x, x > 0


@program(
    "B6",
    lambda: [np.random.default_rng(seed).integers(9, size=(2, 3)) / 8 for seed in (1, 2)],
    differs="torch_differs",
    why=TORCH_WRONG,
)
def random_arrays(x):
    return x * 2 - 1, (x > 0.5).sum(), x.T @ x


@program("B6 I4", lambda: [a(3), -a(3)], differs="fewer_breaks", why=MORE)
def branch_on_an_element(x):
    y = x * 2
    return y + 1 if y[0] > 0 else y - 1


@program("B6 I4", lambda: [a(3), a(3)], differs="fewer_breaks", why=MORE)
def truth_of_arrays(x):
    try:
        return 1 if x > 0 else 2
    except ValueError as error:
        return str(error), bool((x > 100).any()), x + 1


@program("B6 I11", lambda: [a(3), a(3, start=1)], differs="torch_differs", why=TORCH_WRONG)
def as_text_and_lists(x):
    y = x + 1
    return str(y), f"{y[0]:.2f}", y.tolist(), repr(y.sum()), y.tobytes()


@program("B6", lambda: [a(6)])
def views_of_memory(x):
    v = x.reshape(2, 3)
    w = v.T
    x[0] = 50.0
    return v, w, v.base is x, w.flags.c_contiguous, v.strides, x.nbytes


@program("B6", lambda: [a(2, 3)])
def questions(x):
    return x.shape, x.ndim, x.dtype == np.float64, x.dtype.name, len(x), isinstance(x, np.ndarray), x.size, x.itemsize


@program(
    "B6", lambda: [(t(3),), (t(4),), (t(3, 2),)], differs="fewer_breaks", why="torch takes items of an array in eager"
)
def loops_after_a_break(x):
    total, array = 0, x.numpy()
    print(end="")
    rows = iter(array)
    for row in rows:
        print(end="")
        total = total + row
    return x + 1, total, list(rows), next(rows, "no more")


@program("B6", lambda: [(t(3),), (t(4),)], differs="torch_differs", why=TORCH_WRONG)
def rows_that_are_not_there(x):
    array, said = x.numpy(), []
    for index in (3, -5, 2):
        try:
            said.append(array[index])
        except IndexError as error:
            said.append(str(error))
    return said
