"""Calls on fakes that are repeated are computed once, with results as if each were computed."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch.nn import functional

from tests.graph.nested import output_for
from tests.side_by_side import agree
from tracer_core.graph.fake_copy import version_of
from tracer_core.graph.memory import storage_of
from tracer_core.graph.output import OutputGraph
from tracer_core.graph.repeated_calls import CalledMethod
from tracer_core.host.global_state import PROPERTIES
from tracer_core.sources import LocalSource

REAL = {
    "x": torch.randn(2, 3, 4),
    "w": torch.randn(5, 4),
    "b": torch.randn(5),
    "i": torch.tensor([0, 1]),
    "p": torch.randn(4, requires_grad=True),
}
Call = Callable[[Any], tuple[Any, tuple[Any, ...], dict[str, Any]]]


class Calls:
    """Run calls on fakes of `REAL`."""

    def __init__(self) -> None:
        self.output: OutputGraph = output_for(dict(REAL))
        self.fakes = {name: self.output.add_tensor(LocalSource(name), name, real)[1] for name, real in REAL.items()}

    def run(self, function: Any, *args: Any, **kwargs: Any) -> Any:
        return self.output.run_fake(function, args, kwargs)

    def is_remembered(self, function: Any, args: Any, kwargs: Any) -> bool:
        calls = self.output.repeated_calls
        return calls.result(calls.key(function, args, kwargs)) is not None


def facts(tensor: torch.Tensor) -> tuple[Any, ...]:
    return (
        *(tensor.shape, tensor.stride(), tensor.storage_offset(), tensor.dtype, tensor.device, tensor.requires_grad),
        *(tensor._is_view(), tensor.is_leaf, tensor.is_inference(), version_of(tensor)),
        tensor.untyped_storage().nbytes(),
    )


CALLS: dict[str, Call] = {
    "linear": lambda f: (functional.linear, (f["x"], f["w"]), {}),
    "linear with bias": lambda f: (functional.linear, (f["x"], f["w"], f["b"]), {}),
    "an operator": lambda f: (operator.mul, (f["x"], 2), {}),
    "a method": lambda f: (CalledMethod("mean"), (f["x"], -1), {"keepdim": True}),
    "a list": lambda f: (torch.cat, ([f["x"], f["x"]],), {"dim": 1}),
    "a copy": lambda f: (CalledMethod("to"), (f["x"], torch.float64), {}),
    "strides": lambda f: (CalledMethod("sum"), (f["x"].transpose(0, 2), 1), {}),
    "no elements": lambda f: (operator.add, (f["x"][:0], 1), {}),
    "attention": lambda f: (functional.scaled_dot_product_attention, (f["x"],) * 3, {}),
    "a function of Python": lambda f: (functional.layer_norm, (f["x"], (4,)), {}),
}


@pytest.mark.parametrize("mode", [torch.no_grad, torch.enable_grad, torch.inference_mode])
@pytest.mark.parametrize("name", CALLS)
def test_the_second_result_is_as_the_first_one(name: str, mode: Any) -> None:
    calls = Calls()
    with mode():
        function, args, kwargs = CALLS[name](calls.fakes)
        first = calls.run(function, *args, **kwargs)
        assert calls.is_remembered(function, args, kwargs) or first is args[0]
        second = calls.run(function, *args, **kwargs)
        assert facts(second) == facts(first)
        if first is not args[0]:
            assert second is not first
            assert storage_of(second) != storage_of(first)


def test_a_repeated_call_may_raise_as_the_first_one_may() -> None:
    calls, counts = Calls(), []
    for _ in range(3):
        before = calls.output.fakes.operations.may_raise
        calls.run(functional.linear, calls.fakes["x"], calls.fakes["w"])
        counts.append(calls.output.fakes.operations.may_raise - before)
    assert counts == [counts[0]] * 3
    assert counts[0] > 0


NOT_REMEMBERED: dict[str, Call] = {
    "a view": lambda f: (CalledMethod("transpose"), (f["x"], 0, 1), {}),
    "the argument itself": lambda f: (CalledMethod("contiguous"), (f["x"],), {}),
    "a draw": lambda f: (functional.dropout, (f["x"], 0.5), {}),
    "a write": lambda f: (CalledMethod("add_"), (f["x"], 1), {}),
    "a write beside the result": lambda f: (functional.embedding, (f["i"], f["w"]), {"max_norm": 1.0}),
    "a history": lambda f: (operator.mul, (f["p"], 2), {}),
    "no tensor": lambda f: (torch.zeros, (2,), {}),
    "a constant": lambda f: (operator.mul, (torch.tensor(2.0), f["x"]), {}),
}


@pytest.mark.parametrize("name", NOT_REMEMBERED)
def test_a_call_that_does_more_than_compute_is_run_again(name: str) -> None:
    calls = Calls()
    function, args, kwargs = NOT_REMEMBERED[name](calls.fakes)
    calls.run(function, *args, **kwargs)
    assert not calls.is_remembered(function, args, kwargs)


def test_equal_numbers_of_other_types_are_other_arguments() -> None:
    calls, numbers = Calls(), [1, 1.0, True]
    for _ in range(2):
        results = [calls.run(operator.add, calls.fakes["i"], number).dtype for number in numbers]
        assert results == [(REAL["i"] + number).dtype for number in numbers]
        assert results == [torch.int64, torch.float32, torch.int64]


def test_settings_that_the_program_changes_are_seen() -> None:
    def function(i, x):
        before = i / 2
        torch.set_default_dtype(torch.float64)
        inside = i / 2
        torch.set_default_dtype(torch.float32)
        with torch.autocast("cpu", dtype=torch.bfloat16):
            product = x @ x
        return before, inside, i / 2, product, x @ x

    agree(function, lambda: (torch.tensor([1, 2]), torch.ones(3, 3)))


def test_gradients_that_the_program_switches_on_are_seen() -> None:
    def function(x, p):
        with torch.no_grad():
            without = x * p
        return without.requires_grad, (x * p).requires_grad, x * p

    agree(function, lambda: (torch.ones(3), torch.ones(3, requires_grad=True)))


def test_transforms_are_seen() -> None:
    def function(x):
        plain = torch.sin(x)
        return plain, torch.func.vmap(lambda row: torch.sin(x) + torch.sin(row))(x), torch.sin(x)

    agree(function, lambda: (torch.ones(3, 3),))


def test_values_of_settings_can_be_part_of_a_key() -> None:
    for setting in PROPERTIES.values():
        hash(setting.read())
