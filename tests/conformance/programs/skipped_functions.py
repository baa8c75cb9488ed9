"""Functions that are not traced: the graph breaks at the call and goes on after it. What only makes classes folds."""

import binascii
import collections
import dataclasses
import enum
import json
import os
import textwrap
import time
import types
import typing
import zlib

import torch

from tests.conformance.program import program, t


@torch.compiler.disable
def disabled(v, k=2):
    return v * k


@torch.compiler.disable(reason="it is slow")
def disabled_with_a_reason(v):
    return v - 1


@torch.compiler.disable(recursive=False)
def disabled_alone(v):
    return helper(v) + 1


def helper(v):
    return v * 3


class Holder:
    @torch.compiler.disable
    def method(self, v):
        return v * 4

    @staticmethod
    @torch.compiler.disable
    def static(v):
        return v * 5


class Color(enum.Enum):
    RED = 1


@program("F5 I14")
def disabled_between_two_graphs(x):
    y = x + 1
    return disabled(y, k=3) * 2


@program("F5 I14")
def disabled_in_an_inlined_function(x):
    def inner(v):
        return disabled(v + 1) + 2

    return inner(x * 2) * 3


@program("F5 I14")
def disabled_with_a_reason_called(x):
    return disabled_with_a_reason(x + 1) * 2


@program("F5 I14")
def disabled_without_what_it_calls(x):
    return disabled_alone(x + 1) * 2


@program("F5 F2", lambda: [(t(2), Holder())])
def disabled_methods(x, holder):
    return holder.method(x + 1) + holder.static(x)


@program("F5", lambda: [(t(2), True), (t(2), False)])
def disabled_function_as_a_value(x, choice):
    f = disabled if choice else helper
    return f(x + 1) * 2


@program("F5 I5", differs="fewer_breaks", why="torch leaves a frame that breaks inside try to Python")
def disabled_function_that_raises(x):
    @torch.compiler.disable
    def fails(v):
        raise KeyError("inside")

    y = x + 1
    try:
        fails(y)
    except KeyError as error:
        return y * 2, error.args


@program("F5 I3", differs="fewer_breaks", why="torch leaves a frame that breaks in a loop to Python")
def disabled_in_a_loop(x):
    total = x
    for k in (1, 2):
        total = disabled(total, k) + 1
    return total


@program("F5")
def function_in_c(x):
    y = x + 1
    n = zlib.crc32(b"text") % 7
    return y * n, binascii.hexlify(b"ab")


@program("F5")
def clock(x):
    y = x + 1
    before = time.perf_counter()
    return y * 2, before <= time.perf_counter()


@program("F5")
def operating_system(x):
    y = x + 1
    here = os.getpid() == os.getpid()
    return y * 2, here


@program("F5")
def text_of_the_standard_library(x):
    y = x + 1
    return y * 2, json.dumps({"a": [1, 2.5, None]}), textwrap.dedent("  a\n  b")


@program("F5")
def torch_internals(x):
    y = x + 1
    return y * len(torch.__config__.show().splitlines()[:1])


@program("F5 I10")
def named_tuple_made_inside(x):
    Point = collections.namedtuple("Point", "x y", defaults=(5,))
    p = Point(x + 1)
    return p.x * p.y, p._fields, type(p).__name__


@program("F5 I10")
def class_made_by_type(x):
    Made = type("Made", (), {"k": 3, "scale": lambda self, v: v * self.k})
    return Made().scale(x), Made.__name__, Made.k


@program("F5 I10")
def dataclass_made_inside(x):
    Made = dataclasses.make_dataclass("Made", [("k", int), ("n", int, 4)])
    made = Made(2)
    return x * made.k + made.n, repr(made), made == Made(2)


@program("F5 I10")
def enum_made_inside(x):
    Made = enum.Enum("Made", "A B")
    return x + Made.B.value, Made.A.name, [m.name for m in Made]


@program("F5 I10")
def things_made_by_classes_in_c(x):
    space = types.SimpleNamespace(k=3)
    space.n = x * space.k
    view = types.MappingProxyType({"a": 1})
    return space.n, view["a"], Color(1) is Color.RED, Color["RED"].value


@program("F5 I10")
def typing_helpers(x):
    Alias = typing.NewType("Alias", int)
    return x + Alias(3), typing.cast(str, "s"), typing.get_origin(list[int]) is list
