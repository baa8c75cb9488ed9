"""Nodes know the modules whose `forward` added them."""

from __future__ import annotations

import pytest
import torch

import tracewalk as tw


class Block(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.up = torch.nn.Linear(4, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return helper(self.up(x))


def helper(x: torch.Tensor) -> torch.Tensor:
    return x.relu()


class Net(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.blocks = torch.nn.ModuleList([Block(), Block()])

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for block in self.blocks:
            x = block(x)
        return x * 2


@pytest.mark.row("O1")
def test_each_node_has_the_modules_around_it() -> None:
    trace = tw.trace(Net(), torch.ones(2, 4))
    (graph,) = trace.graphs
    nodes = [trace.nodes[i] for i in graph.nodes if trace.nodes[i].op.startswith("call")]
    net = "self"
    assert [(node.name, node.modules) for node in nodes] == [
        ("linear", [net, f"{net}.blocks[0]", f"{net}.blocks[0].up"]),
        ("relu", [net, f"{net}.blocks[0]"]),
        ("linear_1", [net, f"{net}.blocks[1]", f"{net}.blocks[1].up"]),
        ("relu_1", [net, f"{net}.blocks[1]"]),
        ("mul", [net]),
    ]


class Twice(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.block = Block()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.block(self.block(x))


def test_calls_of_a_module_are_told_apart() -> None:
    trace = tw.trace(Twice(), torch.ones(2, 4))
    nodes = [node for node in trace.nodes if node.op.startswith("call")]
    relu, relu_1 = (node for node in nodes if node.target == "relu")
    assert relu.modules == relu_1.modules
    assert relu.module_frames != relu_1.module_frames
    for node in nodes:
        functions = [trace.codes[trace.frames[frame].code].qualname for frame in node.module_frames]
        assert functions == ["Twice.forward", "Block.forward", "Linear.forward"][: len(node.modules)]
        assert len(node.module_frames) == len(node.modules)


def test_functions_outside_of_modules_have_none() -> None:
    trace = tw.trace(helper, torch.ones(2))
    assert {tuple(node.modules) for node in trace.nodes} == {()}
