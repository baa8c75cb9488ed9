"""Steps of the dispatcher, compared with what dispatch modes and tensors of torch itself say."""

from __future__ import annotations

import gc
import weakref
from pathlib import Path
from typing import Any

import msgspec
import pytest
import torch
from torch._higher_order_ops._invoke_quant import InvokeQuant

import tracewalk as tw
from tests.proxy_tensor.notes_calls import NotesCalls
from tracer_core import make_fx
from tracer_core.errors import BackendWarning
from tracer_core.observer import observing
from tracer_core.recording import DispatchRecorder, TraceFileError, schema
from tracer_core.recording.dispatching import DispatchSteps
from tracewalk import feed

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


@pytest.mark.parametrize("mode", ["fake", "symbolic", "real"])
def test_equal_metadata_is_stored_once(mode: str) -> None:
    def program(x: torch.Tensor) -> torch.Tensor:
        for _ in range(3):
            x = (x + 1).relu()
        return x.double().sum()

    trace = tw.trace_dispatch(program, torch.ones(2, 3), tracing_mode=mode)
    assert len(trace.dispatch) == 8
    assert [fake.dtype for fake in trace.dispatch.data.fakes] == ["float32", "float64", "float64"]


def test_metadata_is_that_at_each_call() -> None:
    def program(x: torch.Tensor) -> torch.Tensor:
        y = x.clone()
        y.t_()
        return y.requires_grad_() + 1

    clone, transpose, *_, add = tw.trace_dispatch(program, torch.ones(2, 3)).dispatch
    assert [one.shape for one in (*clone.results, *transpose.inputs)] == [["2", "3"]] * 2
    assert [one.shape for one in (*transpose.results, *add.inputs)] == [["3", "2"]] * 2
    assert [one.requires_grad for one in (*transpose.inputs, *add.inputs)] == [False, True]


def test_arguments_are_written_as_people_write_them() -> None:
    def program(x: torch.Tensor) -> Any:
        y = torch.cat([x, x], 1).to(torch.float64, memory_format=torch.contiguous_format)
        return y.permute((1, 0)), torch.nn.functional.gelu(x, approximate="tanh")

    calls = {step.operator: step.data.args for step in tw.trace_dispatch(program, torch.ones(2, 3)).dispatch}
    assert calls == {
        "aten.cat.default": "[f32[2, 3], f32[2, 3]], 1",
        "aten._to_copy.default": "f32[2, 6], dtype=torch.float64, memory_format=torch.contiguous_format",
        "aten.permute.default": "f64[2, 6], [1, 0]",
        "aten.gelu.default": "f32[2, 3], approximate='tanh'",
    }


def test_the_recorder_keeps_no_tensor() -> None:
    recorder, tensors = DispatchRecorder(), []

    def program(x: torch.Tensor) -> torch.Tensor:
        y = x + 1
        tensors.extend([weakref.ref(x), weakref.ref(y)])
        return y

    with observing(recorder), recorder.dispatching("program"):
        make_fx(program, tracing_mode="fake")(torch.ones(2))
    gc.collect()
    assert [one() for one in tensors] == [None, None]
    assert recorder.finish().dispatcher.steps


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


def test_runs_and_calls_are_short_where_python_shows_them() -> None:
    trace = tw.trace(lambda x: x.relu(), torch.ones(2))
    assert repr(trace.graphs[0].under("relu")) == "[<relu, forward: 1 operator call, 0 decompositions, 1 node>]"
    assert repr(trace.dispatch) == "<1 step at the dispatcher>"
    assert repr(trace.dispatch[:]) == "[<aten.relu.default(f32[2]): added to the graph as relu>]"


def test_no_gradient_flows_under_no_grad_or_through_integers() -> None:
    def program(x: torch.Tensor) -> torch.Tensor:
        with torch.no_grad():
            y = LAYER(x)
        return y.argmax(-1) + 1

    with tw.record(level="dispatch") as trace:
        tw.compile(program, backend="eager")(torch.ones(2, 4))
    assert {run.data.direction for run in trace.dispatch.runs} == {"forward"}
    assert torch.is_grad_enabled()


