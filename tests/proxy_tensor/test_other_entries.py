"""The entry points beside `make_fx`, `pre_dispatch`, and subclasses of tensors."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import nn
from torch._decomp import get_decompositions
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx import Graph, GraphModule
from torch.fx.experimental import proxy_tensor as torchs
from torch.testing._internal.two_tensor import TwoTensor

from tests.proxy_tensor.checking import MODES, check_same, same_graphs
from tracer_core import make_fx, proxy_tensor

# --- pre-dispatch -------------------------------------------------------------------------------------------


def states(x: Any) -> Any:
    with torch.no_grad():
        y = x.sin()
        with torch.enable_grad():
            y = y.cos()
    with torch.autocast("cpu", dtype=torch.bfloat16):
        z = torch.nn.functional.linear(x, x)
        with torch.autocast("cpu", enabled=False):
            z = z.relu()
    torch.set_grad_enabled(True)
    return y, torch.nn.functional.layer_norm(z, (3,)), torch.nn.functional.scaled_dot_product_attention(x, x, x)


def transformed(x: Any) -> Any:
    return torch.vmap(lambda row: row.sin() * 2)(x), torch.func.jvp(torch.sin, (x,), (x,))


@pytest.mark.row("P8")
@pytest.mark.parametrize("function", [states, transformed])
@pytest.mark.parametrize("mode", MODES)
def test_changes_of_state_are_nodes_before_dispatch(mode: str, function: Any) -> None:
    graph = check_same(function, torch.randn(3, 3), tracing_mode=mode, pre_dispatch=True)
    if function is states:
        called = [node.target for node in graph.graph.nodes if node.op == "call_function"]
        assert called.count(torch._C._set_grad_enabled) == 5
        assert called.count(torch.amp.autocast_mode._enter_autocast) == 2
        assert torch.ops.aten.linear.default in called and torch.ops.aten.layer_norm.default in called
    check_same(function, torch.randn(3, 3), tracing_mode=mode)


# --- entry points -------------------------------------------------------------------------------------------
entries = pytest.mark.row("P9")


def small(x: Any, y: Any) -> Any:
    return torch.nn.functional.gelu(x) + y, x.softmax(-1)


@entries
def test_an_interpreter_decomposes_into_a_new_graph() -> None:
    def decomposed(module: Any) -> Any:
        source = torchs.make_fx(small)(torch.ones(2, 3), torch.ones(3))
        graph = Graph()
        table = get_decompositions([torch.ops.aten._softmax, torch.ops.aten.gelu])
        module.DecompositionInterpreter(source, graph, table).run(torch.ones(2, 3), torch.ones(3))
        return GraphModule(source, graph)

    same_graphs(decomposed(torchs), decomposed(proxy_tensor))


@entries
@pytest.mark.parametrize("joint", [False, True])
def test_chosen_nodes_are_decomposed(joint: bool) -> None:
    def chosen(module: Any) -> Any:
        x, y = torch.ones(2, 3), torch.ones(3)
        source = torchs.make_fx(small)(x, y)
        args = ([x], [y]) if joint else (x, y)
        if joint:
            source = torchs.make_fx(lambda p, t: small(p[0], t[0]))([x], [y])
        return module.selective_decompose(
            source,
            *args,
            decomposition=get_decompositions([torch.ops.aten._softmax, torch.ops.aten.gelu]),
            should_decompose=lambda node: "softmax" in str(node.target),
            trace_joint_graph=joint,
        )

    ours, theirs = chosen(proxy_tensor), chosen(torchs)
    same_graphs(theirs, ours)
    assert "gelu" in ours.code and "amax" in ours.code


@entries
def test_an_isolated_graph_leaves_the_trace_around_alone() -> None:
    def isolated(module: Any, make: Any) -> Any:
        inner: list[Any] = []

        def function(x: Any) -> Any:
            inner.append(
                module.get_isolated_graphmodule(lambda a, *, k: a.sin() + k["by"], (x,), {"k": {"by": x}}, "fake")
            )
            return x.cos()

        outer = make(function, tracing_mode="fake")(torch.ones(2))
        return outer, inner[0]

    pairs = zip(isolated(torchs, torchs.make_fx), isolated(proxy_tensor, make_fx), strict=True)
    for theirs, ours in pairs:
        same_graphs(theirs, ours)


@entries
def test_keywords_are_flattened_for_a_function_of_one_list() -> None:
    wrapped, flat = proxy_tensor.wrapper_and_args_for_make_fx(lambda a, *, b: a + b[0], (1,), {"b": [2]})
    assert flat == [1, 2] and wrapped(flat) == 3


@entries
def test_a_decomposition_is_handled_by_the_modes_table() -> None:
    def function(x: Any) -> Any:
        mode = proxy_tensor.get_proxy_mode()
        with proxy_tensor.disable_proxy_modes_tracing():
            handled = proxy_tensor.maybe_handle_decomp(mode, torch.ops.aten.sin.default, (x,), {})
            other = proxy_tensor.maybe_handle_decomp(mode, torch.ops.aten.cos.default, (x,), {})
        assert other is NotImplemented
        return handled

    graph = make_fx(function, decomposition_table={torch.ops.aten.sin.default: torch.exp})(torch.ones(2))
    assert [node.name for node in graph.graph.nodes] == ["x_1", "exp", "output"]


@entries
def test_a_tracer_of_ones_own_builds_the_graph() -> None:
    class Marking(proxy_tensor.PythonKeyTracer):
        def create_node(self, *args: Any, **kwargs: Any) -> Any:
            node = super().create_node(*args, **kwargs)
            node.meta["mine"] = True
            return node

    tracer = Marking()
    x = torch.ones(2)

    def function(proxy: Any) -> Any:
        proxy_tensor.track_tensor_tree(x, proxy, constant=None, tracer=tracer)
        with proxy_tensor.ProxyTorchDispatchMode(tracer, "real"):
            result = x.sin()
        return proxy_tensor.get_proxy_slot(result, tracer).proxy

    graph = proxy_tensor.dispatch_trace(function, tracer)
    assert [node.name for node in graph.graph.nodes] == ["proxy", "sin", "output"]
    assert all(node.meta["mine"] for node in graph.graph.nodes)


@pytest.mark.row("P1")
def test_arguments_that_are_fake_bring_their_mode() -> None:
    mode = FakeTensorMode(shape_env=torch.fx.experimental.symbolic_shapes.ShapeEnv())
    x = mode.from_tensor(torch.ones(3))
    for tracing_mode in MODES:
        graph = make_fx(lambda x: x.sin(), tracing_mode=tracing_mode)(x)
        assert all(node.meta["val"].fake_mode is mode for node in graph.graph.nodes if "val" in node.meta)
    with pytest.raises(ValueError, match="shape environment"):
        make_fx(lambda x: x, tracing_mode="symbolic")(FakeTensorMode().from_tensor(torch.ones(3)))


@pytest.mark.row("P1")
@pytest.mark.parametrize("mode", ["real", "fake", "symbolic"])
@pytest.mark.parametrize("allowed", [False, True])
def test_tensors_of_the_functions_own_are_taken_where_options_allow_it(mode: str, allowed: bool) -> None:
    """A fake beside the arguments is a constant of the graph, or is refused, and so is a real tensor among fakes."""
    fakes = FakeTensorMode(shape_env=torch.fx.experimental.symbolic_shapes.ShapeEnv())
    fake, real = fakes.from_tensor(torch.ones(3)), torch.ones(3)

    def outcome(make: Any, own: torch.Tensor, argument: torch.Tensor) -> Any:
        options = {"_allow_fake_constant": allowed, "_allow_non_fake_inputs": allowed}
        try:
            return make(lambda x: x + own, tracing_mode=mode, **options)(argument).code
        except Exception as error:
            return type(error)

    for own, argument in ((fake, fake * 2), (real, real * 2)):
        ours, theirs = outcome(make_fx, own, argument), outcome(torchs.make_fx, own, argument)
        assert ours == theirs
        assert isinstance(ours, str) or not allowed


# --- subclasses ---------------------------------------------------------------------------------------------


class Scaled(torch.Tensor):
    """A wrapper: a tensor and a factor."""

    @staticmethod
    def __new__(cls, inner: Any, factor: float) -> Any:
        return torch.Tensor._make_wrapper_subclass(cls, inner.size(), dtype=inner.dtype, device=inner.device)

    def __init__(self, inner: Any, factor: float) -> None:
        self.inner, self.factor = inner, factor

    def __tensor_flatten__(self) -> Any:
        return ["inner"], self.factor

    @staticmethod
    def __tensor_unflatten__(inner: Any, factor: Any, size: Any, stride: Any) -> Any:
        return Scaled(inner["inner"], factor)

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        plain = torch.utils._pytree.tree_map_only(Scaled, lambda t: t.inner * t.factor, args)
        return func(*plain, **(kwargs or {}))


@pytest.mark.row("P5")
@pytest.mark.parametrize("mode", MODES)
def test_subclasses_that_the_trace_does_not_know_are_left_to_their_own_rules(mode: str) -> None:
    def within(x: Any) -> Any:
        two = TwoTensor(x, x + 1)
        out = (two * 2).sin()
        scaled = Scaled(x, 3.0) + x
        return out.a, out.b, scaled

    check_same(within, torch.randn(2, 3), tracing_mode=mode)


@pytest.mark.row("P5")
@pytest.mark.parametrize("kind", [lambda x: TwoTensor(x, x + 1), lambda x: Scaled(x, 3.0)])
def test_subclasses_as_inputs_are_nodes_as_a_whole_like_in_torch(kind: Any) -> None:
    x = kind(torch.randn(2, 3))

    def outcome(make: Any, mode: str) -> Any:
        try:
            return make(lambda x: (x * 2).sin(), tracing_mode=mode)(x).code
        except Exception as error:
            return type(error)

    for mode in MODES:
        assert outcome(make_fx, mode) == outcome(torchs.make_fx, mode)


@pytest.mark.row("P7")
def test_buffers_and_parameters_of_a_module_that_is_traced_through() -> None:
    net = nn.Sequential(nn.Linear(3, 3), nn.BatchNorm1d(3))
    graph = check_same(lambda x: net(net(x)), torch.randn(4, 3))
    assert [name for name, _ in graph.named_parameters()] == [f"_param_constant{i}" for i in range(4)]
