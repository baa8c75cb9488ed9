"""Steps of the dispatcher, compared with what dispatch modes and tensors of torch itself say."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

import tracewalk as tw
from tests.proxy_tensor.notes_calls import NotesCalls
from tracer_core import make_fx
from tracer_core.recording import TraceFileError

LAYER = torch.nn.Linear(4, 3)
TABLE = torch._decomp.core_aten_decompositions()


def test_the_calls_are_those_of_a_mode_above_with_theirs_nested() -> None:
    def program(x: torch.Tensor) -> torch.Tensor:
        return LAYER(x).softmax(-1)

    above, x = NotesCalls(), torch.ones(2, 4)
    with above:
        program(x)
    trace = tw.trace_dispatch(program, torch.ones(2, 4), decomposition_table=TABLE)
    steps = list(trace.dispatch)
    assert [step.operator for step in steps if step.depth == 0] == above.calls
    transpose, inner, permute = steps[:3]
    assert (transpose.operator, transpose.decision) == ("aten.t.default", "decompose")
    assert [call.operator for call in transpose.calls] == ["aten.transpose.int"]
    assert permute.parent == inner
    assert inner.parent == transpose
    assert (permute.depth, permute.decision) == (2, "emit")
    graph = make_fx(program, TABLE, "fake", True)(torch.ones(2, 4)).graph
    called = [node.name for node in graph.nodes if node.op == "call_function"]
    assert [node.name for node in trace.dispatch.runs[0].nodes if node.op == "call_function"] == called
    assert all(step.reason.endswith(".") for step in steps)


def test_modes_are_those_of_the_stack_from_the_top() -> None:
    trace = tw.trace_dispatch(torch.relu, torch.ones(2))
    assert trace.dispatch[0].modes == ["ProxyTorchDispatchMode", "FakeTensorMode"]

    def under_a_mode(x: torch.Tensor) -> torch.Tensor:
        with NotesCalls():
            return torch.relu(x)

    assert tw.trace_dispatch(under_a_mode, torch.ones(2), tracing_mode="real").dispatch[0].modes == [
        "ProxyTorchDispatchMode"
    ]


def test_metadata_is_that_of_the_tensors() -> None:
    x = torch.ones(2, 3, dtype=torch.float64).t()
    expected = x.sum(0, keepdim=True)
    (step,) = tw.trace_dispatch(lambda x: x.sum(0, keepdim=True), x).dispatch
    (given,), (result,) = step.inputs, step.results
    assert (given.dtype, given.shape, given.stride) == ("float64", ["3", "2"], ["1", "3"])
    assert (result.shape, result.stride) == ([*map(str, expected.shape)], [*map(str, expected.stride())])


def test_sizes_are_symbols() -> None:
    trace = tw.trace_dispatch(lambda x: x.reshape(-1) * 2, torch.ones(2, 3), tracing_mode="symbolic")
    (given,) = trace.dispatch[0].inputs
    assert given.hints == {given.shape[0]: "2", given.shape[1]: "3"}


def test_a_constant_is_folded() -> None:
    trace = tw.trace_dispatch(lambda x: x * torch.tensor(2.0).item(), torch.ones(2), tracing_mode="real")
    assert "fold" in [step.decision for step in trace.dispatch]


def test_an_exception_is_in_the_recording() -> None:
    with pytest.raises(RuntimeError, match="same reduction dim"):
        tw.trace_dispatch(lambda a, b: (a + 1) @ b, torch.ones(2, 3), torch.ones(2, 3))
    trace = tw.last_trace()
    assert [bool(step.data.error) for step in trace.dispatch] == [False, True]
    assert trace.dispatch.runs[0].data.error
    assert "It ended early" in str(trace)


def test_what_is_under_a_linear_forward_and_backward() -> None:
    x = torch.ones(2, 4, requires_grad=True)
    above = NotesCalls()
    with above:
        result = torch.nn.functional.linear(x, LAYER.weight, LAYER.bias)
    count = len(above.calls)
    tangent = torch.ones_like(result)
    with above:
        torch.autograd.grad(result, [x, LAYER.weight, LAYER.bias], tangent)
    with tw.record(level="dispatch") as trace:
        tw.compile(lambda x: LAYER(x).relu(), backend="eager")(x)
    node = next(node for node in trace.nodes if "linear" in node.target)
    forward, backward = trace.dispatch.under(node)
    assert (forward.data.direction, backward.data.direction) == ("forward", "backward")
    assert [step.operator for step in forward.steps] == above.calls[:count]
    backward_calls = [call for call in above.calls[count:] if call != "aten.detach.default"]
    assert [step.operator for step in backward.steps] == backward_calls
    assert len(trace.dispatch.runs) == 4
    assert trace.lost == []


def test_no_gradient_flows_under_no_grad_or_through_integers() -> None:
    def program(x: torch.Tensor) -> torch.Tensor:
        with torch.no_grad():
            y = LAYER(x)
        return y.argmax(-1) + 1

    with tw.record(level="dispatch") as trace:
        tw.compile(program, backend="eager")(torch.ones(2, 4))
    assert {run.data.direction for run in trace.dispatch.runs} == {"forward"}
    assert torch.is_grad_enabled()


def test_make_fx_in_a_block_is_recorded_run_by_run() -> None:
    with tw.record(level="dispatch") as trace:
        make_fx(torch.relu)(torch.ones(2))
        make_fx(torch.neg)(torch.ones(2))
    assert [[step.operator for step in run.steps] for run in trace.dispatch.runs] == [
        ["aten.relu.default"],
        ["aten.neg.default"],
    ]


def test_the_default_level_records_no_step_of_the_dispatcher() -> None:
    with tw.record() as trace:
        make_fx(torch.relu)(torch.ones(2))
    assert len(trace.dispatch) == 0
    with pytest.raises(ValueError, match="level must be one of"):
        tw.record(level="graph")


def test_a_file_gives_the_steps_back(tmp_path: Path) -> None:
    trace = tw.trace_dispatch(LAYER, torch.ones(2, 4), decomposition_table=TABLE)
    trace.save(tmp_path / "x.trace")
    assert str(tw.load(tmp_path / "x.trace").dispatch) == str(trace.dispatch)
    trace.data.dispatcher.steps[1].parent = 1
    trace.save(tmp_path / "y.trace")
    with pytest.raises(TraceFileError):
        tw.load(tmp_path / "y.trace")
