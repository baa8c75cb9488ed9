"""What the recording takes a live object for: classes, and objects that lie about themselves, fool nobody."""

from __future__ import annotations

import copy
import operator
import sys
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import tracewalk as tw
from tracer_core.recording.facts import args_text, clean, fake_meta, fakes_in, target_text
from tracer_core.recording.kinds import is_a, plain_attribute, torch_type, type_name


def forbidden(*_: Any, **__: Any) -> Any:
    raise AssertionError("no code of the program runs")


class OddMeta(type):
    """A class of this class claims everything, and cannot be hashed, compared or shown."""

    __instancecheck__ = __subclasscheck__ = lambda cls, other: True
    __eq__ = __repr__ = __call__ = forbidden
    __hash__ = None  # type: ignore[assignment]

    @property
    def __name__(cls) -> str:
        raise AssertionError("no code of the program runs")


def odd_class(*bases: type) -> type:
    """A class whose instances answer every question wrongly."""
    methods = ("getattr", "eq", "bool", "repr", "str", "len", "iter", "hash", "getitem", "contains", "call")
    namespace: dict[str, Any] = {f"__{name}__": forbidden for name in methods}
    namespace["__class__"] = property(lambda self: torch.Tensor)
    namespace["__dict__"] = property(forbidden)
    return OddMeta("Odd", bases, namespace)


def odd(*bases: type) -> Any:
    base = bases[0] if bases else object
    return base.__new__(odd_class(*bases))


class Answers:
    """An instance that has every attribute."""

    def __getattr__(self, name: str) -> Any:
        return "lies"


class OfTensor(torch.Tensor):
    """A subclass whose every use runs code of the program."""

    @classmethod
    def __torch_function__(cls, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        raise AssertionError("no code of the program runs")


NO_TENSORS: dict[str, Callable[[], Any]] = {
    "the class Tensor": lambda: torch.Tensor,
    "the class Parameter": lambda: torch.nn.Parameter,
    "the class SymInt": lambda: torch.SymInt,
    "a dtype": lambda: torch.float32,
    "a descriptor of Tensor": lambda: torch.Tensor.shape,
    "a storage": lambda: torch.ones(2).untyped_storage(),
    "an odd instance": odd,
    "an odd class": odd_class,
    "an odd tuple": lambda: odd(tuple),
    "an odd dict": lambda: odd(dict),
    "an odd list": lambda: odd(list),
    "an instance with every attribute": Answers,
    "an instance with a dtype": lambda: SimpleNamespace(dtype=torch.float32, shape=(), node=None),
    "a module": lambda: torch,
    "nothing": lambda: None,
}


@pytest.mark.parametrize("make", NO_TENSORS.values(), ids=NO_TENSORS)
def test_what_is_no_tensor_is_not_taken_for_one(make: Callable[[], Any]) -> None:
    value = make()
    assert fake_meta(value) is None
    assert list(fakes_in(value)) == []
    assert list(fakes_in({"a": [(value,)]})) == []


@pytest.mark.parametrize(
    ("make", "kind", "device"),
    [
        (lambda: torch.ones(2, 3), "Tensor", "cpu"),
        (lambda: torch.ones(2, 3, device="meta"), "Tensor", "meta"),
        (lambda: torch.nn.Parameter(torch.ones(2, 3)), "Parameter", "cpu"),
        (lambda: torch.ones(2, 3).as_subclass(OfTensor), "OfTensor", "cpu"),
        (lambda: torch.nn.Buffer(torch.ones(2, 3)), "Tensor", "cpu"),
    ],
)
def test_tensors_of_every_kind(make: Callable[[], Any], kind: str, device: str) -> None:
    meta = fake_meta(make())
    assert meta is not None
    assert (meta.type, meta.dtype, meta.shape, meta.stride) == (kind, "float32", ["2", "3"], ["3", "1"])
    assert (meta.device, meta.requires_grad) == (device, kind == "Parameter")


def test_results_of_subclasses_are_looked_into_without_their_code() -> None:
    class Pair(tuple):  # noqa: SLOT001
        __iter__ = __len__ = __getitem__ = forbidden

    class Named(dict):
        values = items = keys = __iter__ = forbidden

    one, two = torch.ones(1), torch.ones(2)
    assert [tensor.numel() for tensor in fakes_in(Pair((one, Named(a=two))))] == [1, 2]


class Callables:
    def method(self) -> None: ...

    @property
    def __name__(self) -> str:
        raise AssertionError("no code of the program runs")

    def __call__(self) -> None: ...


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (odd, "<Odd>"),
        (Answers, "<Answers>"),
        (Callables, "<Callables>"),
        (lambda: Callables().method, f"{__name__}.Callables.method"),
        (lambda: Callables, f"{__name__}.Callables"),
        (lambda: operator.itemgetter(1), "<itemgetter>"),
        (lambda: torch.Tensor, "torch.Tensor"),
        (lambda: torch.Tensor.add, "torch.add"),
        (lambda: torch.ops.higher_order.cond, "torch.ops.higher_order.cond"),
    ],
)
def test_targets_that_are_odd(make: Callable[[], Any], text: str) -> None:
    assert target_text(make()) == text