def in_program(x: torch.Tensor) -> tuple[torch.Tensor, ...]:
    y = LAYER(x)
    with torch.no_grad():
        z = LAYER(x)
    with torch.autocast("cpu", torch.bfloat16):
        w = LAYER(x)
    y.relu_()
    y[0] = 3 * w[1]
    y += 1
    first, second = y.chunk(2)
    return first + z[:1], second, torch.nn.functional.dropout(first, 0.5), x.argmax()


def under_nodes(trace: tw.Trace) -> dict[str, list[list[str]]]:
    """For each call of the graph, the operators of its runs."""
    graph = trace.graphs[0]
    found = {}
    for node in map(trace.nodes.__getitem__, graph.nodes):
        runs = graph.under(node.name)
        assert [run.data.error for run in runs] == [""] * len(runs)
        found[node.name] = [[str(step) for step in run.steps] for run in runs]
    return found


@pytest.mark.parametrize("dynamic", [False, True])
def test_what_is_under_a_node_is_traced_when_it_is_asked_for(dynamic: bool) -> None:
    x = torch.ones(2, 4, requires_grad=True)
    with tw.record(dynamic=dynamic) as later:
        in_program(x)
    with tw.record(dynamic=dynamic, level="dispatch") as before:
        in_program(x)
    assert len(later.dispatch) == 0
    assert under_nodes(later) == under_nodes(before)
    assert len(later.dispatch) == len(before.dispatch) > 30
    count = len(later.dispatch.runs)
    under_nodes(later)
    assert len(later.dispatch.runs) == count
    assert torch.is_grad_enabled()
    assert not torch.is_autocast_enabled("cpu")


def test_a_node_runs_with_the_settings_that_it_was_captured_with() -> None:
    x = torch.ones(2, 4, requires_grad=True)
    trace = tw.trace(in_program, x)
    forward, backward = trace.graphs[0].under("linear")
    assert [step.operator for step in forward.steps] == ["aten.t.default", "aten.addmm.default"]
    assert backward.data.direction == "backward"
    assert [run.data.direction for run in trace.graphs[0].under("linear_1")] == ["forward"]
    (forward, _) = trace.graphs[0].under("linear_2")
    assert forward.steps[0].operator == "aten._to_copy.default"
    with torch.no_grad(), torch.autocast("cpu", torch.bfloat16):
        trace = tw.trace(LAYER, x)
    (forward,) = trace.graphs[0].under("linear")
    assert forward.steps[0].operator == "aten._to_copy.default"


def test_calls_that_write_are_differentiated_as_autograd_does() -> None:
    trace = tw.trace(in_program, torch.ones(2, 4, requires_grad=True))
    for name, operators in {
        "relu_": ["aten.detach.default", "aten.threshold_backward.default"],
        "setitem": ["aten.new_empty_strided.default", "aten.copy_.default", "aten.select.int", "aten.clone.default"],
        "iadd": [],
    }.items():
        forward, backward = trace.graphs[0].under(name)
        assert forward.steps
        assert [step.operator for step in backward.steps][:4] == operators


def test_calls_inside_a_body_have_steps_too() -> None:
    def program(x: torch.Tensor) -> Any:
        return torch.cond(x.sum() > 0, lambda a: a.sin(), lambda a: a * 2, (x,))

    trace = tw.trace(program, torch.ones(2, requires_grad=True))
    (body,) = (graph for graph in trace.all_graphs if any(trace.nodes[node].name == "sin" for node in graph.nodes))
    forward, backward = body.under("sin")
    assert [step.operator for step in forward.steps] == ["aten.sin.default"]
    assert [step.operator for step in backward.steps] == ["aten.cos.default", "aten.mul.Tensor"]


