"""Nodes know which modules called their operators, and from which lines."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import nn
from torch.fx.experimental.proxy_tensor import make_fx as torchs_make_fx

from tests.proxy_tensor.checking import MODES, check_same, same_graphs
from tracer_core import make_fx

pytestmark = pytest.mark.row("P7")


class Block(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(4, 4)
        self.act = nn.Sequential(nn.ReLU(), nn.LayerNorm(4))

    def forward(self, x: Any) -> Any:
        return self.act(self.linear(x)) + x


class Tree(nn.Module):
    def __init__(self, shared: bool) -> None:
        super().__init__()
        first = Block()
        self.blocks = nn.ModuleList([first, first if shared else Block()])
        self.tail = nn.Sequential(nn.Linear(4, 2), nn.Tanh())
        self.named = nn.ModuleDict({"a": self.blocks[0].act if shared else nn.ReLU()})

    def forward(self, x: Any) -> Any:
        for block in self.blocks:
            x = block(x)
        x = self.blocks[-1](x)
        return self.tail(self.named["a"](x)), self.tail[:1](x)


def with_module(net: nn.Module) -> Any:
    def call(x: Any) -> Any:
        return net(x)

    call._orig_mod = net
    return call


@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("mode", MODES)
def test_module_stacks_are_those_of_torch(mode: str, shared: bool) -> None:
    net = Tree(shared)
    graph = check_same(
        with_module(net), torch.randn(2, 4), tracing_mode=mode, record_module_stack=True, _allow_non_fake_inputs=True
    )
    stacks = [node.meta["nn_module_stack"] for node in graph.graph.nodes if node.op == "call_function"]
    assert any("blocks.1.linear" in stack for stack in stacks)


def test_a_module_outside_the_tree_is_traced_without_a_name() -> None:
    other = nn.Linear(4, 4)
    net = Block()

    def call(x: Any) -> Any:
        return other(net(x))

    call._orig_mod = net
    check_same(call, torch.randn(2, 4), record_module_stack=True)


@pytest.mark.parametrize("pre_dispatch", [False, True])
def test_stack_traces_name_the_lines_of_forward_methods(pre_dispatch: bool) -> None:
    net = Block()
    graph = check_same(lambda x: net(x), torch.randn(2, 4), record_stack_traces=True, pre_dispatch=pre_dispatch)
    add = list(graph.graph.nodes)[-2]
    assert "return self.act(self.linear(x)) + x" in add.stack_trace


def test_a_trace_leaves_modules_as_they_were() -> None:
    net = Tree(shared=True)
    before = {name: type(module) for name, module in net.named_modules(remove_duplicate=False)}
    call, getter = nn.Module.__call__, nn.Module.__getattr__
    make_fx(with_module(net), record_module_stack=True)(torch.randn(2, 4))
    assert {name: type(module) for name, module in net.named_modules(remove_duplicate=False)} == before
    assert (nn.Module.__call__, nn.Module.__getattr__) == (call, getter)


def test_original_operators_are_noted_where_metadata_is_preserved() -> None:
    from torch._decomp import core_aten_decompositions
    from torch.fx import traceback

    def function(x: Any) -> Any:
        return torch.nn.functional.gelu(x).softmax(-1)

    def traced(make: Any) -> Any:
        with traceback.preserve_node_meta():
            return make(function, decomposition_table=core_aten_decompositions())(torch.ones(3, 4))

    traced(torchs_make_fx)  # what one trace leaves in the metadata, the next one finds
    theirs, graph = traced(torchs_make_fx), traced(make_fx)
    same_graphs(theirs, graph)
    origins = {str(node.meta["original_aten"]) for node in graph.graph.nodes if node.op == "call_function"}
    assert origins == {"aten.gelu.default", "aten._softmax.default"}


def test_arguments_that_are_modules_may_be_proxies() -> None:
    def function(module: Any, x: Any) -> Any:
        assert isinstance(module, torch.fx.Proxy)
        return x + 1

    check_same(function, nn.Linear(2, 2), torch.randn(2), proxy_module_inputs=True)
