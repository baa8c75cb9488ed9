"""Inputs that share memory, one of them changed in place: the same results as plain Python with any back end."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

import tracer_core


def add_then_read(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    a.add_(1)
    return b * 2 + a


def change_views(x: torch.Tensor, y: torch.Tensor) -> Any:
    flat, first = x.view(-1), x[:1]
    flat.mul_(2)
    first.add_(1)
    return flat + 1, first * 2, x.sum() + y.sum()


def runs(function: Callable[..., Any]) -> list[Any]:
    """Separate inputs first, then one memory twice, overlapping views, parts of one tensor, separate ones again."""
    seen: list[Any] = []
    for slices in (None, (slice(3), slice(3)), (slice(3), slice(1, 4)), (slice(3), slice(3, 6)), None):
        base, other = torch.arange(6.0), torch.full((3,), 5.0)
        a, b = (base[:3], other) if slices is None else (base[slices[0]], base[slices[1]])
        seen.append((function(a, b), base.clone(), other.clone()))
    same = torch.ones(3)
    seen.append((function(same, same), same.clone()))
    return seen


@pytest.mark.row("O7")
@pytest.mark.parametrize("function", [add_then_read, change_views])
@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
def test_results_and_changes(function: Callable[..., Any], backend: str) -> None:
    expected = runs(function)
    ours = runs(tracer_core.compile(function, backend=backend, options={"raise_internal_faults": True}))
    torch.testing.assert_close(ours, expected, rtol=0, atol=0)
