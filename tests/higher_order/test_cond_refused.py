"""What `torch.cond` refuses, as `torch.compile` does, says why, where, and what to try."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import pytest
import torch

import tracer_core
from tests.higher_order import three_ways
from tests.higher_order.three_ways import refused, refused_as_by_torch, torch_refuses

pytestmark = pytest.mark.row("H2")

same_three_ways = functools.partial(three_ways.same_three_ways, back_ends=True)

WEIGHT, OTHER = torch.linspace(-1, 1, 3), torch.linspace(2, 3, 3)


def vector(sign: int = 1) -> tuple[torch.Tensor]:
    return (torch.full((3,), 0.5 * sign),)


class Box:
    """An object of the program."""


def object_operand(x: torch.Tensor) -> Any:
    return torch.cond(x.sum() > 0, lambda a, h: a.sin(), lambda a, h: a.cos(), (x, Box()))


def generated_operands(x: torch.Tensor) -> Any:
    return torch.cond(x.sum() > 0, torch.sin, torch.cos, (a for a in [x]))


def several_elements(x: torch.Tensor) -> Any:
    return torch.cond(x > 0, torch.sin, torch.cos, (x,))


def not_a_function(x: torch.Tensor) -> Any:
    return torch.cond(x.sum() > 0, 3, torch.cos, (x,))  # type: ignore[arg-type]


def too_many_parameters(x: torch.Tensor) -> Any:
    return torch.cond(x.sum() > 0, lambda a, b: a + b, torch.cos, (x,))


def other_dtype(x: torch.Tensor) -> Any:
    return torch.cond(x.sum() > 0, torch.sin, lambda a: a.double(), (x,))


def other_rank(x: torch.Tensor) -> Any:
    return torch.cond(x.sum() > 0, torch.sin, lambda a: a[None] + 1, (x,))


def other_structure(x: torch.Tensor) -> Any:
    return torch.cond(x.sum() > 0, lambda a: (a + 1, a + 2), lambda a: (a + 1,), (x,))


def other_layout(x: torch.Tensor) -> Any:
    return torch.cond(x.sum() > 0, lambda a: torch.zeros(2, 3).t(), lambda a: torch.zeros(3, 2), (x,))


def floats(x: torch.Tensor) -> Any:
    return torch.cond(x.sum() > 0, lambda a: (a.sin(), 1.0), lambda a: (a.cos(), 2.0), (x,))


def bools(x: torch.Tensor) -> Any:
    return torch.cond(x.sum() > 0, lambda a: (a.sin(), True), lambda a: (a.cos(), False), (x,))


def returns_its_input(x: torch.Tensor) -> Any:
    return torch.cond(x.sum() > 0, lambda a: a, torch.cos, (x,))


def writes_to_its_input(x: torch.Tensor) -> Any:
    return torch.cond(x.sum() > 0, lambda a: a.add_(1) * 2, torch.cos, (x,))


def reads_a_value(x: torch.Tensor) -> Any:
    return torch.cond(x.sum() > 0, lambda a: a + 1 if a.sum() > 1 else a, torch.cos, (x,))


def leaks(x: torch.Tensor) -> Any:
    kept = []
    y = torch.cond(x.sum() > 0, lambda a: kept.append(a + 1) or a.sin(), torch.cos, (x,))
    return y + kept[0]


def breaks(x: torch.Tensor) -> Any:
    def branch(a: torch.Tensor) -> torch.Tensor:
        torch._dynamo.graph_break()
        return a + 1

    return torch.cond(x.sum() > 0, branch, torch.cos, (x,))


REFUSED = {
    object_operand: ("operator-refuses", "an object of type Box"),
    generated_operands: ("operator-refuses", "not a list or tuple"),
    several_elements: ("operator-refuses", "not a single element"),
    not_a_function: ("operator-refuses", "true_fn is an object of type int"),
    too_many_parameters: ("body-breaks", "TypeError"),
    other_dtype: ("branches-differ", "different dtypes: float32 (torch.sin) and float64 (<lambda>)"),
    other_rank: ("branches-differ", "different numbers of dimensions: 1 ("),
    other_structure: ("branches-differ", "different structures: (value, value) ("),
    other_layout: ("operation-fails", "strides"),
    floats: ("body-result", "type float"),
    bools: ("body-result", "type bool"),
    returns_its_input: ("body-breaks", "shares memory with"),
    writes_to_its_input: ("body-breaks", "writes to the tensor"),
    reads_a_value: ("body-breaks", "branches on the value"),
    leaks: ("body-breaks", "changes"),
    breaks: ("body-breaks", "graph_break"),
}


@pytest.mark.parametrize("program", REFUSED, ids=lambda program: program.__name__)
def test_what_torch_refuses_is_refused(program: Callable[..., Any]) -> None:
    reason_id, words = REFUSED[program]
    assert "Try: " in refused_as_by_torch(program, vector, reason_id, words)


def test_a_size_is_no_result_of_a_branch() -> None:
    def program(x: torch.Tensor) -> Any:
        return torch.cond(x.sum() > 0, lambda a: a.shape[0], lambda a: a.shape[0] + 1, (x,))

    torch_refuses(program, vector, dynamic=True)
    assert "depends on a size" in str(refused(program, vector, dynamic=True))


def test_no_predicate_is_refused() -> None:
    # torch.compile takes it for false, where torch.cond itself refuses it.
    def program(x: torch.Tensor) -> Any:
        return torch.cond(None, torch.sin, torch.cos, (x,))  # type: ignore[arg-type]

    assert refused(program, vector).reason_id == "operator-refuses"
    with pytest.raises(RuntimeError, match="Expected pred"):
        tracer_core.compile(program, backend="eager")(*vector())