def args(*values: Any) -> str:
    """The text of these arguments of a node."""
    return args_text(SimpleNamespace(args=values, kwargs={}, all_input_nodes=[]))


def test_arguments_that_are_odd() -> None:
    class Sized(dict):
        items = forbidden

    class dtype:  # noqa: N801
        __module__ = "torch"
        __str__ = __repr__ = forbidden

    assert args(odd()) == "<Odd>"
    assert args(Answers()) == "<Answers>"
    assert args(dtype()) == "<dtype>"
    assert (
        args(Sized(a=1), torch.float32, torch.nn.Parameter(torch.ones(1))) == "{'a': 1}, torch.float32, <Parameter>"
    )
    assert args(torch.Tensor, [int, odd(tuple)]) == "torch.Tensor, [int, ()]"


def test_texts_that_are_odd() -> None:
    assert clean(odd()) == "<Odd>"
    assert clean(odd(str)) == ""


def test_classes_are_named_past_their_metaclass() -> None:
    assert type_name(odd()) == "Odd"
    assert not is_a(odd(), torch.Tensor, int)
    assert is_a(odd(int), int)
    assert plain_attribute(odd(), "__name__") is None
    assert plain_attribute(Answers(), "__name__") is None
    assert torch_type("nn.functional") is None


def test_copying_a_tensor_is_recorded() -> None:
    """`__reduce_ex__`, which gives the class torch.Tensor among its results, breaks the graph by its name."""
    trace = tw.trace(lambda x: copy.copy(x) * 2, torch.ones(2))
    assert trace.faults == []
    assert trace.lost == []
    assert ["__reduce_ex__" in one.message for one in trace.breaks] == [True]


_classes = st.sampled_from([tuple, list, dict])


@settings(max_examples=60)
@given(st.lists(st.tuples(_classes, st.booleans()), max_size=4))
def test_nests_of_odd_objects(kinds: list[tuple[type, bool]]) -> None:
    """However they are nested, odd objects are named by their types, and nothing of theirs runs."""
    value: Any = torch.ones(2)
    expected = 1
    for kind, is_odd in kinds:
        if is_odd:
            value, expected = odd(kind), 0
        else:
            value = (value,) if kind is tuple else {"k": value} if kind is dict else [value]
    assert len(list(fakes_in(value))) == expected
    assert isinstance(args(value), str)


@torch.compiler.allow_in_graph
def gives_class(x: torch.Tensor) -> Any:
    return x + 1, torch.nn.Parameter, torch.float32


@torch.compiler.allow_in_graph
def takes_class(x: torch.Tensor, value: Any) -> Any:
    return x * 2


def _programs() -> Iterator[Callable[[torch.Tensor], Any]]:
    yield lambda x: gives_class(x)[0] * 2
    yield lambda x: copy.deepcopy(x) + 1
    yield lambda x: x.__reduce_ex__(4)[0] is not None
    yield lambda x: type(x)
    yield lambda x: takes_class(x, torch.Tensor)
    yield lambda x: x.new_tensor([1.0]) + x


@pytest.mark.parametrize("program", list(_programs()))
def test_programs_with_classes_in_the_graph(program: Callable[[torch.Tensor], Any]) -> None:
    with tw.record() as trace:
        came = program(torch.ones(2))
    expected = program(torch.ones(2))
    same = torch.equal(came, expected) if isinstance(expected, torch.Tensor) else came == expected
    assert same
    assert trace.faults == []
    assert trace.lost == []


def test_recording_asks_no_isinstance() -> None:
    """The modules that look at live objects ask by `kinds` alone."""
    from pathlib import Path

    folder = Path(sys.modules["tracer_core.recording"].__file__ or "").parent
    for name in ("calls", "codes", "facts", "graphs", "recorder", "source_names", "stepping", "trackers", "work"):
        text = (folder / f"{name}.py").read_text(encoding="utf-8")
        assert not {word for word in ("isinstance(", "issubclass(", "hasattr(") if word in text}, name
