"""One compiled function is called with values of every kind in turn: no version answers for a value it was not made
for. What plain Python gives is what counts; which versions there are does not."""

from __future__ import annotations

import array
import collections
import dataclasses
import enum
import fractions
import functools
import itertools
import operator
import random
import re
import types
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

import tracer_core


class Colour(enum.Enum):
    RED = 1
    BLUE = 2


class Level(enum.IntEnum):
    LOW = 1


class Held:
    def __init__(self, n: Any) -> None:
        self.n = n

    def method(self, *args: Any) -> Any:
        return self.n

    def other(self, *args: Any) -> Any:
        return args


class Derived(Held):
    def method(self, *args: Any) -> Any:
        return "derived"


class Slotted:
    __slots__ = ("n",)

    def __init__(self, n: int) -> None:
        self.n = n


class Answers:
    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return len(name)


@dataclasses.dataclass
class Data:
    n: int = 1


class Items(list[Any]):
    n = 3


class Number(int):
    n = 5


class Failed(Exception):
    n = 7


Pair = collections.namedtuple("Pair", "n o")
Other = collections.namedtuple("Other", "n o")


def adder(n: int, default: int = 1) -> Callable[..., Any]:
    def add(*args: Any, more: int = default) -> Any:
        return n + more

    return add


def values() -> list[Any]:
    """Fresh ones: iterators among them are used up."""
    return [
        *(None, True, False, 0, 1, 2, 1.0, 0.0, -0.0, 2.5, 1j, "a", "b", "", b"a", b"b", ...),
        *([], [1], [2], [True], [1.0], [[1]], (), (1,), (2,), (True,), ([1],), [Held(1)], [Held(2)]),
        *({}, {1: 2}, {1: 3}, {True: 2}, {"n": 1}, {"n": 2}, {"a": 1, "b": 2}, {"b": 2, "a": 1}, {"n": Held(1)}),
        *({1}, {2}, {True}, frozenset({1}), frozenset({2}), range(3), range(0, 5, 2), range(0, 6, 2), slice(1)),
        *(collections.deque([1]), collections.deque([1], 3), collections.OrderedDict(n=1), collections.Counter("a")),
        *(collections.defaultdict(int), collections.defaultdict(list), types.MappingProxyType({"n": 1})),
        *({1: 2}.keys(), {2: 2}.keys(), {1: 2}.values(), {1: 2}.items(), types.CellType(1), types.CellType("a")),
        *(Colour.RED, Colour.BLUE, Level.LOW, Pair(1, 2), Pair(2, 2), Other(1, 2), Items([1]), Items([2]), Number(1)),
        *(
            Held(1),
            Held(2),
            Held([1]),
            Held([2]),
            Held(Held(1)),
            Derived(1),
            Slotted(1),
            Slotted(2),
            Data(1),
            Data(2),
        ),
        *(
            Answers(),
            Failed(1),
            Failed(2),
            types.SimpleNamespace(n=1),
            types.SimpleNamespace(n=2),
            Held,
            Derived,
            int,
        ),
        *(
            Held(1).method,
            Held(2).method,
            Held(1).other,
            Derived(1).method,
            adder(1),
            adder(2),
            adder(1, 2),
            len,
            abs,
        ),
        *([3, 3].index, [3, 3].count, {3: 4}.get, (3).__add__, (3).__mul__, "a".join, "b".join, Held.method),
        *(functools.partial(adder(1), 1), functools.partial(adder(2), 1), operator.itemgetter(0), operator.neg),
        *(operator.attrgetter("n"), operator.methodcaller("method"), re.compile("a"), re.compile("b")),
        *(fractions.Fraction(1, 2), fractions.Fraction(1, 3), array.array("i", [1]), array.array("i", [2])),
        *(torch.ones(1), torch.ones(2), torch.ones(2, 1), torch.ones(2).int(), torch.tensor(3), torch.tensor(True)),
        *(torch.ones(2, requires_grad=True), torch.nn.Parameter(torch.ones(2)), torch.Size([1]), torch.Size([2])),
        *(torch.float32, torch.float64, torch.device("cpu"), torch.device("meta"), torch.nn.ReLU(), torch.nn.Tanh()),
        *(np.float32(1), np.float64(1), np.int64(1), np.ones(2), np.ones(2, np.int32), np.dtype("f4")),
        *(bytearray(b"a"), bytearray(b"b"), memoryview(b"a"), iter([1, 2]), iter([2, 2]), iter((1, 2)), iter("ab")),
        *(zip([1], [2]), enumerate([1]), map(abs, [-1]), map(str, [-1]), itertools.count(1), itertools.count(2)),
        *(itertools.chain([1], [2]), itertools.islice([1, 2, 3], 2), (n for n in range(2)), (n for n in range(3))),
    ]


