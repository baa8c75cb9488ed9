"""Functions of numbers break the graph at a tensor, as it has the number in its data."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

import pytest
import torch

import tracer_core
from tracer_core.errors import Unsupported

pytestmark = pytest.mark.row("I14")

CALLS: list[tuple[Callable[[torch.Tensor], Any], str]] = [
    (lambda x: math.isnan(x), "math.isnan()"),
    (lambda x: math.floor(x), "math.floor()"),
    (lambda x: math.pow(2, x), "math.pow()"),
    (lambda x: math.isclose(x, 1.5, rel_tol=0.1), "math.isclose()"),
    (lambda x: operator.index(x.long()), "operator.index()"),
    (lambda x: complex(x), "complex()"),
    (lambda x: complex(1, x), "complex()"),
    (lambda x: x.__complex__(), "complex()"),
]


@pytest.mark.parametrize(("function", "name"), CALLS)
def test_breaks_at_the_data(function: Callable[[torch.Tensor], Any], name: str) -> None:
    x = torch.tensor(1.5)
    with pytest.raises(Unsupported) as raised:
        tracer_core.compile(function, backend="eager", fullgraph=True)(x)
    assert raised.value.reason_id == "tensor-data" and f"({name} on " in str(raised.value)
    tracer_core.reset()
    assert tracer_core.compile(function, backend="eager")(x) == function(x)


def test_functions_of_iterables_stay_in_the_graph() -> None:
    x = torch.tensor([1.5, 2.0])
    assert torch.equal(tracer_core.compile(math.prod, backend="eager", fullgraph=True)(x), x.prod())
