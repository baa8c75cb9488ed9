"""What values are called before people."""

from __future__ import annotations

import operator
from typing import Any

import pytest
import torch
import torch.nn.functional as F

from tracer_core.sources import LocalSource
from tracer_core.variables.functions import name_of
from tracer_core.variables.lazy import LazyVariable


@pytest.mark.parametrize(
    ("function", "name"),
    [
        (torch.arange, "torch.arange"),
        (torch.relu, "torch.relu"),
        (F.gelu, "torch.nn.functional.gelu"),
        (F.softmax, "torch.nn.functional.softmax"),
        (operator.add, "operator.add"),
        (len, "len"),
    ],
)
def test_functions_have_the_names_they_are_called_by(function: Any, name: str) -> None:
    assert name_of(function) == name


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (torch.ones(2, 3), "Tensor f32[2, 3]"),
        (torch.nn.Parameter(torch.ones(4, dtype=torch.float64)), "Parameter f64[4]"),
        (torch.eye(2).to_sparse(), "Tensor"),
        (3, "int"),
    ],
)
def test_values_that_were_not_looked_at_yet(value: Any, text: str) -> None:
    def never(value: Any, source: Any) -> Any:
        raise AssertionError("it was looked at")

    assert LazyVariable(value, LocalSource("x"), never).describe() == text
