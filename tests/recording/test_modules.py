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
    net = "L['self']"
    assert [(node.name, node.modules) for node in nodes] == [
        ("linear", [net, f"{net}.blocks[0]", f"{net}.blocks[0].up"]),
        ("relu", [net, f"{net}.blocks[0]"]),
        ("linear_1", [net, f"{net}.blocks[1]", f"{net}.blocks[1].up"]),
        ("relu_1", [net, f"{net}.blocks[1]"]),
        ("mul", [net]),
    ]


def test_functions_outside_of_modules_have_none() -> None:
    trace = tw.trace(helper, torch.ones(2))
    assert {tuple(node.modules) for node in trace.nodes} == {()}
