"""Each type of value from outside: which guards it costs; an equal value passes, a changed one fails in words."""

from __future__ import annotations

import builtins
import collections
import dataclasses
import enum
import functools
import math
import operator
import random
import re
import types
import weakref
from array import array
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import pytest
import torch

import tracer_core
from tests.side_by_side import Watch, agree
from tracer_core.guards import CompiledGuards, compile_guards
from tracer_core.observer import observing
from tracer_core.variables.core.registry import _builders

Point = collections.namedtuple("Point", "x y")


class Pair(NamedTuple):
    a: int
    b: int


class Colour(enum.Enum):
    RED = 1
    BLUE = 2


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 2


class Other:
    """A class with a method and an attribute."""

    kept = 1

    def __init__(self, n: int) -> None:
        self.n = n

    def method(self) -> int:
        return self.n


class Stack(list[Any]):
    """A list with a method."""

    def top(self) -> Any:
        return self[-1]


class Table(dict[Any, Any]):
    """A dict of the user's."""


class Failed(Exception):
    """An exception of the user's."""


@dataclasses.dataclass
class Config:
    n: int
    name: str = "c"


def plus_one(n: int) -> int:
    return n + 1


def plus_two(n: int) -> int:
    return n + 2


@functools.lru_cache
def cached(n: int) -> int:
    return n


@functools.lru_cache
def cached_too(n: int) -> int:
    return n + 1


def adder(k: int) -> Callable[[int], int]:
    def add(n: int) -> int:
        return n + k

    return add


@dataclass
class Case:
    """`use` is what the program does with the value; `kinds` the guards on the value itself; `sentence` how the
    failure of `changed` begins, the value being called `v`."""

    make: Callable[[], Any]
    changed: Callable[[], Any]
    kinds: str
    sentence: str
    use: Callable[[Any], Any] = lambda v: v
    covers: tuple[Any, ...] = ()


