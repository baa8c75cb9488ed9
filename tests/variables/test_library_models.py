"""What models of other libraries use around tensors: dicts of their own, signatures, module containers, `super()`."""

from __future__ import annotations

import collections
import collections.abc
import inspect
from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.fx

import tracer_core
from tests.back_ends import Graphs

SETTINGS = {"raise_internal_faults": True}


def both(function: Callable[..., Any], *args: Any) -> tuple[Any, Any, int]:
    """The results of plain Python and of the engine, and how many graphs the engine made."""
    backend = Graphs()
    tracer_core.reset()
    compiled = tracer_core.compile(function, backend=backend, options=SETTINGS)
    return function(*args), compiled(*args), len(backend.graphs)


class Output(collections.OrderedDict):  # type: ignore[type-arg]
    """Like a model's output: items are attributes too, and numbers index the values."""

    def __setitem__(self, key: str, value: Any) -> None:
        super().__setitem__(key, value)
        super().__setattr__(key, value)

    def __getitem__(self, key: Any) -> Any:
        return super().__getitem__(key) if isinstance(key, str) else tuple(self.values())[key]


class Registry(dict):  # type: ignore[type-arg]
    def __missing__(self, key: str) -> int:
        return 7


@pytest.mark.row("I10")
def test_a_dict_subclass_made_in_the_trace() -> None:
    def function(x: torch.Tensor) -> Any:
        out = Output()
        out["hidden"] = x + 1
        out["logits"] = out["hidden"] * 2
        return out, out[1], len(out), "logits" in out, list(out)

    plain, ours, graphs = both(function, torch.ones(2))
    assert graphs == 1
    assert type(ours[0]) is Output
    assert list(ours[0].items())[1][0] == "logits"
    assert ours[0].logits is ours[0]["logits"] is ours[1]
    assert torch.equal(ours[1], plain[1])
    assert ours[2:] == plain[2:]


@pytest.mark.row("I10")
def test_a_dict_subclass_from_outside_is_read_and_changed() -> None:
    def function(x: torch.Tensor, registry: Registry) -> Any:
        registry["new"] = x * 2
        return x * registry["scale"] + registry["absent"], len(registry)

    first, second = Registry(scale=3), Registry(scale=3)
    plain = function(torch.ones(2), first)
    _, ours, graphs = both(lambda x: function(x, second), torch.ones(2))
    assert graphs == 1
    assert torch.equal(plain[0], ours[0])
    assert list(second) == list(first)
    assert torch.equal(second["new"], torch.full((2,), 2.0))


class Base:
    def scaled(self, x: torch.Tensor) -> torch.Tensor:
        return x * 3


class Derived(Base):
    def scaled(self, x: torch.Tensor) -> torch.Tensor:
        x = x + 1
        torch._dynamo.graph_break()
        return super().scaled(x)


class Captured(Base):
    def scaled(self, x: torch.Tensor) -> torch.Tensor:
        x = x + 1
        itself = lambda: self  # noqa: E731
        torch._dynamo.graph_break()
        x = super().scaled(x)
        torch._dynamo.graph_break()
        return super().scaled(x) if itself() is self else x


@pytest.mark.row("O6")
@pytest.mark.parametrize("cls", [Derived, Captured])
def test_super_without_arguments_after_a_break(cls: type[Base]) -> None:
    plain, ours, graphs = both(cls().scaled, torch.ones(2))
    assert torch.equal(plain, ours)
    assert graphs >= 2


class Pairs(collections.abc.Sequence[int]):
    """Its `__iter__` is the base class's generator, which waits inside `try: ... except IndexError`."""

    def __len__(self) -> int:
        return 3

    def __getitem__(self, index: Any) -> int:
        return (2, 4, 6)[index]  # type: ignore[no-any-return]


def _watched(seen: list[str]) -> Any:
    try:
        yield 1
        yield 2
    except GeneratorExit:
        seen.append("dropped")
        raise


@pytest.mark.row("I8")
def test_a_generator_dropped_where_only_other_exceptions_are_caught() -> None:
    def function(x: torch.Tensor, pairs: Pairs) -> Any:
        for a, b in zip([1, 2], pairs, strict=False):
            x = x * a + b
        return x

    plain, ours, graphs = both(function, torch.ones(2), Pairs())
    assert graphs == 1
    assert torch.equal(plain, ours)


@pytest.mark.row("I8")
def test_a_generator_that_sees_itself_dropped() -> None:
    seen: list[str] = []

    def function(x: torch.Tensor) -> Any:
        for number in _watched(seen):
            return x + number

    plain, ours, _ = both(function, torch.ones(2))
    assert torch.equal(plain, ours)
    assert seen == ["dropped", "dropped"]


@pytest.mark.row("B3")
def test_the_signature_of_a_bound_method() -> None:
    class Model:
        def chunk(self, a: Any, b: Any = 1) -> Any:
            return a

        def forward(self, x: torch.Tensor) -> Any:
            return x + len(inspect.signature(self.chunk).parameters), len(inspect.signature(Model.chunk).parameters)

    plain, ours, graphs = both(Model().forward, torch.ones(2))
    assert (graphs, ours[1]) == (1, 3)
    assert torch.equal(plain[0], ours[0])


@pytest.mark.row("B11")
def test_a_slice_of_a_module_list() -> None:
    class Model(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layers = torch.nn.ModuleList(torch.nn.Linear(2, 2) for _ in range(4))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            for layer in self.layers[1:3]:
                x = layer(x)
            return x

    plain, ours, graphs = both(Model(), torch.ones(2))
    assert graphs == 1
    assert torch.equal(plain, ours)


@pytest.mark.row("F10")
def test_the_trace_answers_that_it_compiles() -> None:
    assert both(lambda x: (x + 1, torch.compiler.is_compiling()), torch.ones(2))[1][1] is True
