"""`is`, and `in` and `==` where they ask it first: values that are one object, and equal ones that are not."""

import torch

from tests.conformance.program import program


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
