"""`foreach_map` through the engine, through `torch.compile`, and as plain Python writes it."""

from __future__ import annotations

import functools
from typing import Any

import pytest
import torch
from torch._higher_order_ops import foreach_map

from tests.higher_order import three_ways
from tests.higher_order.three_ways import refused, torch_refuses

pytestmark = pytest.mark.row("H17")

same_three_ways = functools.partial(three_ways.same_three_ways, back_ends=True)


def vector() -> tuple[torch.Tensor]:
    return (torch.linspace(-1, 2, 3).requires_grad_(),)


# (As plain Python, foreach_map takes no function that is not a graph.)


def test_a_function_on_lists_side_by_side() -> None:
    def program(x: torch.Tensor) -> Any:
        a, b = foreach_map(torch.add, [x + 1, x], [x, x * 2])
        return a * b

    def plain(x: torch.Tensor) -> Any:
        return torch.add(x + 1, x) * torch.add(x, x * 2)

    same_three_ways(program, vector, plain=plain)


@pytest.mark.row("O2")
def test_numbers_tensors_and_captured_ones_for_all() -> None:
    def program(x: torch.Tensor) -> Any:
        return foreach_map(lambda a, k, b: a * k + b + x.exp(), [x + 1, x.sin()], 2, x.cos())

    def plain(x: torch.Tensor) -> Any:
        return [each * 2 + x.cos() + x.exp() for each in (x + 1, x.sin())]

    same_three_ways(program, vector, plain=plain)
    same_three_ways(program, vector, plain=plain, dynamic=True)


def test_what_torch_refuses_is_refused() -> None:
    def returns_its_input(x: torch.Tensor) -> Any:
        return foreach_map(lambda a: a, [x + 1, x])

    def writes(x: torch.Tensor) -> Any:
        return foreach_map(lambda a: a.add_(1) * 2, [x + 1, x * 2])

    for program, words in ((returns_its_input, "shares memory with"), (writes, "writes to the tensor")):
        torch_refuses(program, vector)
        error = refused(program, vector)
        assert error.reason_id == "body-breaks"
        assert words in str(error)
