"""A call that is left to Python breaks the graph with the function's name and the reason."""

from __future__ import annotations

import importlib
import os
import tempfile
import threading
import time
import zlib
from collections.abc import Callable
from typing import Any

import pytest
import torch

import tracer_core
from tests.back_ends import Graphs
from tracer_core import Unsupported


@torch.compiler.disable
def disabled(v: Any) -> Any:
    return v


@torch.compiler.disable(reason="it talks to a robot")
def with_a_reason(v: Any) -> Any:
    return v


def calls() -> list[tuple[Callable[..., Any], str, str]]:
    """(a call of the function, its name, why it is skipped)"""
    return [
        (lambda x: disabled(x), "disabled", "marked as not to be compiled"),
        (lambda x: with_a_reason(x), "with_a_reason", "it talks to a robot"),
        (lambda x: zlib.crc32(b"a"), "crc32", "implemented in C"),
        (lambda x: time.time(), "time", "clock"),
        (lambda x: os.getpid(), "getpid", "operating system"),
        (lambda x: os.path.exists("."), "stat", "operating system"),
        (lambda x: threading.active_count(), "active_count", "threads"),
        (lambda x: torch.save(x, tempfile.gettempdir()), "save", "files"),
        (lambda x: torch.fx.symbolic_trace(abs), "symbolic_trace", "works on graphs"),
    ]


@pytest.mark.row("F5")
@pytest.mark.parametrize(("call", "name", "why"), calls(), ids=[name for _, name, _ in calls()])
def test_the_break_names_the_function_and_why(call: Callable[..., Any], name: str, why: str) -> None:
    def fn(x):
        y = x + 1
        call(y)
        return y * 2

    with pytest.raises(Unsupported) as error:
        tracer_core.compile(fn, backend="eager", fullgraph=True)(torch.ones(2))
    first = str(error.value).splitlines()[0]
    assert name in first
    assert why in first


@pytest.mark.row("F5")
def test_the_call_runs_between_two_graphs_with_what_the_first_gave() -> None:
    seen: list[torch.Tensor] = []
    backend = Graphs()

    @torch.compiler.disable
    def look(v: torch.Tensor) -> None:
        seen.append(v.clone())

    def fn(x):
        y = x + 1
        look(y)
        return y * 2

    result = tracer_core.compile(fn, backend=backend)(torch.ones(2))
    torch.testing.assert_close(result, torch.full((2,), 4.0))
    torch.testing.assert_close(seen, [torch.full((2,), 2.0)])
    assert len(backend.graphs) == 2


@pytest.mark.row("F5", "F10")
def test_a_torch_function_kept_out_of_graphs(monkeypatch: pytest.MonkeyPatch) -> None:
    rules = importlib.import_module("torch._dynamo.trace_rules")
    monkeypatch.setattr(rules, "is_callable_disallowed", lambda function: function is torch.sinc)
    with pytest.raises(Unsupported, match="sinc.*disallow_in_graph"):
        tracer_core.compile(lambda x: torch.sinc(x), backend="eager", fullgraph=True)(torch.ones(2))


@pytest.mark.row("F10")
def test_allow_in_graph_said_after_the_function_was_traced() -> None:
    backend = Graphs()

    def inside(v):
        return v * 3

    def fn(x):
        return inside(x) + 1

    x = torch.ones(2)
    tracer_core.compile(fn, backend=backend)(x)
    torch.compiler.allow_in_graph(inside)
    tracer_core.reset()
    torch.testing.assert_close(tracer_core.compile(fn, backend=backend)(x), fn(x))
    assert [len(each.graph.find_nodes(op="call_function", target=inside)) for each in backend.graphs] == [0, 1]
