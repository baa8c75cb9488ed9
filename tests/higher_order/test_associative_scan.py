"""`associative_scan` as plain Python, through the engine and through `torch.compile`."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch._higher_order_ops import associative_scan

from tests.higher_order import three_ways
from tests.higher_order.three_ways import refused_as_by_torch

pytestmark = pytest.mark.row("H4")

same_three_ways = functools.partial(three_ways.same_three_ways, back_ends=True)

operator = torch.ops.higher_order.associative_scan


def matrix() -> tuple[torch.Tensor]:
    return (torch.linspace(-1, 2, 6).reshape(2, 3),)


def over_rows(x: torch.Tensor) -> Any:
    return associative_scan(torch.add, x + 1, dim=0, combine_mode="generic") * 2


def over_columns_backwards(x: torch.Tensor) -> Any:
    return associative_scan(lambda a, b: a * b, x + 1, dim=1, reverse=True, combine_mode="generic")


def containers(x: torch.Tensor) -> Any:
    def step(a: Any, b: Any) -> Any:
        return {"p": a["p"] + b["p"], "q": [a["q"][0] * b["q"][0]]}

    return associative_scan(step, {"p": x, "q": [x + 1]}, 1, combine_mode="generic")


@pytest.mark.parametrize("program", [over_rows, over_columns_backwards, containers], ids=lambda each: each.__name__)
def test_the_function_computes_without_the_operator(program: Callable[..., Any]) -> None:
    # Of an odd number of slices, torch.compile's graph pads one by the function below torch.nn.functional.pad.
    same_three_ways(program, lambda: (matrix()[0].requires_grad_(),), graphs=program is over_rows)


# (The graphs of torch.compile have the slices that it took to trace the function, which nothing reads.)


def by_the_operator(x: torch.Tensor) -> Any:
    return operator(lambda a, b: [a + b], [x + 1], ())[0] * 2


def several_tensors(x: torch.Tensor) -> Any:
    return operator(lambda a, b, c, d: [a + c, b * d], [x + 1, x * 2], ())


def captured_and_additional(x: torch.Tensor) -> Any:
    k = x.mean()
    return operator(lambda a, b, c: [a + b * k + c], [x + 1], (x.sum(),))


@pytest.mark.row("O2")
@pytest.mark.parametrize("program", [by_the_operator, several_tensors], ids=lambda program: program.__name__)
def test_the_operator(program: Callable[..., Any]) -> None:
    same_three_ways(program, matrix, graphs=False)


@pytest.mark.row("O2")
def test_the_operator_with_captured_tensors_under_dynamic_shapes() -> None:
    same_three_ways(captured_and_additional, matrix, dynamic=True, graphs=False, back_ends=False)


# --- what is refused ------------------------------------------------------------------------------------------


def pointwise_on_the_cpu(x: torch.Tensor) -> Any:
    return associative_scan(torch.add, x, dim=0)


def other_dtype(x: torch.Tensor) -> Any:
    return operator(lambda a, b: [(a + b).double()], [x + 1], ())


def other_number(x: torch.Tensor) -> Any:
    return operator(lambda a, b: [a + b, a * b], [x + 1], ())


def no_rows(x: torch.Tensor) -> Any:
    return operator(lambda a, b: [a + b], [x[:0]], ())


def writes(x: torch.Tensor) -> Any:
    return operator(lambda a, b: [a.add_(b) * 1], [x + 1], ())


def returns_its_input(x: torch.Tensor) -> Any:
    return operator(lambda a, b: [a], [x + 1], ())


def reads_a_value(x: torch.Tensor) -> Any:
    return operator(lambda a, b: [a + b if a.sum() > 0 else a - b], [x + 1], ())


REFUSED = {
    pointwise_on_the_cpu: ("exception-leaves", "need to be on CUDA"),
    other_dtype: ("carried-differs", "dtypes differ: float32 given, float64 returned"),
    other_number: ("carried-differs", "numbers of values differ: 1 given, 2 returned"),
    no_rows: ("operator-refuses", "no slices"),
    writes: ("body-breaks", "writes to the tensor"),
    returns_its_input: ("body-breaks", "shares memory with"),
    reads_a_value: ("body-breaks", "branches on the value"),
}


@pytest.mark.parametrize("program", REFUSED, ids=lambda program: program.__name__)
def test_what_torch_refuses_is_refused(program: Callable[..., Any]) -> None:
    reason_id, words = REFUSED[program]
    refused_as_by_torch(program, matrix, reason_id, words)