first = lambda v: v[0]  # noqa: E731
RED, KEPT_OBJECTS = Colour.RED, [object(), object()]
CASES: dict[str, Case] = {
    "None": Case(lambda: None, lambda: 1, "NONE", "v was None at compile time and is 1 now", lambda v: v is None),
    "int": Case(lambda: 300, lambda: 301, "CONSTANT", "v was 300 at compile time and is 301 now", lambda v: v + 1),
    "int, the same number of another type": Case(
        lambda: 1, lambda: True, "CONSTANT", "v was 1 at compile time", lambda v: -v
    ),
    "bool": Case(lambda: True, lambda: 1, "CONSTANT", "v was True at compile time and is 1 now", lambda v: not v),
    "float": Case(lambda: 2.5, lambda: 2, "CONSTANT", "v was 2.5 at compile time and is 2 now", lambda v: v * 2),
    "zero": Case(lambda: 0.0, lambda: -0.0, "CONSTANT", "v was 0.0 at compile time and is -0.0 now", lambda v: v * 2),
    "nan": Case(
        lambda: float("nan"), lambda: 1.0, "CONSTANT", "v was nan at compile time and is 1.0 now", lambda v: v * 2
    ),
    "complex": Case(lambda: 1j, lambda: 2j, "CONSTANT", "v was 1j at compile time and is 2j now", lambda v: v * 2),
    "str": Case(
        lambda: "".join(["a", "b"]), lambda: "ac", "CONSTANT", "v was 'ab' at compile time and is 'ac' now", len
    ),
    "bytes": Case(lambda: b"ab", lambda: "ab", "CONSTANT", "v was b'ab' at compile time and is 'ab' now", len),
    "Ellipsis": Case(
        lambda: ..., lambda: None, "CONSTANT", "v was Ellipsis at compile time and is None", lambda v: v is ...
    ),
    "dtype": Case(
        lambda: torch.int32,
        lambda: torch.int8,
        "CONSTANT",
        "v was torch.int32 at compile time and is torch.int8",
        str,
    ),
    "device": Case(
        lambda: torch.device("cpu"),
        lambda: torch.device("meta"),
        "CONSTANT",
        "v was device(type='cpu') at compile time",
        str,
    ),
    "scheme of quantization": Case(
        lambda: torch.per_tensor_affine,
        lambda: torch.per_channel_affine,
        "CONSTANT",
        "v was torch.per_tensor_affine at compile time",
        str,
    ),
    "range": Case(
        lambda: range(3), lambda: range(4), "CONSTANT", "v was range(0, 3) at compile time and is range(0, 4)", len
    ),
    "slice": Case(lambda: slice(1, 3), lambda: slice(1, 4), "TYPE", "v.stop was 3 at compile time", lambda v: v.stop),
    "enum": Case(lambda: Colour.RED, lambda: Colour.BLUE, "ID", "v was ", lambda v: v is RED),
    "int enum": Case(lambda: Level.LOW, lambda: 1, "ID", "v was ", lambda v: v + 1),
    "list": Case(
        lambda: [1, 2], lambda: [1], "TYPE LENGTH", "v was of length 2 at compile time and is of length 1", first
    ),
    "item of a list": Case(
        lambda: [1, 2], lambda: [3, 2], "TYPE LENGTH", "v[0] was 1 at compile time and is 3 now", first
    ),
    "list, not a tuple": Case(lambda: [1], lambda: (1,), "TYPE LENGTH", "v was of type list at compile time", first),
    "tuple": Case(
        lambda: (1, 2), lambda: (1, 3), "TYPE LENGTH", "v[1] was 2 at compile time and is 3 now", lambda v: v[1]
    ),
    "named tuple": Case(lambda: Pair(1, 2), lambda: (1, 2), "TYPE LENGTH", "v was of type ", lambda v: v.b),
    "Size": Case(
        lambda: torch.Size([2]), lambda: torch.Size([3]), "TYPE LENGTH", "v[0] was 2 at compile time and is 3", first
    ),
    "deque": Case(
        lambda: collections.deque([1]), lambda: collections.deque([1], 5), "TYPE LENGTH", "v.maxlen was None", first
    ),
    "dict": Case(lambda: {"a": 1}, lambda: {"b": 1}, "TYPE DICT_KEYS", "v had the keys ['a'] at", lambda v: v["a"]),
    "order of a dict": Case(
        lambda: {1: 1, 2: 2}, lambda: {2: 2, 1: 1}, "TYPE DICT_KEYS", "v had the keys [1, 2] at", list
    ),
    "type of a key": Case(lambda: {1: 1}, lambda: {True: 1}, "TYPE DICT_KEYS", "v had the keys [1] at", list),
    "value in a dict": Case(
        lambda: {"a": 1}, lambda: {"a": 2}, "TYPE DICT_KEYS", "v['a'] was 1 at", lambda v: v["a"]
    ),
    "OrderedDict": Case(
        lambda: collections.OrderedDict(a=1), lambda: {"a": 1}, "TYPE DICT_KEYS", "v was of type ", lambda v: v["a"]
    ),
    "defaultdict": Case(
        lambda: collections.defaultdict(int, a=1),
        lambda: collections.defaultdict(list, a=1),
        "TYPE DICT_KEYS",
        "v.default_factory was class int at compile time",
        lambda v: v["a"],
    ),
    **{
        f"{which} of {cls.__name__}": Case(
            lambda which=which, cls=cls: getattr(cls(a=1), which)(),
            lambda which=which, cls=cls: getattr(cls(b=1), which)(),
            "TYPE",
            "v.mapping had the keys ['a'] at compile time",
            list,
        )
        for cls in (dict, collections.OrderedDict)
        for which in ("keys", "values", "items")
    },
    "read-only proxy": Case(
        lambda: types.MappingProxyType({"a": 1}),
        lambda: types.MappingProxyType({"a": 2}),
        "TYPE",
        "v.mapping['a'] was 1 at compile time",
        lambda v: v["a"],
    ),
    "set": Case(
        lambda: {1, 2}, lambda: {1, 3}, "TYPE SET_ITEMS", "v had the items [1, 2] at compile time", lambda v: 1 in v
    ),
    "frozenset": Case(
        lambda: frozenset({1}), lambda: {1}, "TYPE SET_ITEMS", "v was of type frozenset", lambda v: 1 in v
    ),
    "function": Case(lambda: plus_one, lambda: plus_two, "FUNCTION_CODE", "v was ", lambda v: v(1)),
    "closure, by its cell": Case(lambda: adder(1), lambda: adder(2), "FUNCTION_CODE", "`k` in `v`", lambda v: v(1)),
    "cell": Case(lambda: types.CellType(1), lambda: 1, "TYPE", "v was of type cell at", lambda v: isinstance(v, int)),
    "cached function": Case(lambda: cached, lambda: cached_too, "ID", "v was ", lambda v: v(1)),
    "builtin function": Case(lambda: len, lambda: sum, "ID", "v was builtin function len at", lambda v: v([1])),
    "method of a type": Case(lambda: str.upper, lambda: str.lower, "ID", "v was ", lambda v: v("a")),
    "bound method": Case(
        lambda: Other(1).method, lambda: Other(2).method, "TYPE", "v.__self__.n was 1 at", lambda v: v()
    ),
    "bound builtin": Case(
        lambda: [3].index, lambda: [4, 3].index, "TYPE", "v.__self__ was of length 1", lambda v: v(3)
    ),
    "bound builtin, by its name": Case(
        lambda: [3].index, lambda: [3].count, "TYPE", "v.__name__ was 'index' at", lambda v: v(3)
    ),
    "bound slot": Case(
        lambda: (3).__add__, lambda: (3).__sub__, "TYPE", "v.__name__ was '__add__' at", lambda v: v(3)
    ),
    "bound slot, by its object": Case(
        lambda: (3).__add__, lambda: (4).__add__, "TYPE", "v.__self__ was 3 at", lambda v: v(3)
    ),
    "partial": Case(
        lambda: functools.partial(plus_one, 1),
        lambda: functools.partial(plus_one, 2),
        "TYPE",
        "v.args[0] was 1",
        lambda v: v(),
    ),
    "class": Case(lambda: Other, lambda: Config, "ID", "v was class ", lambda v: v(1).n),
    "module": Case(lambda: math, lambda: operator, "ID", "v was module math at", lambda v: v.__name__),
    "generic alias": Case(
        lambda: KEPT_ALIASES[0], lambda: KEPT_ALIASES[1], "ID", "v was ", lambda v: v is KEPT_ALIASES[0]
    ),
    "sentinel": Case(lambda: KEPT_OBJECTS[0], lambda: KEPT_OBJECTS[1], "ID", "v was ", lambda v: v is None),
    "object": Case(
        lambda: Other(1), lambda: Other(2), "TYPE", "v.n was 1 at compile time and is 2 now", lambda v: v.n
    ),
    "object of another class": Case(lambda: Other(1), lambda: Config(1), "TYPE", "v was of type ", lambda v: v.n),
    "namespace": Case(
        lambda: Config(1),
        lambda: Config(1, "d"),
        "TYPE",
        "v.name was 'c' at compile time and is 'd' now",
        lambda v: v.name,
    ),
    "list of the user's": Case(
        lambda: Stack([1]), lambda: Stack([2]), "TYPE LENGTH", "v[0] was 1", lambda v: v.top()
    ),
    "dict of the user's": Case(
        lambda: Table(a=1), lambda: Table(b=1), "TYPE DICT_KEYS", "v had the keys", lambda v: v["a"]
    ),
    "exception": Case(
        lambda: Failed("a"), lambda: Failed("b"), "TYPE", "v.args[0] was 'a' at compile time", lambda v: v.args[0]
    ),
    "module of torch": Case(
        lambda: torch.nn.ReLU(),
        lambda: torch.nn.ReLU(inplace=True),
        "TYPE",
        "v.inplace was False",
        lambda v: v.inplace,
    ),
    "tensor": Case(
        lambda: torch.ones(2),
        lambda: torch.ones(3),
        "TENSOR",
        "v was of shape [2] at compile time and is of shape [3]",
        lambda v: v + 1,
    ),
    "tensor of another dtype": Case(
        lambda: torch.ones(2),
        lambda: torch.ones(2).int(),
        "TENSOR",
        "v was of dtype f32 at compile time and is of dtype i32",
        lambda v: v + 1,
    ),
    "parameter": Case(
        lambda: torch.nn.Parameter(torch.ones(2)),
        lambda: torch.ones(2, requires_grad=True),
        "TENSOR",
        "v was of class ",
        lambda v: v + 1,
    ),
    "itemgetter": Case(lambda: KEPT_GETTERS[0], lambda: KEPT_GETTERS[1], "ID", "v was ", lambda v: v((1, 2))),
    "property": Case(lambda: KEPT_PROPERTIES[0], lambda: KEPT_PROPERTIES[1], "ID", "v was ", lambda v: v.fget),
    "number info": Case(
        lambda: torch.finfo(torch.float32), lambda: torch.iinfo(torch.int8), "TYPE", "v was of type ", str
    ),
}
KEPT_ALIASES = [list[int], list[str]]
KEPT_PROPERTIES = [property(len), property(str)]
KEPT_GETTERS = [operator.itemgetter(0), operator.itemgetter(1)]


