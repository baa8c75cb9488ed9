"""Each call at the dispatcher is reported: as it arrives, what is decided, the nodes, the result."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from tracer_core import Observer, make_fx, observing

pytestmark = pytest.mark.row("P12")


class Steps(Observer):
    def __init__(self) -> None:
        self.events: list[tuple[Any, ...]] = []
        self.modes: list[tuple[str, ...]] = []

    def watching(self) -> Any:
        return observing(self)

    def on_dispatch_enter(self, operator: Any, args: Any, kwargs: Any, modes: tuple[str, ...]) -> None:
        self.events.append(("enter", str(operator)))
        self.modes.append(modes)

    def on_dispatch_decision(self, decision: str, reason: str) -> None:
        assert reason.endswith(".")
        self.events.append((decision,))

    def on_dispatch_node(self, node: Any) -> None:
        self.events.append(("node", node.name))

    def on_dispatch_exit(self, result: Any, error: BaseException | None) -> None:
        self.events.append(("exit", type(result).__name__, type(error).__name__))


def test_decompositions_nest_and_nodes_come_within_their_calls() -> None:
    steps = Steps()
    table = {torch.ops.aten.sin.default: lambda x: x.cos() + 1}
    with steps.watching():
        make_fx(lambda x: x.sin(), decomposition_table=table)(torch.randn(2))
    assert steps.events == [
        ("node", "x_1"),
        ("enter", "aten.sin.default"),
        ("decompose",),
        ("enter", "aten.cos.default"),
        ("emit",),
        ("node", "cos"),
        ("exit", "Tensor", "NoneType"),
        ("enter", "aten.add.Tensor"),
        ("emit",),
        ("node", "add"),
        ("exit", "Tensor", "NoneType"),
        ("exit", "Tensor", "NoneType"),
        ("node", "output"),
    ]


def test_the_stack_of_modes_is_from_top_to_bottom() -> None:
    class Mine(TorchDispatchMode):
        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            return func(*args, **(kwargs or {}))

    steps = Steps()
    with steps.watching(), Mine():
        make_fx(lambda x: x.sin(), tracing_mode="fake")(torch.randn(2))
    assert steps.modes == [("ProxyTorchDispatchMode", "FakeTensorMode")]


def test_folding_and_errors_are_told() -> None:
    steps = Steps()
    with steps.watching():
        make_fx(lambda x: x + torch.tensor(2).item())(torch.randn(2))
    assert ("fold",) in steps.events
    steps = Steps()
    with steps.watching(), pytest.raises(RuntimeError):
        make_fx(lambda x: x.sum().item())(torch.randn(2))
    assert steps.events[-1] == ("exit", "NoneType", "DataDependentError")


def test_arithmetic_on_sizes_is_told_when_it_becomes_a_node() -> None:
    steps = Steps()
    with steps.watching():
        make_fx(lambda x: x.new_ones(x.shape[0] * 2), tracing_mode="symbolic")(torch.randn(3))
    names = [event[1] for event in steps.events if event[0] == "node"]
    assert names == ["x_1", "sym_size_int", "mul", "new_ones", "output"]
