"""The back end `tracer_aot` as a whole: options, the graphs that it shows, gradients."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn
from torch._higher_order_ops._invoke_quant import InvokeQuant
from torch.autograd import forward_ad

import tracer_core
from tests.aot.comparing import check, compiled, is_at_call
from tracer_core.aot import Lowered, partition, tracer_aot
from tracer_core.errors import BackendWarning


def targets(graph: torch.fx.GraphModule | None) -> list[str]:
    assert graph is not None
    return [str(node.target) for node in graph.graph.nodes if node.op == "call_function"]


def test_the_graphs_of_one_layer() -> None:
    layer = nn.Linear(3, 2)
    call, lowered = compiled(lambda x: layer(x).relu())
    call(torch.randn(4, 3))
    (found,) = lowered
    assert [str(node.target) for node in found.captured.graph.nodes if node.op != "placeholder"][-2:-1] == ["relu"]
    assert targets(found.forward) == [
        "aten.t.default",
        "aten.addmm.default",
        "aten.relu.default",
        "aten.detach.default",
    ]
    assert set(targets(found.backward)) == {
        "aten.detach.default", "aten.threshold_backward.default", "aten.t.default", "aten.mm.default",
        "aten.sum.dim_IntList", "aten.view.default",
    }  # fmt: skip
    assert found.joint is not None
    assert found.reason == ""


def test_a_graph_without_gradients_has_no_backward() -> None:
    call, lowered = compiled(lambda x: x.sin())
    call(torch.randn(3))
    assert targets(lowered[0].forward) == ["aten.sin.default"]
    assert lowered[0].backward is lowered[0].joint is None


def test_no_operator_of_a_lowered_graph_writes() -> None:
    def writes(x: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        b[1:].add_(x.sum())
        return b.mul_(2) + x.clone().relu_()

    (lowered,) = check(writes, lambda: (torch.randn(3), torch.zeros(3)))
    graph = lowered.forward
    assert graph is not None
    operators = [node.target for node in graph.graph.nodes if node.op == "call_function"]
    assert operators
    assert not any(operator._schema.is_mutable for operator in operators)


def test_backward_nodes_know_their_forward_nodes() -> None:
    call, lowered = compiled(lambda x: (x.sin() * 2).exp())
    call(torch.randn(3, requires_grad=True))
    joint = lowered[0].joint
    assert joint is not None
    origins = {
        str(node.target): node.meta.get("forward_node")
        for node in joint.graph.nodes
        if node.meta.get("partitioner_tag") == "is_backward"
    }
    assert origins["aten.cos.default"] == "sin"
    sources = {node.name: node.meta["from_node"][-1].name for node in joint.graph.nodes if "from_node" in node.meta}
    assert sources["sin"] == "sin"
    assert sources["cos"] == "sin"


def test_decompositions_are_applied() -> None:
    from torch._decomp import get_decompositions

    table = get_decompositions([torch.ops.aten.addmm])
    layer = nn.Linear(3, 2)
    (lowered,) = check(lambda x: layer(x), lambda: (torch.ones(4, 3),), decompositions=table)
    assert "aten.addmm.default" not in targets(lowered.forward)
    assert "aten.mm.default" in targets(lowered.forward)


def test_min_cut_keeps_less() -> None:
    kept = {}
    for partitioner in ("default", "min_cut"):
        call, lowered = compiled(lambda x: x.sin().cos().exp().tanh(), partitioner=partitioner)
        call(torch.randn(3, requires_grad=True))
        forward = lowered[0].forward
        assert forward is not None
        outputs: Any = forward.graph.output_node().args[0]
        kept[partitioner] = len(outputs)
    assert kept["min_cut"] < kept["default"]


def test_min_cut_splits_as_default_what_torchs_partitioner_cannot_split(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(joint: torch.fx.GraphModule, *_: Any, **__: Any) -> None:
        joint.graph.eliminate_dead_code()
        raise RuntimeError("no cut\nmore")

    monkeypatch.setattr(partition, "min_cut_rematerialization_partition", fails)
    call, lowered = compiled(lambda x: x.sin(), partitioner="min_cut")
    x = torch.randn(3, requires_grad=True)
    with pytest.warns(BackendWarning, match="min-cut partitioner failed on it: RuntimeError: no cut$") as warned:
        call(x).sum().backward()
    assert is_at_call(__file__, warned[0])
    assert x.grad is not None
    assert torch.equal(x.grad, x.detach().cos())
    assert targets(lowered[0].backward) == ["aten.cos.default", "aten.mul.Tensor"]


def test_a_failed_partition_leaves_no_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    before = partition.partitioners._get_unique_path

    def program(x: torch.Tensor) -> torch.Tensor:
        result: torch.Tensor = InvokeQuant(codegen_low_precision=True)(torch.sin, x * 2) + x
        return result

    call, (*lowered,) = compiled(program, partitioner="min_cut")
    x = torch.randn(3, requires_grad=True)
    with pytest.warns(BackendWarning, match="runs a graph eagerly"):
        call(x).sum().backward()
    assert list(tmp_path.iterdir()) == []
    assert partition.partitioners._get_unique_path is before


@pytest.mark.parametrize(
    ("options", "kind", "text"),
    [
        (
            {"partition": "min_cut"},
            ValueError,
            "no option 'partition'. There are: decompositions, on_lowered, partiti",
        ),
        ({"partitioner": "best"}, ValueError, "partitioner must be one of 'default', 'min_cut', not 'best'"),
        ({"decompositions": 3}, TypeError, "decompositions must be a table of functions by operator, not 3"),
        ({"on_lowered": 3}, TypeError, "on_lowered must be a function of the lowered graphs, not 3"),
    ],
)
def test_wrong_options_are_named_when_they_are_given(options: Any, kind: type[Exception], text: str) -> None:
    with pytest.raises(kind, match=text):
        compiled(lambda x: x + 1, **options)
    assert compiled(lambda x: x + 1, decompositions=None)[0](torch.ones(2)).tolist() == [2, 2]


def test_called_by_itself_with_real_tensors() -> None:
    layer = nn.Linear(3, 2)
    lowered: list[Lowered] = []
    graph = torch.fx.symbolic_trace(layer)
    x = torch.randn(4, 3, requires_grad=True)
    run = tracer_aot(graph, [x], options={"on_lowered": lowered.append})
    (result,) = run(x)
    assert torch.equal(result, layer(x))
    result.sum().backward()
    found = layer.weight.grad
    layer.weight.grad = None
    layer(x).sum().backward()
    assert torch.equal(found, layer.weight.grad)
    assert lowered[0].reason == ""


# --- gradients ----------------------------------------------------------------------------------------------------


def test_results_that_are_not_used_have_no_part_in_gradients() -> None:
    """The derivative of the square root is infinite at 0, and zero times infinity is not a number."""

    def roots(x: torch.Tensor, w: torch.Tensor) -> tuple[torch.Tensor, ...]:
        y = x * 2
        return y, y.sqrt() * w, torch.cat([y, y.sqrt()])[:2]

    results = []
    call, lowered = compiled(roots)
    for function in (roots, call):
        x, w = torch.zeros(2, requires_grad=True), torch.ones(2, requires_grad=True)
        function(x, w)[0].sum().backward()
        results.append((x.grad, w.grad))
    (expected, nothing), (found, mine) = results
    assert nothing is mine is None
    assert torch.equal(found, expected)
    assert lowered[0].backward is not None


def test_a_gradient_may_lie_in_memory_in_any_way() -> None:
    def view(x: torch.Tensor) -> torch.Tensor:
        return (x * 2).t().reshape(3, 4)

    call, _ = compiled(view)
    x = torch.randn(4, 3, requires_grad=True)
    for gradient in (torch.ones(()).expand(3, 4), torch.randn(4, 3).t(), torch.randn(3, 8)[:, ::2]):
        (found,) = torch.autograd.grad(call(x), x, gradient)
        (expected,) = torch.autograd.grad(view(x), x, gradient)
        assert torch.equal(found, expected)


def test_a_change_before_the_backward_pass_is_noticed_as_in_plain_python() -> None:
    def product(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
        return x @ w.t()

    for function in (product, compiled(product)[0]):
        x, w = torch.randn(2, 3, requires_grad=True), torch.randn(4, 3)
        result = function(x, w)
        w.add_(1)
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            result.sum().backward()


def test_results_may_be_changed_under_autograd() -> None:
    def view(x: torch.Tensor) -> torch.Tensor:
        return x.sin().view(-1)

    found = []
    for function in (view, compiled(view)[0]):
        x = torch.ones(2, 2, requires_grad=True)
        result = function(x)
        result.mul_(x.view(-1))
        result.sum().backward()
        found.append(x.grad)
    assert torch.equal(*found)


def test_second_derivatives_are_refused_with_a_way_out() -> None:
    call, _ = compiled(lambda x: x.sin() * x)
    x = torch.randn(3, requires_grad=True)
    (first,) = torch.autograd.grad(call(x).sum(), x, create_graph=True)
    assert torch.equal(first, torch.autograd.grad((x.sin() * x).sum(), x)[0])
    with pytest.raises(RuntimeError, match="has no second derivatives.*backend='eager'"):
        torch.autograd.grad(first.sum(), x)


@pytest.mark.parametrize("requires_grad", [False, True])
def test_forward_mode_derivatives_are_those_of_plain_python(requires_grad: bool) -> None:
    call, _ = compiled(lambda x, y: (x.sin() * y, y.mul_(2)))
    x = torch.randn(3, requires_grad=requires_grad)
    call(x, torch.ones(3))
    with forward_ad.dual_level():
        result, written = call(forward_ad.make_dual(x, torch.ones(3)), torch.ones(3))
        assert torch.equal(forward_ad.unpack_dual(result).tangent, x.cos())
        assert forward_ad.unpack_dual(written).tangent is None
        assert written.tolist() == [2, 2, 2]


@pytest.mark.parametrize("kind", [nn.LSTM, nn.GRU, nn.RNN])
def test_recurrent_networks_with_dropout_run_eagerly(kind: type[nn.Module]) -> None:
    network = kind(3, 4, num_layers=2, dropout=0.5)
    call, lowered = compiled(lambda x: network(x)[0])
    x = torch.randn(5, 2, 3)
    torch.manual_seed(0)
    expected = network(x)[0]
    torch.manual_seed(0)
    with pytest.warns(
        BackendWarning, match="with dropout between layers, which torch's decomposition omits"
    ) as warned:
        found = call(x)
    assert is_at_call(__file__, warned[0])
    assert torch.equal(found, expected)
    assert lowered[0].forward is None
    network.eval()
    torch.testing.assert_close(call(x), network(x)[0])
    assert lowered[1].forward is not None


@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("kind", [nn.LSTM, nn.GRU, nn.RNN])
def test_gradients_of_recurrent_networks(kind: type[nn.Module], training: bool) -> None:
    gradients = []
    x = torch.randn(5, 2, 3)
    network = kind(3, 4, num_layers=2, bidirectional=True).train(training)
    for call in (network, compiled(network)[0]):
        network.zero_grad()
        call(x)[0].sin().sum().backward()
        gradients.append([each.grad.clone() for each in network.parameters()])
    torch.testing.assert_close(*gradients)


@pytest.mark.filterwarnings("ignore:Anomaly Detection has been enabled", "ignore:Error detected in")
def test_anomaly_detection_sees_the_gradients_of_operators() -> None:
    x = torch.zeros(2, requires_grad=True)
    call, lowered = compiled(lambda x: (x.sqrt() * 0).sum())
    with torch.autograd.detect_anomaly():
        result = call(x)
        assert torch.is_anomaly_enabled()
        assert lowered[0].backward is not None
        with pytest.raises(RuntimeError, match="TracerAotBackward' returned nan values"):
            result.backward()


def test_buffers_of_modules_are_updated() -> None:
    results = []
    for compiles in (False, True):
        torch.manual_seed(0)
        norm = nn.BatchNorm1d(3)
        call, lowered = compiled(norm) if compiles else (norm, [])
        outputs = [call(torch.randn(4, 3)) for _ in range(3)]
        results.append([*outputs, *norm.state_dict().values()])
    assert [each.reason for each in lowered] == [""]
    for found, expected in zip(*results, strict=True):
        assert torch.equal(found, expected)


def test_inference_mode() -> None:
    layer = nn.Linear(3, 2)
    call, lowered = compiled(lambda x: (layer(x).relu_(), x.view(-1), x.add_(1)))
    with torch.inference_mode(), warnings.catch_warnings():
        warnings.simplefilter("error")
        x = torch.ones(2, 3)
        found = call(x)
        plain = torch.ones(2, 3)
        assert torch.equal(found[0], layer(plain).relu())
        assert torch.equal(found[1], plain.view(-1) + 1)
        assert found[2] is x
        assert found[1].data_ptr() == x.data_ptr()
    assert found[0].is_inference()
    assert lowered[0].reason == ""


def test_other_sizes_use_the_same_graphs() -> None:
    def f(x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        return x.sin().view(-1), x[1:].t()

    call, lowered = compiled(f, dynamic=True)
    for size in (4, 6, 9):
        x = torch.randn(size, 3, requires_grad=True)
        for found, expected in zip(call(x), f(x), strict=True):
            assert torch.equal(found, expected)
            assert found.shape == expected.shape
            (mine,) = torch.autograd.grad(found.exp().sum(), x)
            (plain,) = torch.autograd.grad(expected.exp().sum(), x)
            assert torch.equal(mine, plain)
    assert len(lowered) == 1


def test_numbers_keep_the_sign_of_zero() -> None:
    def divides(x: torch.Tensor, scale: float) -> tuple[torch.Tensor, ...]:
        return 1 / (x * (scale * 0.0)), 1 / (x * (scale * -0.0)), x * scale

    call, lowered = compiled(divides)
    x = torch.tensor([1.0, -1.0])
    for scale in (2.0, 3.0, 4.0, float("inf")):
        for found, expected in zip(call(x, scale), divides(x, scale), strict=True):
            torch.testing.assert_close(found, expected, rtol=0, atol=0, equal_nan=True)
    assert {each.reason for each in lowered} == {""}


def test_a_float_that_varies_is_an_input() -> None:
    call, lowered = compiled(lambda x, scale: x * scale)
    x = torch.randn(3)
    for scale in (2.0, 3.0, 4.0):
        assert torch.equal(call(x, scale), x * scale)
    assert [each.reason for each in lowered] == ["", ""]


def test_gradients_computed_in_compiled_code_are_not_traced_again() -> None:
    lowered: list[Lowered] = []

    def penalty(x: torch.Tensor) -> torch.Tensor:
        y = (x * x).sum()
        y.backward()
        assert x.grad is not None
        return x.grad * 2

    call = tracer_core.compile(penalty, backend="tracer_aot", options={"on_lowered": lowered.append})
    x = torch.ones(2, requires_grad=True)
    assert torch.equal(call(x), torch.full((2,), 4.0))
    assert [bool(each.backward) for each in lowered] == [True, False]


def test_sizes_that_lowering_asks_about_are_guarded() -> None:
    def silu(x: torch.Tensor) -> torch.Tensor:
        return x * torch.sigmoid(x) if x.shape[0] < 5 else torch.sigmoid(x) * x

    table = {torch.ops.aten.silu.default: silu}
    call, lowered = compiled(lambda x: torch.nn.functional.silu(x), dynamic=True, decompositions=table)
    for size, count in ((3, 1), (4, 1), (7, 2), (9, 2), (2, 2)):
        x = torch.randn(size)
        torch.testing.assert_close(call(x), torch.nn.functional.silu(x))
        assert len(lowered) == count
    first, second = (
        [node for node in each.forward.graph.nodes if node.op == "call_function"] for each in lowered if each.forward
    )
    assert second[-1].args[0] is second[0]
    assert first[-1].args[1] is first[0]


def test_it_is_among_the_names_of_back_ends() -> None:
    with pytest.raises(ValueError, match="Did you mean 'tracer_aot'"):
        tracer_core.compile(lambda x: x, backend="traceraot")