def test_a_recording_from_a_file_says_how_to_see_what_is_under_a_node(tmp_path: Path) -> None:
    trace = tw.trace(LAYER, torch.ones(2, 4))
    with pytest.raises(LookupError, match="graph_0 has no node 'conv'. It has: .*linear"):
        trace.graphs[0].under("conv")
    assert trace.graphs[0].under(trace.nodes[0].name) == []
    trace.save(tmp_path / "before.trace")
    with pytest.raises(LookupError, match="not recorded.* not in this kernel: trace the program here"):
        tw.load(tmp_path / "before.trace").graphs[0].under("linear")
    trace.graphs[0].under("linear")
    trace.save(tmp_path / "after.trace")
    loaded = tw.load(tmp_path / "after.trace")
    assert [run.data for run in loaded.graphs[0].under("linear")] == [run.data for run in trace.dispatch.runs]


def test_ctrl_c_leaves_no_part_of_what_was_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    trace = tw.trace(LAYER, torch.ones(2, 4))
    with monkeypatch.context() as patch:

        def interrupted(*_: Any) -> None:
            raise KeyboardInterrupt

        patch.setattr(DispatchSteps, "on_dispatch_decision", interrupted)
        with pytest.raises(KeyboardInterrupt):
            trace.graphs[0].under("linear")
    assert not any(getattr(trace.dispatch.data, table) for table in ("runs", "steps", "nodes", "stacks", "fakes"))
    assert torch.utils._python_dispatch._get_current_dispatch_mode() is None
    assert len(trace.graphs[0].under("linear")) == 2


def test_the_explorer_gets_what_is_under_a_node(tmp_path: Path) -> None:
    trace = tw.trace(LAYER, torch.ones(2, 4))
    node = next(node.id for node in trace.nodes if node.name == "linear")
    given = msgspec.json.decode(feed.block(trace, "under", node), type=schema.Dispatcher)
    assert given == trace.dispatch.data
    assert [run.node for run in given.runs] == [node, node]


def test_the_graphs_of_tracer_aot_are_recorded(tmp_path: Path) -> None:
    kept: list[Any] = []
    compiled = tw.compile(LAYER, backend="tracer_aot", options={"on_lowered": kept.append})
    with tw.record() as trace:
        compiled(torch.ones(2, 4))
    lowered = trace.graphs[0].lowered
    assert lowered is not None
    for part in ("forward", "backward", "joint"):
        nodes = getattr(kept[0], part).graph.nodes
        lines = getattr(lowered, part).splitlines()
        assert [line.split()[0] for line in lines] == [*[node.name for node in nodes][:-1], "return"]
    assert "addmm = aten.addmm.default(primals_2, primals_3, t)  # f32[2, 3]" in lowered.forward
    assert str(lowered).splitlines()[0] == "forward:"
    assert f"backward:\n  {lowered.backward.splitlines()[0]}" in str(lowered)
    trace.save(tmp_path / "x.trace")
    assert tw.load(tmp_path / "x.trace").graphs[0].lowered == lowered
    trace.data.lowered[0].graph = 7
    trace.save(tmp_path / "y.trace")
    with pytest.raises(TraceFileError):
        tw.load(tmp_path / "y.trace")
    assert tw.trace(LAYER, torch.ones(2, 4)).graphs[0].lowered is None


def test_a_graph_that_cannot_be_lowered_says_why() -> None:
    compiled = tw.compile(lambda x: InvokeQuant()(lambda y: y + 1, x), backend="tracer_aot")
    with pytest.warns(BackendWarning), tw.record() as trace:
        compiled(torch.ones(2, requires_grad=True))
    lowered = trace.graphs[0].lowered
    assert lowered is not None
    assert lowered.forward == ""
    assert "invoke_quant" in lowered.reason
    assert str(lowered) == f"It runs eagerly: {lowered.reason}."


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
