"""`is`, and `in` and `==` where they ask it first: values that are one object, and equal ones that are not."""

import torch

from tests.conformance.program import program, t


class Alike(type):
    def __eq__(cls, other):
        return True

    def __hash__(cls):
        return 1


class One(metaclass=Alike):
    pass


class Other(metaclass=Alike):
    pass


@program("I2", differs="fewer_breaks", why="torch leaves the frame to Python")
def made_inside(x):
    y = x + 1
    empty, device = tuple([]), x.device
    return y, [
        y.device is x.device,
        device is device,
        y.dtype is x.dtype,
        empty is tuple(),
        frozenset() is frozenset(),
        tuple([1]) is tuple([1]),
        x.size() is y.size(),
        range(2) is range(2),
        One is Other,
        One is One,
    ]


def twice(*values):
    """Calls with one object twice, and with two that are equal."""
    return [(torch.ones(2), one, one if together else other) for one, other in values for together in (True, False)]


@program(
    "I2",
    lambda: twice((tuple([1, 2]), tuple([1, 2])), (frozenset([1]), frozenset([1]))),
    differs="torch_differs",
    why="tuples that came in at two places are two objects to it",
)
def given_twice(x, a, b):
    return x + 1, a is b, a is not b


@program(
    "I2",
    lambda: twice((torch.device("cpu"), torch.device("cpu")), (float("nan"), float("nan")), (range(3), range(3))),
    differs="torch_differs",
    why="a NaN that came in at two places is one object to it",
)
def given_twice_in_containers(x, a, b):
    return x + 1, a in (b,), [a] == [b], {"k": a} == {"k": b}, (a,).count(b)


def text(*parts):
    """A string of its own, equal to others."""
    return "".join(parts)


def equal_values():
    one, other = text("hello ", "world"), text("hello", " world")
    big, bigger = int("1000"), int("1001")
    return one, other, big, int("1000"), bigger, float("1.5"), float("1.5"), bytes([1, 2]), bytes([1, 2])


WORD = text("hel", "lo")
NUMBER = int("1000")


def pairs():
    one, other, big, same, bigger, half, also, raw, like = equal_values()
    given = [(one, one), (one, other), (big, big), (big, same), (big, bigger), (half, half), (half, also)]
    return [(t(2), a, b) for a, b in [*given, (raw, raw), (raw, like), (one, one), (7, 7)]]


@program("I2 G1", pairs, differs="torch_differs", why="torch.compile takes equal values for one object")
def equal_values_given(x, a, b):
    return x + 1, a is b, a is not b, a == b, [v is a for v in (a, b)]


def dicts_of_equal_values():
    one, other, big, same, bigger, *_ = equal_values()
    held = [{"a": one, "b": one}, {"a": one, "b": other}, {"a": big, "b": same}, {"a": big, "b": big}]
    return [(t(2), d) for d in held]


@program(
    "I2 G1", dicts_of_equal_values, differs="torch_differs", why="torch.compile takes equal values for one object"
)
def equal_values_in_a_dict(x, d):
    return x + 1, d["a"] is d["b"]


@program(
    "I2 G1",
    lambda: [(t(2), WORD), (t(2), text("hel", "lo")), (t(2), NUMBER), (t(2), int("1000")), (t(2), 5)],
    differs="torch_differs",
    why="torch.compile takes equal values for one object",
)
def value_given_and_global(x, a):
    return x + 1, a is WORD, a is NUMBER, a is not WORD


@program(
    "I2 B4",
    lambda: [(t(2), 3, 3), (t(2), 1000, 1000), (t(2), int("1002"), int("1002")), (t(2), 9, 9)],
    differs="torch_differs",
    why="torch.compile takes equal numbers for one object",
)
def numbers_that_vary(x, n, m):
    k = n + 1
    return x * n, k is n + 1, n is m, k is m + 1, n is n
