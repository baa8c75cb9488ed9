"""Sizes marked with mark_unbacked: one graph serves every size, and what is to hold of them is asserted in it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

import tracer_core
from tests.recording.programs_in_files import recorded
from tracer_core.errors import Unsupported

pytestmark = [pytest.mark.row("B8"), pytest.mark.row("O10")]


def marked(rows: int, start: int = 0) -> torch.Tensor:
    x = torch.arange(float(3 * rows)).reshape(rows, 3) + start
    torch._dynamo.decorators.mark_unbacked(x, 0)
    return x


def outcome(function: Callable[..., Any], *args: Any) -> Any:
    try:
        return function(*args).tolist()
    except RuntimeError as error:
        return str(error)


def graphs_of(compile: Any, function: Any, calls: list[tuple[Any, ...]], check: bool = True) -> list[list[str]]:
    """The operations of each graph, without the comparisons by which torch asserts that no size is negative."""
    seen: list[torch.fx.GraphModule] = []

    def backend(graph: torch.fx.GraphModule, examples: Any) -> Any:
        seen.append(graph)
        return graph.forward

    torch._dynamo.reset()
    compiled = compile(function, backend=backend)
    for args in calls:
        got = outcome(compiled, *args)
        assert not check or got == outcome(function, *args)
    found = []
    for graph in seen:
        targets = [str(node.target) for node in graph.graph.nodes if node.op in ("call_function", "call_method")]
        kept = [each for each in targets if "ge" not in each and "_assert_scalar" not in each]
        found.append(list(dict.fromkeys(kept)))  # torch may compare twice
    return found


def whole(x):
    return (x * 2 + x.shape[0]).sum(0)


def product(x):
    return (x.t() @ x).view(-1)


def sum_of_two(x, y):
    return x + y


@pytest.mark.parametrize("function", [whole, product])
def test_one_graph_serves_every_size(function: Any) -> None:
    calls = [(marked(rows),) for rows in (4, 1, 0, 7, 2)]
    ours = graphs_of(tracer_core.compile, function, calls)
    assert ours == graphs_of(torch.compile, function, calls)
    assert len(ours) == 1


def branches(x):
    if x.shape[0] > 3:
        return x + 1
    return x - 1


def test_a_branch_on_it_breaks_the_graph() -> None:
    calls = [(marked(4),), (marked(2),)]
    assert len(graphs_of(tracer_core.compile, branches, calls)) == len(graphs_of(torch.compile, branches, calls)) == 3
    (broken,) = recorded(branches, (marked(4),)).breaks
    assert (broken.reason_id, broken.line) == ("data-dependent-number", branches.__code__.co_firstlineno + 1)
    assert "a number computed from x.size(0)," in broken.message
    with pytest.raises(Unsupported):
        tracer_core.compile(branches, backend="eager", fullgraph=True)(marked(4))
    torch._dynamo.reset()
    with pytest.raises(torch._dynamo.exc.UserError):
        torch.compile(branches, backend="eager", fullgraph=True)(marked(4))


def checks(x):
    torch._check(x.shape[0] > 3)
    torch._check(x.shape[0] <= 8)
    if x.shape[0] > 2:
        x = x + 1
    return x * 2


def test_a_check_is_asserted_in_the_graph_and_decides_branches() -> None:
    calls = [(marked(4),), (marked(8),)]
    assert graphs_of(tracer_core.compile, checks, calls) == graphs_of(torch.compile, checks, calls)
    seen: list[torch.fx.Node] = []

    def backend(graph: torch.fx.GraphModule, examples: Any) -> Any:
        seen.extend(graph.graph.nodes)
        return graph.forward

    tracer_core.compile(checks, backend=backend)(marked(4))
    assert sum(node.target is torch.ops.aten._assert_scalar.default for node in seen) == 2


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
def test_a_failed_assertion_is_the_error_of_plain_python(backend: str) -> None:
    compiled = tracer_core.compile(checks, backend=backend, fullgraph=True)
    for rows in (4, 3, 8, 9, 5):
        assert outcome(compiled, marked(rows)) == outcome(checks, marked(rows))


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
def test_sizes_that_an_operation_takes_for_equal(backend: str) -> None:
    compiled = tracer_core.compile(sum_of_two, backend=backend, fullgraph=True)
    for rows, others in ((4, 4), (5, 5), (2, 3), (1, 3), (3, 1), (0, 0)):
        args = marked(rows), marked(others, 2)
        assert outcome(compiled, *args) == outcome(sum_of_two, *args)


def writes_then_checks(x, total):
    total.add_(1)
    torch._check(x.shape[0] > 3)
    return x.sum() + total


def test_what_was_written_before_a_failed_assertion_is_written_once() -> None:
    compiled = tracer_core.compile(writes_then_checks, backend="eager", fullgraph=True)
    for rows in (5, 2):
        total, expected = torch.zeros(1), torch.zeros(1)
        assert outcome(compiled, marked(rows), total) == outcome(writes_then_checks, marked(rows), expected)
        assert torch.equal(total, expected)
