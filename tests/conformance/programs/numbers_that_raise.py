"""Arithmetic on numbers that vary, of which nobody takes the result, but which raises on some of them."""

import math

from tests.conformance.program import program, t

VALUES = (8, 6, 3, 0, 5, -1)
LEFT_OUT = "torch leaves out arithmetic whose result nobody takes, and then does not raise"
ENDS_IN_AN_EXCEPTION = "torch leaves a frame that ends in an exception to Python, and so all"


def calls():
    return [(t(2), n) for n in VALUES]


def _differing():
    return program("I1 B4", calls, differs="torch_differs", why=LEFT_OUT)


@_differing()
def floor_division(x, n):
    7 // n
    return x + 1


@_differing()
def remainder(x, n):
    7 % (n - 3)
    return x + 1


@_differing()
def true_division(x, n):
    7 / n
    return x + 1


@program("I1 B4", calls, differs="fewer_breaks", why=ENDS_IN_AN_EXCEPTION)
def both_parts_of_a_division(x, n):
    divmod(7, n % 5)
    return x + 1


@_differing()
def division_by_a_division(x, n):
    7 // (n // 5)
    return x + 1


@_differing()
def number_divided_by_itself(x, n):
    n // n
    return x + 1


@_differing()
def zero_divided(x, n):
    0 % n
    return x + 1


@_differing()
def division_of_a_float(x, n):
    2.5 / (n * 1.5 - 4.5)
    return x + 1


@_differing()
def floor_division_of_a_float(x, n):
    2.5 // (n * 1.5)
    return x + 1


@_differing()
def shifts(x, n):
    1 << (n - 1)
    16 >> n
    return x + 1


@_differing()
def negative_powers(x, n):
    (n - 3) ** (n - 5)
    return x + 1


@_differing()
def powers_of_floats(x, n):
    10.0 ** (n * 100)
    return x + 1


@program("I1 B4", calls)
def floats_made_whole(x, n):
    int(1e300 * (n + 0.5) * 1e7)
    return x + 1


@_differing()
def roots_and_logarithms(x, n):
    math.sqrt(n * 1.5)
    math.log2(n + 0.5)
    return x + 1


@_differing()
def in_an_inlined_function(x, n):
    def share(whole, parts):
        return whole // parts

    share(10, n)
    return x + 1


@_differing()
def caught(x, n):
    try:
        7 // n
    except ZeroDivisionError as error:
        return x * 2, str(error)
    return x + 1


@_differing()
def before_a_break(x, n):
    7 // n
    y = x + 1
    print(y.sum().item())
    return y * 2


@program("I1 B4", lambda: [(t(n), 7) for n in (2, 3, 5, 4)])
def sizes_are_never_negative(x, n):
    n // (x.shape[0] + 1)
    n << x.shape[0]
    return x * 2


def rising():
    return [(t(2), n) for n in (1, 2, 3, 0, 5, 4, 6, -1)]


def _rising():
    return program("I1 B4", rising, differs="torch_differs", why=LEFT_OUT)


@_rising()
def whole_numbers_too_large_for_a_float(x, n):
    float(2 ** (n * 250))
    return x + 1


@_rising()
def products_and_quotients_too_large_for_a_float(x, n):
    2 ** (n * 250) * 1.5
    (1 << (n + 1) * 250) / 3
    return x + 1


@_rising()
def powers_that_overflow(x, n):
    10.0 ** (n * 100.0)
    return x + 1


@_rising()
def powers_of_a_number_to_itself(x, n):
    (n * 40.5 + 50) ** (n * 40.5)
    return x + 1


@_rising()
def beyond_a_sine(x, n):
    math.asin(n * 0.2)
    return x + 1


@_rising()
def hyperbolic_overflow(x, n):
    math.cosh(n * 200.0)
    return x + 1


@program("I1 B4", rising, differs="fewer_breaks", why=ENDS_IN_AN_EXCEPTION)
def sine_of_infinity(x, n):
    math.sin((n - 4) * 1e308 * 10)
    return x + 1


@program("I1 B4", rising, differs="fewer_breaks", why=ENDS_IN_AN_EXCEPTION)
def infinity_rounded(x, n):
    round((n - 4) * 1e308 * 10)
    math.floor((n - 4) * 1e308 * 10)
    return x + 1


@program("I11 B4", lambda: [(t(2), n) for n in (1, 2, 3)], differs="torch_differs", why="torch fails on it")
def methods_of_constants_on_numbers_that_vary(x, n):
    return x + 1, (2.0).__eq__(n), (2.5).__lt__(n), (1).__le__(n)