USES: dict[str, Callable[[Any], Any]] = {
    "itself": lambda v: v,
    "type": lambda v: type(v).__name__,
    "truth": lambda v: 1 if v else 2,
    "attribute": lambda v: getattr(v, "n", "none"),
    "attribute of an attribute": lambda v: v.n.n,
    "method": lambda v: v.method(),
    "call": lambda v: v(3),
    "length": lambda v: len(v),
    "item": lambda v: v[0],
    "key": lambda v: v["n"],
    "items": lambda v: list(itertools.islice(v, 3)),
    "equality": lambda v: (v == 1, v == [1], v == "a"),
    "sum": lambda v: v + 1,
    "product with a tensor": lambda v: v * torch.ones(2),
    "class": lambda v: (v.__class__.__name__, callable(v)),
    "call with an object": lambda v: v(Held(5)),
    "function's own": lambda v: (v.__name__, v.__defaults__, v.__kwdefaults__),
    "index": lambda v: [10, 20, 30][v],
    "kind": lambda v: (isinstance(v, int), isinstance(v, (list, tuple)), isinstance(v, Held)),
    "text": lambda v: f"{v}" if isinstance(v, (int, str, float, range)) else "",
}


def seen(outcome: Any, depth: int = 4) -> Any:
    """An outcome as something to compare by its text; addresses are left out."""
    if depth == 0:
        return "..."
    if isinstance(outcome, torch.Tensor):
        return str(outcome.dtype), list(outcome.shape), outcome.requires_grad, outcome.tolist()
    if isinstance(outcome, (np.ndarray, array.array)):
        return type(outcome).__name__, outcome.tolist()
    if isinstance(outcome, (list, tuple, collections.deque)):
        return type(outcome).__name__, [seen(item, depth - 1) for item in outcome]
    if isinstance(outcome, dict):
        return type(outcome).__name__, [(seen(key, depth - 1), seen(outcome[key], depth - 1)) for key in outcome]
    if hasattr(outcome, "__dict__") and not callable(outcome):
        return type(outcome).__name__, seen(dict(vars(outcome)), depth - 1)
    return type(outcome).__name__, re.sub(r"0x[0-9a-f]+", "", repr(outcome))


def attempt(function: Callable[..., Any], value: Any) -> str:
    try:
        return str(seen(function(torch.ones(2), value)))
    except Exception as error:  # noqa: BLE001 - whatever plain Python raises
        return re.sub(r"0x[0-9a-f]+", "", f"{type(error).__name__}: {error}")


@pytest.mark.row("G3", "B2", "F6")
@pytest.mark.parametrize("use", USES)
def test_no_version_answers_for_a_value_it_was_not_made_for(use: str) -> None:
    def function(x: torch.Tensor, value: Any) -> Any:
        return x + 1, USES[use](value)

    compiled = tracer_core.compile(function, backend="eager", options={"cache_size_limit": 1000})
    order = list(range(len(values())))
    random.Random(use).shuffle(order)
    for _ in range(2):
        plain, ours = values(), values()
        for index in order:
            expected = attempt(function, plain[index])
            assert attempt(compiled, ours[index]) == expected, (type(ours[index]), seen(values()[index]))
