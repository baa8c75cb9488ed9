"""Methods and operators of numbers, ranges and slices that other files do not have."""

import math

from tests.conformance.program import program, t


@program("I11")
def parts_of_an_int(x):
    n = -7
    return (
        x + n.real,
        (n.imag, n.numerator, n.denominator, n.as_integer_ratio(), True.numerator),
        (math.floor(n), math.ceil(n), math.trunc(n), n.conjugate(), n.bit_length(), n.bit_count()),
        (n >> 1, 1 << 5, -n >> 2),
    )


@program("I11")
def parts_of_a_float(x):
    f = -2.5
    return (
        x + f.real,
        (f.imag, f.conjugate(), +f, f != 2.5, repr(f), f"{f!r}"),
        (divmod(f, 2), divmod(7, f), "yes" if f else "no", "yes" if 0.0 else "no"),
        (math.floor(f), math.ceil(f), math.trunc(f), f.is_integer(), f.as_integer_ratio(), f.hex()),
    )


@program("I2 I11")
def operators_of_complex_numbers(x):
    c = 1 + 2j
    return (
        x + c.real,
        (-c, +c, c == 1 + 2j, c != 1, c - 1, 3 - c, c / 2, 3 / c, c**2, 2**c, c * c, abs(3 + 4j)),
        (complex(c), hash(c) == hash(1 + 2j), repr(c), f"{c}", c.conjugate(), c.imag),
        "yes" if c else "no",
        "yes" if 0j else "no",
    )


@program("I2 I5 I11")
def complex_numbers_have_no_order(x):
    messages = []
    for act in (
        lambda c: c < 1,
        lambda c: c > 1,
        lambda c: c <= c,
        lambda c: c >= 2j,
        lambda c: c // 1,
        lambda c: c % 2,
    ):
        try:
            act(1j)
        except TypeError as error:
            messages.append(str(error))
    return x + 1, messages


@program("I2 I11", differs="fewer_breaks", why="torch runs it all in plain Python")
def ranges_compare_and_are_keys(x):
    a, b = range(0, 6, 2), range(0, 5, 2)
    return x + len(a), a == b, a != b, a != range(3), hash(a) == hash(b), {a: 1}[b], repr(a), f"{b}", str(range(3))


@program("I2 I5 I11")
def ranges_have_no_order(x):
    messages = []
    for act in (lambda r: r < r, lambda r: r > r, lambda r: r <= r, lambda r: r >= r, lambda r: r + r):
        try:
            act(range(2))
        except TypeError as error:
            messages.append(str(error))
    return x + 1, messages


@program("I2 I11")
def slices_compare_like_tuples(x):
    a, b = slice(1, 2), slice(1, 3, None)
    return x[a] + 1, a < b, a > b, a <= b, a >= b, a != b, a == slice(1, 2), repr(a), f"{b}", a.indices(5)


@program("I5 I11")
def a_slice_is_no_key(x):
    try:
        return {slice(1): 2}
    except TypeError as error:
        return x + 1, str(error)


@program(
    "I2 I11",
    lambda: [(t(2), 5, 2.5, 1j), (t(2), 6, 3.5, 2j)],
    differs="fewer_breaks",
    why="torch runs it all in plain Python",
)
def numbers_of_the_caller(x, n, f, c):
    return (
        x + 1,
        (n.real, n.imag, n.numerator, n.denominator, n >> 1, math.floor(n), math.ceil(n), math.trunc(n)),
        (f.real, f.imag, f.conjugate(), +f, divmod(f, 2), divmod(7, f), f != 1, repr(f), 1 if f else 2),
        (-c, +c, c - 1, 1 - c, c / 2, 2 / c, c**2, c != 1, 1 if c else 2),
    )
