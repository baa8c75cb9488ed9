"""Launches of Triton kernels break the graph by name. (`torch.compile` captures them only where there is a GPU.)"""

from __future__ import annotations

import types
from typing import Any

import pytest
import torch

import tracer_core
from tests.higher_order.three_ways import agree, outcome, refused

pytestmark = pytest.mark.row("F9")

# As Triton's own module for kernels, of which this needs no more: a kernel is launched by `kernel[grid](...)`.
JIT = types.ModuleType("triton.runtime.jit")
exec(  # noqa: S102 - the functions belong to a module of that name
    """
class JITFunction:
    def __init__(self, fn):
        self.fn = fn

    def __getitem__(self, grid):
        return lambda *args, **kwargs: self.run(*args, grid=grid, **kwargs)

    def run(self, *args, grid, **kwargs):
        for index in range(grid[0]):
            self.fn(index, *args, **kwargs)
""",
    JIT.__dict__,
)


def rows(index: int, x: torch.Tensor, out: torch.Tensor) -> None:
    out[index] = x[index].item() * 2


KERNEL: Any = JIT.JITFunction(rows)


def by_subscript(x: torch.Tensor) -> torch.Tensor:
    out = torch.empty_like(x)
    KERNEL[(x.numel(),)](x, out)
    return out + 1


def by_run(x: torch.Tensor) -> torch.Tensor:
    out = torch.empty_like(x)
    KERNEL.run(x, out, grid=(x.numel(),))
    return out + 1


@pytest.mark.parametrize("program", [by_subscript, by_run])
def test_a_launch_breaks_by_name_and_runs(program: Any) -> None:
    arguments = lambda: (torch.arange(4.0),)
    error = refused(program, arguments)
    assert error.reason_id == "skipped-function"
    assert "triton.runtime.jit.JITFunction" in error.message
    assert "launches a Triton kernel" in error.message
    agree(outcome(tracer_core.compile(program, backend="eager"), arguments), outcome(program, arguments))
