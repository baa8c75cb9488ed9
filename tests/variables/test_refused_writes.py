"""Writes of attributes that Python refuses: every attribute kept in C, of objects of many types, set and deleted
inside a `try`. The program must see plain Python's exception, its words, and its own handler entered."""

from __future__ import annotations

import collections
import dataclasses
import enum
import functools
import re
import types
from collections.abc import Callable
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import tracer_core

OPTIONS = {"raise_internal_faults": True}


class Plain:
    kept = 1


class Slots:
    __slots__ = ("a", "b")
    kept = 1


class SlotsAndReferences:
    __slots__ = ("__weakref__", "a")


class SlotsBelow(Plain):
    __slots__ = ("a",)


class Number(int):
    pass


class BareNumber(int):
    __slots__ = ()


class Text(str):
    pass


class Items(list):  # type: ignore[type-arg]
    pass


class ItemsAndSlot(list):  # type: ignore[type-arg]
    __slots__ = ("a",)


class Table(dict):  # type: ignore[type-arg]
    pass


class Queue(collections.deque):  # type: ignore[type-arg]
    pass


class Row(tuple):  # type: ignore[type-arg]
    pass


class Real(float):
    pass


class Raw(bytes):
    pass


class Group(set):  # type: ignore[type-arg]
    pass


class Defaults(collections.defaultdict):  # type: ignore[type-arg]
    pass


class Failure(Exception):
    pass


class SystemFailure(OSError):
    pass


class FailureWithSlot(KeyError):
    __slots__ = ("a",)


class Applied(functools.partial):  # type: ignore[type-arg]
    pass


class Properties:
    @property
    def read(self) -> int:
        return 1

    @property
    def written(self) -> int:
        return 1

    @written.setter
    def written(self, value: Any) -> None: ...

    @functools.cached_property
    def cached(self) -> int:
        return 2

    def method(self) -> None: ...


class Passing:
    def __setattr__(self, name: str, value: Any) -> None:
        object.__setattr__(self, name, value)

    def __delattr__(self, name: str) -> None:
        object.__delattr__(self, name)


@dataclasses.dataclass(frozen=True)
class Frozen:
    a: int = 1


Pair = collections.namedtuple("Pair", "a b")


def function(a: int, b: int = 1) -> int:
    return a


def fresh_function() -> Any:
    return types.FunctionType(function.__code__, {"__name__": __name__}, "fresh", (1,))


OBJECTS: dict[str, Callable[[], Any]] = {
    **{cls.__name__: cls for cls in (Plain, Slots, SlotsAndReferences, SlotsBelow, Properties, Passing, Frozen)},
    **{cls.__name__: functools.partial(cls, 3) for cls in (Number, BareNumber, Text, Real)},
    **{cls.__name__: functools.partial(cls, [1, 2]) for cls in (Items, ItemsAndSlot, Queue, Row, Raw, Group)},
    "Table": lambda: Table(a=1),
    "Defaults": lambda: Defaults(int),
    **{cls.__name__: functools.partial(cls, 1) for cls in (Failure, SystemFailure, FailureWithSlot, StopIteration)},
    "UnicodeDecodeError": lambda: UnicodeDecodeError("utf-8", b"x", 0, 1, "why"),
    "ExceptionGroup": lambda: ExceptionGroup("many", [ValueError()]),
    "SystemExit": lambda: SystemExit(2),
    "Applied": lambda: Applied(function, 1),
    "partial": lambda: functools.partial(function, 1),
    "function": fresh_function,
    "lambda": lambda: lambda q=1: q,
    "method": lambda: Properties().method,
    "builtin method": lambda: [].append,
    "generator": lambda: (n for n in (1, 2)),
    "list iterator": lambda: iter([1]),
    "module": lambda: types.ModuleType("made"),
    "nn.Module": torch.nn.ReLU,
    "named tuple": lambda: Pair(1, 2),
    "enum member": lambda: next(iter(enum.Enum("Color", "RED"))),
    "int": lambda: 3,
    "bool": lambda: True,
    "None": lambda: None,
    "str": lambda: "text",
    "bytes": lambda: b"text",
    "list": lambda: [1],
    "tuple": lambda: (1,),
    "dict": lambda: {"a": 1},
    "set": lambda: {1},
    "deque": lambda: collections.deque([1], 3),
    "defaultdict": lambda: collections.defaultdict(int),
    "OrderedDict": lambda: collections.OrderedDict(a=1),
    "range": lambda: range(3),
    "slice": lambda: slice(1, 2),
    "property": lambda: property(lambda self: 1),
    "object": object,
    "class": lambda: type("Made", (Plain,), {"a": 1}),
}
ALSO = ("nope", "a", "kept", "read", "__class__", "__dict__", "__weakref__", "__doc__", "__module__", "__nope__")
FROM_OUTSIDE = {"module", "class", "function", "enum member"}