def compiled_with(case: Case) -> tuple[Watch, CompiledGuards, Any]:
    def function(x: torch.Tensor, v: Any) -> Any:
        return x + 1, case.use(v), case.make is None

    watch, value = Watch(), case.make()
    compiled = tracer_core.compile(function, backend=watch.backend, options={"raise_internal_faults": True})
    with observing(watch):
        compiled(torch.ones(2), value)
    own = [guard for guard in watch.guards if guard.source.root.name == "v"]
    watch.guards[:] = own
    return watch, compile_guards(own, {}, vars(builtins)), value


@pytest.mark.row("B2", "G3")
@pytest.mark.parametrize("name", CASES)
def test_guards_of_a_value(name: str) -> None:
    case = CASES[name]
    watch, guards, kept = compiled_with(case)
    on_itself = {guard.kind for guard in watch.guards if guard.source.name == "v"}
    assert on_itself >= set(case.kinds.split()), [str(guard) for guard in watch.guards]
    assert guards.check({"v": case.make()}) == -1
    failure = guards.explain({"v": case.changed()})
    assert failure is not None
    assert failure.sentence.startswith(case.sentence)
    assert ". To avoid this, " in failure.sentence and failure.sentence.endswith(".")
    del kept


@pytest.mark.row("G2")
@pytest.mark.parametrize(
    "name", ["int", "item of a list", "dict", "closure, by its cell", "object", "tensor", "enum"]
)
def test_a_guard_knows_the_step_and_the_line_that_asked_for_it(name: str) -> None:
    watch, _, _ = compiled_with(CASES[name])
    assert watch.guards
    for guard in watch.guards:
        assert guard.where is not None and guard.where.place.code is not None
        lines = [line for _, _, line in guard.where.place.code.co_lines()]
        assert guard.where.place.line in lines
        assert guard.rule.name == guard.kind


