"""Values of every kind that are alive where the graph breaks, in locals, on the stack, in cells: the code made builds
them again, with one object for one object."""

from __future__ import annotations

import collections
import dataclasses
import functools
import itertools
import operator
import types
import weakref
from collections.abc import Callable
from typing import Any

import pytest
import torch

from tests.side_by_side import agree

Pair = collections.namedtuple("Pair", "x y")


class Box:
    """An object with one attribute and a method."""

    def __init__(self, v: Any = None) -> None:
        self.v = v

    def m(self) -> Any:
        return self.v


class Slots:
    """An object without a dict."""

    __slots__ = ("__weakref__", "a")


class Stack(list[Any]):
    """A list of the user's."""


class Table(dict[Any, Any]):
    """A dict of the user's."""


class Failed(Exception):
    """An exception of the user's."""


@dataclasses.dataclass
class Record:
    a: Any
    b: list[Any] = dataclasses.field(default_factory=list)


def advanced(iterator: Any) -> Any:
    next(iterator)
    return iterator


MADE: dict[str, Callable[[torch.Tensor], Any]] = {
    "list": lambda x: [x, 1],
    "nested list": lambda x: [[x], [1]],
    "tuple": lambda x: (x, [1]),
    "dict": lambda x: {"a": x, 1: [2]},
    "set": lambda x: {1, 2},
    "frozenset": lambda x: frozenset({1, (2, 3)}),
    "deque": lambda x: collections.deque([x, 1], 3),
    "odict": lambda x: collections.OrderedDict(a=x, b=1),
    "ddict": lambda x: collections.defaultdict(list, a=[x]),
    "counter": lambda x: collections.Counter("aab"),
    "size": lambda x: x.shape,
    "slice": lambda x: slice(x.shape[0], None),
    "range": lambda x: range(1, 5, 2),
    "named": lambda x: Pair(x, [1]),
    "rt": lambda x: x.max(0),
    "object": lambda x: Box([x]),
    "slots": lambda x: (lambda s: (setattr(s, "a", x), s)[1])(Slots()),
    "stack": lambda x: Stack([x, 1]),
    "userdict": lambda x: Table(a=x),
    "dataclass": lambda x: Record(x),
    "exception": lambda x: Failed("a", [1]),
    "keys": lambda x: {"a": x}.keys(),
    "items": lambda x: {"a": 1}.items(),
    "values": lambda x: {"a": 1}.values(),
    "proxy": lambda x: types.MappingProxyType({"a": 1}),
    "instdict": lambda x: Box(x).__dict__,
    "lambda": lambda x: lambda y=2, *, k=[1]: (x, y, k),
    "closure shared": lambda x: (lambda n: (lambda: n, lambda: n))([x]),
    "method": lambda x: Box(x).m,
    "builtin method": lambda x: [x, 1].append,
    "partial": lambda x: functools.partial(max, x.shape[0], key=abs),
    "partial2": lambda x: functools.partial(Box, v=[x]),
    "list iter": lambda x: advanced(iter([1, 2, 3])),
    "shared iter": lambda x: (lambda it: (it, it))(iter([1, 2, 3])),
    "reversed": lambda x: advanced(reversed([1, 2, 3])),
    "dict iter": lambda x: advanced(iter({"a": 1, "b": 2})),
    "range iter": lambda x: advanced(iter(range(4))),
    "zip": lambda x: advanced(zip([1, 2], (3, 4))),
    "enumerate": lambda x: advanced(enumerate(["a", "b"], 5)),
    "map": lambda x: advanced(map(str, [1, 2])),
    "filter": lambda x: advanced(filter(None, [1, 0, 2])),
    "str iter": lambda x: advanced(iter("abc")),
    "chain": lambda x: advanced(itertools.chain([1, 2], [3])),
    "count": lambda x: advanced(itertools.count(3, 2)),
    "cycle": lambda x: (lambda it: (next(it), next(it), it)[2])(itertools.cycle([1, 2])),
    "islice": lambda x: advanced(itertools.islice([1, 2, 3, 4], 1, None)),
    "repeat": lambda x: advanced(itertools.repeat(1, 3)),
    "product": lambda x: advanced(itertools.product([1, 2], "ab")),
    "accumulate": lambda x: advanced(itertools.accumulate([1, 2, 3])),
    "starmap": lambda x: advanced(itertools.starmap(max, [(1, 2), (3, 4)])),
    "takewhile": lambda x: advanced(itertools.takewhile(bool, [1, 2, 0])),
    "zip_longest": lambda x: advanced(itertools.zip_longest([1, 2], [3])),
    "pairwise": lambda x: advanced(itertools.pairwise([1, 2, 3])),
    "perm": lambda x: advanced(itertools.permutations([1, 2, 3], 2)),
    "groupby": lambda x: (lambda it: it)(itertools.groupby([1, 1, 2])),
    "tee": lambda x: itertools.tee([1, 2]),
    "batch": lambda x: itertools.compress([1, 2, 3], [1, 0, 1]),
    "generator": lambda x: advanced((i for i in [1, 2, 3])),
    "weakref": lambda x: (lambda b: (b, weakref.ref(b)))(Box(x)),
    "itemgetter": lambda x: operator.itemgetter(1, 2),
    "attrgetter": lambda x: operator.attrgetter("a.b"),
    "methodcaller": lambda x: operator.methodcaller("upper"),
    "property": lambda x: property(lambda s: 1),
    "type": lambda x: type(x),
    "dtype": lambda x: x.dtype,
    "device": lambda x: x.device,
    "int": lambda x: x.shape[0],
    "float": lambda x: x.shape[0] / 2,
    "ellipsis": lambda x: ...,
    "notimpl": lambda x: NotImplemented,
    "selflist": lambda x: (lambda l: (l.append(l), l)[1])([x]),
    "selfdict": lambda x: (lambda l: (l.update(s=l), l)[1])({"x": x}),
    "selfobj": lambda x: (lambda b: (setattr(b, "v", b), b)[1])(Box()),
    "alias": lambda x: (lambda l: [l, l, (l, {"l": l})])([x]),
    "staticmethod": lambda x: staticmethod(len),
    "cell": lambda x: (lambda: x).__closure__[0],
    "bytes": lambda x: b"a",
    "complex": lambda x: 1j,
    "chainmap": lambda x: collections.ChainMap({"a": x}, {"b": 1}),
    "exc cause": lambda x: (lambda e: (setattr(e, "__cause__", ValueError(1)), e)[1])(Failed(2)),
    "sameT": lambda x: (x, x.view(-1), [x]),
    "bound m of tensor": lambda x: x.sum,
}


