"""Where a full graph raises, plain Python runs instead, and no graph is required of the functions that it calls."""

from __future__ import annotations

import pytest
import torch

import tracer_core

LOG: list[str] = []


def note(text: str) -> None:
    LOG.append(text)
    print(end="")


def picks(x: torch.Tensor, i: torch.Tensor, loud: bool) -> torch.Tensor:
    if loud:
        note("loud")
    return x.index_select(0, i)


@pytest.mark.row("O7")
def test_a_callee_that_cannot_be_traced_alone_runs() -> None:
    def program(x: torch.Tensor, i: torch.Tensor) -> torch.Tensor:
        try:
            return picks(x, i, False) + 1
        except (IndexError, RuntimeError):
            return picks(x * 2, i - i, True)

    compiled = tracer_core.compile(program, backend="eager", fullgraph=True)
    x = torch.arange(3.0)
    for place in (1, 9, 2):
        i = torch.tensor([place])
        assert torch.equal(compiled(x, i), program(x, i))
    assert LOG == ["loud", "loud"]