WRITES = ("o.{0} = None", "o.{0} = 1", "o.{0} = OTHER", "del o.{0}")
PROGRAM = """
def program(x, o=None):
    y = x + 1
    if o is None:
        o = MAKE()
    where = []
    try:
        {write}
        where.append("done")
    except AttributeError as error:
        where += ["handler of AttributeError", type(error).__name__, str(error)]
    except Exception as error:
        where += ["handler", type(error).__name__, str(error)]
    return y, where
"""


class Other:
    pass


def kept_in_c(obj: Any) -> list[str]:
    cls = type(obj)
    found = {name: next(vars(base)[name] for base in cls.__mro__ if name in vars(base)) for name in names_of(cls)}
    return [
        name
        for name, each in found.items()
        if isinstance(each, types.GetSetDescriptorType | types.MemberDescriptorType)
    ]


def names_of(cls: type) -> set[str]:
    return {name for base in cls.__mro__ for name in vars(base)}


def outcome(write: str, make: Callable[[], Any], inside: bool, compiled: bool) -> str:
    namespace = {"MAKE": make, "OTHER": Other, "__name__": __name__}
    exec(compile(PROGRAM.format(write=write), "<program>", "exec"), namespace)
    program: Any = namespace["program"]
    if compiled:
        program = tracer_core.compile(program, backend="eager", options=OPTIONS)
    try:
        _, where = program(torch.ones(1)) if inside else program(torch.ones(1), make())
    except Exception as error:  # noqa: BLE001
        where = ["left by", type(error).__name__, str(error)]
    return re.sub("0x[0-9a-f]+", "0x...", str(where))


def check(write: str, make: Callable[[], Any], inside: bool) -> None:
    expected = outcome(write, make, inside, compiled=False)
    assert outcome(write, make, inside, compiled=True) == expected, write


@pytest.mark.row("O7")
@pytest.mark.parametrize("kind", OBJECTS)
def test_what_is_kept_in_c_refuses_in_pythons_words(kind: str) -> None:
    tracer_core.reset()
    make = OBJECTS[kind]
    kept = kept_in_c(make())
    for name in sorted({*kept, *ALSO}):
        for write in WRITES if name in kept else (WRITES[0], WRITES[-1]):
            check(write.format(name), make, inside=False)
            if kind not in FROM_OUTSIDE and write != "o.{0} = 1":
                check(write.format(name), make, inside=True)


BASES = (object, int, str, list, dict, set, tuple, float, bytes, collections.deque, Exception, functools.partial)
ARGUMENTS: dict[Any, tuple[Any, ...]] = {functools.partial: (function,)}
VALUES = ("None", "0", "'text'", "()", "{}", "[]", "OTHER", "OTHER()", "ValueError()", "len")


@settings(max_examples=60, deadline=None)
@given(
    base=st.sampled_from(BASES),
    slots=st.sampled_from([None, (), ("a",), ("__dict__",), ("a", "__dict__")]),
    held=st.sampled_from([{}, {"kept": 1}, {"kept": property(lambda self: 1)}, {"kept": function}]),
    value=st.sampled_from(VALUES),
    delete=st.booleans(),
    inside=st.booleans(),
    data=st.data(),
)
def test_classes_of_any_shape(
    base: type, slots: Any, held: dict[str, Any], value: str, delete: bool, inside: bool, data: st.DataObject
) -> None:
    tracer_core.reset()
    refused = base in (int, tuple, bytes) or ("__dict__" in (slots or ()) and base.__dictoffset__)
    has_slots = slots == () or (slots and not refused)
    cls = type("Shaped", (base,), {**held, **({"__slots__": slots} if has_slots else {})})
    make = functools.partial(cls, *ARGUMENTS.get(base, ()))
    name = data.draw(st.sampled_from(sorted({*kept_in_c(make()), "a", "kept", "nope"})))
    check(f"del o.{name}" if delete else f"o.{name} = {value}", make, inside)
