"""The back end is asked for what will run, and for nothing else."""

from __future__ import annotations

from typing import Any

import pytest
import torch
import torch.fx

import tracer_core
from tests.back_ends import Graphs


def deep(n: int) -> None:
    if n == 0:
        raise LookupError("deep")
    deep(n - 1)


@pytest.mark.row("O6", "O11")
def test_no_back_end_compiles_a_graph_for_which_there_is_no_code() -> None:
    backend = Graphs()

    def function(x: torch.Tensor) -> Any:
        y = x + 1
        try:
            deep(1)
        except LookupError as error:
            trace, names = error.__traceback__, []
            while trace is not None:
                names.append(trace.tb_frame.f_code.co_name)
                trace = trace.tb_next
            return y, names

    result, names = tracer_core.compile(function, backend=backend)(torch.ones(2))
    assert names == ["function", "deep", "deep"]
    assert torch.equal(result, torch.full((2,), 2.0))
    assert backend.graphs == []


@pytest.mark.row("O11")
def test_one_function_runs_what_the_back_end_gave() -> None:
    def backend(graph: torch.fx.GraphModule, examples: Any) -> Any:
        return lambda *args: tuple(result * 10 for result in graph.forward(*args))

    compiled = tracer_core.compile(lambda x: x + 1, backend=backend)
    assert compiled(torch.ones(2)).tolist() == [20.0, 20.0]
    assert compiled(torch.zeros(2)).tolist() == [10.0, 10.0]
