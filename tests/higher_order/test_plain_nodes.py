"""Operators that call no function of the program: nodes like any other."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch._export.wrappers import _export_tracepoint
from torch._prims.rng_prims import run_and_save_rng_state, run_with_rng_state

import tracer_core
from tests.higher_order.inputs import plain
from tests.higher_order.three_ways import same_three_ways


@pytest.mark.row("H10")
def test_a_trace_point_gives_back_what_it_is_given() -> None:
    def program(x: torch.Tensor) -> torch.Tensor:
        y = x.sin()
        (z,) = _export_tracepoint(y, kind="module_call_inputs", path="sub")
        return z + 1

    # The engine knows that the tensor is the same one; torch.compile takes it out of the node's result.
    (graph,) = same_three_ways(program, plain, graphs=False)
    (node,) = graph.graph.find_nodes(op="call_function", target=_export_tracepoint)
    assert node.kwargs == {"kind": "module_call_inputs", "path": "sub"}


@pytest.mark.row("H11")
def test_an_operator_runs_with_a_random_state() -> None:
    state = torch.get_rng_state()

    def program(x: torch.Tensor) -> torch.Tensor:
        return run_with_rng_state(state, torch.ops.aten.rand_like.default, x * 2) + 1

    same_three_ways(program, plain)


@pytest.mark.row("H11")
def test_an_operator_gives_the_random_state_it_ran_with() -> None:
    def program(x: torch.Tensor) -> Any:
        return run_and_save_rng_state(torch.ops.aten.rand_like.default, x * 2)

    torch.manual_seed(3)
    expected = program(*plain())
    torch.manual_seed(3)
    state, drawn = tracer_core.compile(program, backend="eager", fullgraph=True)(*plain())
    assert torch.equal(state, expected[0])
    assert torch.equal(drawn, expected[1])


@pytest.mark.row("H17")
def test_the_print_operator_prints_when_the_graph_runs(capsys: pytest.CaptureFixture[str]) -> None:
    def program(x: torch.Tensor) -> torch.Tensor:
        torch.ops.higher_order.print("sum {} of {n}", x.sum(), n=x.size(0))
        return x + 1

    compiled = tracer_core.compile(program, backend="eager", fullgraph=True)
    for x in (torch.ones(2), torch.zeros(2)):
        program(x)
        expected = capsys.readouterr().out
        assert torch.equal(compiled(x), x + 1)
        assert capsys.readouterr().out == expected != ""