@pytest.mark.row("G2")
def test_the_lines_are_those_where_each_value_is_first_looked_at() -> None:
    def helper(d):
        return d["k"]

    def function(x, a, d):
        y = x + 1
        y = y * a
        return y + helper(d)

    watch = agree(function, lambda: (torch.ones(2), 2, {"k": 3}))
    asked = {guard.source.name: guard.where for guard in watch.guards if guard.where is not None}
    places = {name: (at.place.code and at.place.code.co_name, at.place.line) for name, at in asked.items()}
    start = function.__code__.co_firstlineno
    assert places["x"] == ("function", start + 1)
    assert places["a"] == ("function", start + 2)
    assert places["d['k']"] == ("helper", helper.__code__.co_firstlineno + 1)
    steps = {name: at.step for name, at in asked.items()}
    assert steps["x"] < steps["a"] < steps["d['k']"]


@pytest.mark.row("B2")
def test_values_that_cannot_be_looked_into_break_by_name() -> None:
    class Weak:
        pass

    held = Weak()
    shown: dict[str, Any] = {
        "a view of bytes": memoryview(b"ab"),
        "an array of Python": array("i", [1]),
        "an int of the user's": type("Number", (int,), {})(3),
        "a hook's handle": torch.ones(2, requires_grad=True).register_hook(lambda g: g),
        "a mapping proxy": types.MappingProxyType({"a": 1}),
    }
    for name, value in shown.items():
        tracer_core.reset()
        watch = Watch()
        compiled = tracer_core.compile(lambda x, v: (x + 1, bool(v), x * 2), backend=watch.backend)
        with observing(watch):
            plain = (torch.ones(2) + 1, bool(value))
            ours = compiled(torch.ones(2), value)
        assert torch.equal(ours[0], plain[0]) and ours[1] == plain[1], name
    del held


@pytest.mark.row("B2")
def test_every_builder_for_a_type_of_python_itself_is_met_by_a_case() -> None:
    """Types that a program cannot pass, or that other tests are about, are listed by name."""
    own = ("builtins", "collections", "functools", "enum")
    values = [case.make() for case in CASES.values()]
    met = {type(value) for value in values}
    elsewhere = _elsewhere()
    missing = {cls for cls in _builders if cls not in met and cls.__module__ in own} - elsewhere
    assert not missing


def _elsewhere() -> set[Any]:
    found: set[Any] = {types.GeneratorType, types.CodeType, types.UnionType}
    found |= {type(NotImplemented), torch.layout, torch.memory_format, torch.iinfo, operator.attrgetter}
    found |= {types.SimpleNamespace, random.Random}
    found |= {types.WrapperDescriptorType, types.ClassMethodDescriptorType, types.GetSetDescriptorType}
    found |= {types.MemberDescriptorType, torch._ops.OpOverload, torch._ops.OpOverloadPacket, weakref.ref, re.Pattern}
    # Iterators have tests of their own.
    found |= {cls for cls in _builders if issubclass(cls, Iterator)}
    return found
