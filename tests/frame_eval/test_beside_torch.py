"""Ours and `torch.compile` on the same functions, in one process: neither disturbs the other."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import torch

import tracer_core
from tests.frame_eval.stand_in import Counting, tracing
from tests.frame_eval.test_cache import numbered


@pytest.fixture(autouse=True)
def torch_forgets() -> Iterator[None]:
    yield
    torch._dynamo.reset()


@pytest.mark.parametrize("ours_first", [True, False])
def test_each_runs_its_own_code(ours_first: bool) -> None:
    def function(n: Any) -> Any:
        return n + 1

    counting = Counting()
    ours = tracer_core.compile(function, backend="eager")
    theirs = torch.compile(function, backend=counting, dynamic=False)
    calls = [ours, theirs] if ours_first else [theirs, ours]
    with tracing(numbered) as tracer:
        for _ in range(3):
            for size in range(1, 5):
                for call in calls:
                    x = torch.ones(size)
                    result = call(x)
                    assert result == f"version {size}" if call is ours else torch.equal(result, x + 1)
    assert counting.graphs == 4
    assert len(tracer.log) == 4


def test_our_versions_do_not_count_for_their_limit() -> None:
    def function(n: Any) -> Any:
        return n + 1

    counting = Counting()
    ours = tracer_core.compile(function, backend="eager", options={"cache_size_limit": 20})
    theirs = torch.compile(function, backend=counting, dynamic=False)
    limit = torch._dynamo.config.recompile_limit
    with tracing(numbered):
        for size in range(limit + 3):
            ours(torch.ones(size + 1))
    for size in range(limit):
        theirs(torch.ones(size + 1))
    assert counting.graphs == limit


def test_their_reset_forgets_ours_without_harm() -> None:
    def function(n: Any) -> Any:
        return n + 1

    ours = tracer_core.compile(function, backend="eager")
    theirs = torch.compile(function, backend=Counting())
    with tracing(numbered):
        assert ours(1) == "version 1"
        theirs(torch.ones(1))
        torch._dynamo.reset()
        assert ours(1) == "version 1"
        tracer_core.reset()
        assert torch.equal(theirs(torch.ones(1)), torch.full((1,), 2.0))
