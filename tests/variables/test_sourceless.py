"""Trackers of values that the trace itself made: the value's type and contents, no source, no guard."""

from __future__ import annotations

import collections
import dataclasses
import enum
import functools
import re
import types
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
import torch

import tracer_core
from tests.variables.test_builders import about, guards_of
from tracer_core.errors import Unsupported
from tracer_core.variables.builders.sourceless import SourcelessBuilder
from tracer_core.variables.core.base import VariableTracker

Point = collections.namedtuple("Point", "x y")
Color = enum.Enum("Color", "RED BLUE")


class Plain:
    def method(self) -> int:
        return 3


@dataclasses.dataclass
class Record:
    n: int = 1


def build(value: Any) -> VariableTracker:
    """Its tracker, made without an interpreter: it must be asked for nothing, no guard above all."""
    no_tracing: Any = SimpleNamespace(trace=SimpleNamespace(placeholders={}))
    return SourcelessBuilder(no_tracing)(value)


LITERALS = [
    *(1, 2.5, 3j, "s", b"b", True, None, ..., NotImplemented, torch.float32, torch.device("cpu"), torch.strided),
    *(torch.contiguous_format, Color.RED, re.compile("a+")),
]
KNOWN = [int, Plain, collections, len, Plain.method, torch.relu, list[int], int | str, Plain.method.__code__]
CONTAINERS = [
    *([1, [2]], (1, (2,)), {"a": [1]}, collections.OrderedDict(a=1), {1, 2}, frozenset({1})),
    *(slice(1, 2), range(3), torch.Size([1, 2]), Point(1, 2), collections.deque([1, 2], maxlen=3)),
    *(collections.defaultdict(list, a=1), functools.partial(max, 3, key=abs), types.MappingProxyType({"a": 1})),
]


@pytest.mark.row("B9")
@pytest.mark.parametrize("value", [*LITERALS, *KNOWN], ids=lambda value: type(value).__name__)
def test_what_is_known_for_sure(value: Any) -> None:
    tracker = build(value)
    assert tracker.source is None
    assert tracker.value() is value
    assert issubclass(type(value), tracker.python_type())


@pytest.mark.row("B9")
@pytest.mark.parametrize("value", CONTAINERS, ids=lambda value: type(value).__name__)
def test_containers_and_what_is_in_them(value: Any) -> None:
    tracker = build(value)
    assert tracker.source is None
    assert tracker.python_type() is type(value)
    waiting = [tracker]
    while waiting:
        part = waiting.pop()
        assert part.source is None
        waiting.extend(each for _, each in part.parts())


@pytest.mark.row("B9")
def test_a_bound_method() -> None:
    tracker = build(Color.RED.__class__.__reduce_ex__)
    assert tracker.source is None
    assert tracker.python_type() is types.FunctionType


@pytest.mark.row("B9")
@pytest.mark.parametrize(
    "value",
    [object(), Plain(), iter([1]), (n for n in (1,)), bytearray(b"x")],
    ids=lambda value: type(value).__name__,
)
def test_what_nothing_is_known_of_ends_the_graph_by_name(value: Any) -> None:
    with pytest.raises(Unsupported, match=re.escape(type(value).__name__)):
        build(value)


def partitioned() -> Any:
    return "a-b".partition("-")


def divided() -> Any:
    return divmod(17, 5)


def split() -> Any:
    words = "b a".split()
    words.sort()
    return words


def keyed() -> Any:
    return dict.fromkeys(("a", "b"), 0)


def matched() -> Any:
    found = re.match("(a)(b)?", "ac")
    assert found is not None
    return found.groups(), found.span()


def informed() -> Any:
    return torch.finfo(torch.float16).bits, torch.iinfo(torch.int8).max, torch.promote_types(torch.int8, torch.int32)


def counted() -> Any:
    return collections.Counter("aab").most_common(1), Point(1, 2)._replace(x=5), Record(4)


@pytest.mark.row("B9")
@pytest.mark.parametrize("make", [partitioned, divided, split, keyed, matched, informed, counted])
def test_made_in_a_trace_and_unguarded(make: Callable[[], Any]) -> None:
    def fn(x: torch.Tensor) -> Any:
        return x + 1, make()

    x = torch.ones(2)
    result = tracer_core.compile(fn, backend="eager", fullgraph=True)(x)[1]
    assert result == make()
    assert type(result) is type(make())
    guarded = [text for text in guards_of(fn, x) if not about([text], "make")]
    assert guarded == about(guarded, "x")


@pytest.mark.row("B9")
def test_each_call_gives_an_object_of_its_own() -> None:
    def fn(x: torch.Tensor) -> Any:
        return x + 1, "a b".split(), {"k": [1]}

    compiled = tracer_core.compile(fn, backend="eager", fullgraph=True)
    first, second = compiled(torch.ones(2)), compiled(torch.ones(2))
    assert first[1] is not second[1]
    assert first[2] is not second[2]
    first[2]["k"].append(2)
    assert second[2] == {"k": [1]}
    assert compiled(torch.ones(2))[2] == {"k": [1]}