def used(value: Any) -> Any:
    """What a value gives when it is called, or gone through."""
    try:
        if type(value).__name__ in ("function", "method", "partial", "builtin_function_or_method"):
            return value()
        if hasattr(value, "__next__"):
            return list(itertools.islice(value, 6)), list(itertools.islice(value, 2))
    except TypeError as error:
        return str(error)
    return value


@pytest.mark.row("O6")
@pytest.mark.parametrize("name", MADE)
def test_a_value_alive_at_a_break(name: str) -> None:
    make = MADE[name]

    def in_locals(x):
        y = x + 1
        first = make(x)
        second = first
        print("break")
        return y * 2, first, second is first, used(second)

    def on_the_stack(x):
        return make(x), print("break"), x * 2

    def in_a_cell(x):
        held = make(x)
        y = x + 1

        def get():
            return held

        print("break")
        return y, get(), get() is held, get

    def argument() -> tuple[torch.Tensor]:
        return (torch.arange(1.0, 3.0),)

    agree(in_locals, argument)
    agree(on_the_stack, argument, then=lambda result: used(result[0]))
    agree(in_a_cell, argument, then=lambda result: used(result[3]()))


@pytest.mark.row("O6", "I2")
def test_the_parts_of_what_is_alive_stay_one_object() -> None:
    def function(x, given):
        one = (x + 1, [1])
        shown = slice(x.shape[0], None)
        holds = {"a": one, "b": [one, shown], "c": given}
        print("break")
        return one is holds["a"], holds["b"][0] is one, holds["b"][1] is shown, holds["c"] is given, x * 2

    agree(function, lambda: (torch.ones(2), (1, [2])))


@pytest.mark.row("I2", "G1")
def test_two_arguments_that_are_one_tuple() -> None:
    def function(x, a, b):
        return x + 1, a is b, a == b

    one, other = (1, [2]), (1, [2])
    watch = agree(
        function,
        lambda: (torch.ones(2), one, one),
        lambda: (torch.ones(2), one, other),
        lambda: (torch.ones(2), other, other),
    )
    assert len(watch.graphs) == 2


@pytest.mark.row("I12")
def test_iterators_of_ours_never_reach_the_program() -> None:
    """Two iterators that share what they were made from cannot be made again apart."""

    def function(x):
        first, second = itertools.tee(iter([1, 2, 3]))
        next(first)
        return first, second, x + 1

    agree(function, lambda: (torch.ones(2),), then=lambda result: (list(result[0]), list(result[1])))
