"""What NumPy says about divisions by zero, overflows and invalid operations: at the user's line, or as set."""

import warnings

import numpy as np
import torch

from tests.conformance.program import program, t

LEFT = "torch leaves the function to Python"
WARNS = "torch does not warn where NumPy does"


def a(*values, dtype=np.float64):
    return np.array(values, dtype)


def said(function, *args):
    """What `function` gives, and the warnings on the way."""
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        result = function(*args)
    return result, [(w.category, str(w.message), w.lineno) for w in seen]


def quotient(x, y):
    return x / y + 1


@program("B6", lambda: [(quotient, a(1.0, 2.0), a(4.0, 0.5)), (quotient, a(1.0, 2.0), a(0.0, 0.5)),
                        (quotient, a(0.0, 2.0), a(0.0, 0.5)), (quotient, a(1.0, 2.0), a(4.0, 0.5))],
         differs="torch_differs", why=WARNS)  # fmt: skip
def division_by_zero(function, x, y):
    return said(function, x, y)


@program("B6", lambda: [(a(1.0, 2.0), a(4.0, 0.5)), (a(1.0, 2.0), a(0.0, 0.5))], differs="torch_differs", why=WARNS)
def printed_at_the_line(x, y):
    z = x * 2
    return z / y


@program("B6", lambda: [a(1.0, 2.0), a(1e300, 2.0), a(np.inf, 2.0), a(np.nan, 2.0)], differs="torch_differs",
         why=WARNS)  # fmt: skip
def overflow(x):
    return x * 1e200, x - x, x.sum(), np.square(x)


@program("B6", lambda: [a(1.0, 2.0), a(np.inf, 2.0), a(np.nan, 1.0)], differs="torch_differs", why=WARNS)
def invalid(x):
    return x - x[0], x * 0.0, x // 2


@program("B6", lambda: [a(1.0, 2.0), a(1.0, 0.0)], differs="fewer_breaks", why=LEFT)
def raised_as_set(x):
    with np.errstate(divide="raise"):
        try:
            return 1 / x
        except FloatingPointError as error:
            return str(error)


@program("B6", lambda: [a(1.0, 2.0), a(1.0, 0.0)])
def all_raised(x):
    with np.errstate(all="raise"):
        try:
            return 1 / x
        except FloatingPointError as error:
            return str(error)


@program("B6", lambda: [a(1.0, 2.0), a(1.0, 0.0)], differs="fewer_breaks", why=LEFT)
def made_an_error(x):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            return 1 / x
        except RuntimeWarning as error:
            return str(error)


@program("B6", lambda: [a(1.0, 0.0), a(1.0, 0.0)], differs="fewer_breaks", why=LEFT)
def ignored_as_set(x):
    with np.errstate(all="ignore"):
        return 1 / x


@program("B6 O7", lambda: [a(1.0, 2.0), a(1e300, 0.0), a(1.0, 2.0)], differs="torch_differs", why=WARNS)
def after_a_change_in_place(x):
    x += 1
    x *= 1e200
    x[0] = 3
    return 1 / x


@program("B6 O7", lambda: [(a(1.0, 2.0), t(2)), (a(1.0, 0.0), t(2)), (a(3.0, 4.0), t(2))],
         differs="torch_differs", why=WARNS)  # fmt: skip
def after_a_tensor_was_changed(x, y):
    y.add_(1)
    view = y[:1]
    z = 1 / x
    y.mul_(2)
    return z, y, view


@program("B6 O9", lambda: [(a(1.0, 2.0), t(2)), (a(1.0, 0.0), t(2)), (a(3.0, 4.0), t(2))],
         differs="torch_differs", why=WARNS)  # fmt: skip
def after_draws(x, y):
    noise = torch.rand(2) * float(np.random.rand())
    return 1 / x, y + noise


@program("B6", lambda: [a(1.0, 2.0, dtype=np.float32), a(1e38, 2.0, dtype=np.float32)], differs="torch_differs",
         why=WARNS)  # fmt: skip
def single_precision(x):
    return x * 100, x + np.float32(1), x.astype(np.float64) * 100


@program("B6", lambda: [a(1.5, -2.5), a(1e300, 2.0), a(np.nan, 1.0)], differs="torch_differs", why=WARNS)
def conversions(x):
    return x.astype(np.float32), x.astype(bool)


@program("B6", lambda: [a(1.5, -2.5), a(np.nan, 1.0), a(1e20, 1.0)], differs="torch_differs", why=WARNS)
def floats_to_integers(x):
    return x.astype(np.int64), x + 1


@program("B6", lambda: [(a(3, 4, dtype=np.int64), a(2, 1, dtype=np.int64)),
                        (a(3, 4, dtype=np.int64), a(0, 1, dtype=np.int64))],
         differs="torch_differs", why=WARNS)  # fmt: skip
def integers_by_zero(x, y):
    return x // y, x % y, x / y


@program("B6", lambda: [a(3, 4, dtype=np.int64), a(2**62, 4, dtype=np.int64)], differs="torch_differs", why=WARNS)
def integer_scalars(x):
    return x[0] * 4, x[0] + x[1], x * 4


@program("B6", lambda: [(np.float64(3.0), np.float64(2.0)), (np.float64(3.0), np.float64(0.0))],
         differs="torch_differs", why=WARNS)  # fmt: skip
def float_scalars(x, y):
    return x / y, x * 2


@program("B6", lambda: [a(1.0, 2.0)], differs="torch_differs", why=WARNS)
def of_constants(x):
    return x + np.log(np.zeros(2)), np.float64(1) / np.arange(2)


@program("B6", lambda: [np.zeros((0, 3))], differs="torch_differs", why=WARNS)
def mean_of_nothing(x):
    return x.mean(axis=0), x.sum(axis=0)


@program("B6", lambda: [a(1.0), a(1.0, 2.0)], differs="torch_differs", why=WARNS)
def too_few_degrees_of_freedom(x):
    return x.var(ddof=1), x.std()


@program("B6", lambda: [a(1.0, 2.0), a(0.0, -1.0)], differs="torch_differs", why=WARNS)
def logarithms(x):
    return np.log(x), np.sqrt(x), x * 2


@program("B6 I9", lambda: [(a(1.0, 2.0), t(2)), (a(1.0, 0.0), t(2)), (a(1.0, 2.0), t(2))],
         differs="torch_differs", why=WARNS)  # fmt: skip
def in_an_inlined_function(x, y):
    z = quotient(2, x)
    return torch.from_numpy(z) + y, quotient(z, 2)


@program("B6 O6", lambda: [a(1.0, 2.0), a(1.0, 0.0)], differs="torch_differs", why=WARNS)
def after_a_break(x):
    x = x + 1
    print("between")
    return x / (x - 1)


@program("B6", lambda: [a(1.0, np.nan, np.inf, -np.inf)])
def values_that_are_no_numbers_pass(x):
    return x + 1, x * 2, -x, np.abs(x), x > 0, np.maximum(x, 0), x / 2, np.isnan(x)
