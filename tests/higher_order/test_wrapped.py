"""`wrap` and its kin, checkpoints, and regions that are compiled once."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch._higher_order_ops import map as map_function
from torch._higher_order_ops import scan
from torch._higher_order_ops.hints_wrap import hints_wrapper
from torch._higher_order_ops.out_dtype import out_dtype
from torch._higher_order_ops.strict_mode import strict_mode
from torch._higher_order_ops.wrap import (
    dynamo_bypassing_wrapper,
    tag_activation_checkpoint,
    wrap,
    wrap_with_autocast,
    wrap_with_set_grad_enabled,
)
from torch.utils.checkpoint import (
    CheckpointPolicy,
    checkpoint,
    checkpoint_sequential,
    create_selective_checkpoint_contexts,
)

import tracer_core
from tests.higher_order.inputs import leaf
from tests.higher_order.three_ways import agree, outcome, refused, same_three_ways
from tracer_core.runtime.graphs import checkpoint_keeping_random_state

SCALE = torch.arange(1.0, 4)
NET = torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.Tanh(), torch.nn.Linear(3, 3), torch.nn.Tanh())


def block(a: torch.Tensor, k: Any = None) -> torch.Tensor:
    return (a * (2 if k is None else k)).sin() * SCALE


def pair(a: torch.Tensor, b: torch.Tensor) -> dict[str, Any]:
    return {"sum": a + b, "rest": [a * b, None, 3]}


CALLS = {
    "wrap": lambda x: wrap(block, x),
    "wrap_keywords": lambda x: wrap(block, x, k=3.0),
    "wrap_twice": lambda x: wrap(block, wrap(block, x)) + wrap(block, x),
    "wrap_nested": lambda x: wrap(lambda a: wrap(lambda b: wrap(block, b) + x, a) * 2, x + 1),
    "wrap_containers": lambda x: wrap(pair, x, x + 1),
    "wrap_module": lambda x: wrap(NET, x),
    "wrap_symbol": lambda x: wrap(lambda a: a * x.size(0), x),
    "hints": lambda x: hints_wrapper(block, (x,), {}, hints={"a": 1}),
    "strict_mode": lambda x: strict_mode(block, (x,)),
    "grad_mode": lambda x: wrap_with_set_grad_enabled(False, torch.mul, x, x.sin()) + x,
    "autocast": lambda x: wrap_with_autocast("cpu", torch.bfloat16, True, True, torch.mm, x, x.t()),
    "out_dtype": lambda x: out_dtype(torch.ops.aten.mul.Tensor, torch.int32, x.to(torch.int8), x.to(torch.int8)),
}


@pytest.mark.row("H6", "H8", "H9", "O2")
@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("dynamic", [False, True])
def test_a_body_that_is_called_once(name: str, dynamic: bool) -> None:
    def program(x: torch.Tensor) -> Any:
        y = x.cos()
        return CALLS[name](y), y

    if dynamic and name in ("grad_mode", "autocast"):  # torch.compile refuses the sizes as inputs
        return
    arguments = leaf
    if name in ("hints", "strict_mode"):  # which have no derivative
        arguments = lambda: (torch.linspace(-1, 1, 6).reshape(2, 3),)
    # torch.compile lifts the symbol of a size that the linear layer fixed.
    same_three_ways(program, arguments, dynamic=dynamic, graphs=not (dynamic and name == "wrap_module"))


CHECKPOINTS = {
    "not_reentrant": lambda x: checkpoint(block, x, use_reentrant=False),
    "reentrant": lambda x: checkpoint(block, x, use_reentrant=True),
    "keywords": lambda x: checkpoint(block, x, k=3.0, use_reentrant=False, preserve_rng_state=False),
    "containers": lambda x: checkpoint(pair, x, x + 1, use_reentrant=False),
    "nested": lambda x: checkpoint(lambda a: checkpoint(block, a, use_reentrant=False) + x, x, use_reentrant=False),
    "module": lambda x: checkpoint(NET, x, use_reentrant=False),
    "sequence": lambda x: checkpoint_sequential(NET, 2, x, use_reentrant=False),
    "method": lambda x: checkpoint(NET[0].forward, x, use_reentrant=False),
    "twice": lambda x: checkpoint(block, checkpoint(block, x, use_reentrant=False), use_reentrant=False),
    "in_cond": lambda x: torch.cond(
        x.sum() > 9, block, lambda a: checkpoint(block, a, use_reentrant=False) + 1, (x,)
    ),
}


@pytest.mark.row("H7", "H18")
@pytest.mark.parametrize("name", CHECKPOINTS)
@pytest.mark.parametrize("dynamic", [False, True])
def test_a_checkpoint(name: str, dynamic: bool) -> None:
    def program(x: torch.Tensor) -> Any:
        y = x.cos()
        return CHECKPOINTS[name](y)

    if name in ("in_cond", "sequence"):  # torch.compile fails on the first, and does not trace the second
        tracer_core.reset()
        compiled = tracer_core.compile(program, backend="eager", fullgraph=True)
        plain = (lambda x: block(x.cos()) + 1) if name == "in_cond" else program
        agree(outcome(compiled, leaf), outcome(plain, leaf))
    else:
        same_three_ways(program, leaf, dynamic=dynamic, graphs=not (dynamic and name in ("module", "method")))


@pytest.mark.row("H7")
def test_a_selective_checkpoint_keeps_its_policy() -> None:
    def policy(ctx: Any, op: Any, *args: Any, **kwargs: Any) -> CheckpointPolicy:
        return CheckpointPolicy.MUST_SAVE if op is torch.ops.aten.sin.default else CheckpointPolicy.PREFER_RECOMPUTE

    contexts = functools.partial(create_selective_checkpoint_contexts, policy)

    def program(x: torch.Tensor) -> Any:
        return checkpoint(block, x + 1, use_reentrant=False, context_fn=contexts) * 2

    def made_inside(x: torch.Tensor) -> Any:
        keep = torch.ops.aten.sin.default

        def own(ctx: Any, op: Any, *args: Any, **kwargs: Any) -> CheckpointPolicy:
            return CheckpointPolicy.MUST_SAVE if op is keep else CheckpointPolicy.PREFER_RECOMPUTE

        context_fn = functools.partial(create_selective_checkpoint_contexts, own)
        return checkpoint(block, x + 1, use_reentrant=False, context_fn=context_fn) * 2

    for each in (program, made_inside):
        (graph,) = same_three_ways(each, leaf)
        context_fn = graph.wrap_body_0.meta["_checkpoint_context_fn"]
        assert context_fn.func is create_selective_checkpoint_contexts
        (kept,) = context_fn.args
        assert kept(None, torch.ops.aten.sin.default) is CheckpointPolicy.MUST_SAVE
        assert kept(None, torch.ops.aten.mul.Tensor) is CheckpointPolicy.PREFER_RECOMPUTE


@pytest.mark.row("H7")
def test_a_checkpoint_that_draws_draws_the_same_again() -> None:
    def program(x: torch.Tensor) -> torch.Tensor:
        return checkpoint(lambda a: torch.nn.functional.dropout(a.sin(), 0.5) * a, x * 2, use_reentrant=False)

    many = lambda: (torch.ones(100, requires_grad=True),)
    for backend in ("eager", lambda graph, examples: graph):
        tracer_core.reset()
        compiled = tracer_core.compile(program, backend=backend, fullgraph=True)
        agree(outcome(compiled, many), outcome(program, many))


@pytest.mark.row("H7")
@pytest.mark.parametrize("draws", [False, True])
def test_operators_in_a_checkpoint_draw_where_their_bodies_do(draws: bool) -> None:
    def row(a: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.dropout(a, 0.5) if draws else a.sin()

    def step(carry: torch.Tensor, a: torch.Tensor) -> Any:
        return carry + a, row(a)

    def program(x: torch.Tensor) -> torch.Tensor:
        scanned = checkpoint(lambda a: scan(step, torch.zeros(3), a)[1], x, use_reentrant=False)
        return scanned + checkpoint(lambda a: map_function(row, a), x, use_reentrant=False)

    graphs: list[torch.fx.GraphModule] = []
    backend = lambda graph, examples: graphs.append(graph) or graph
    tracer_core.compile(program, backend=backend, fullgraph=True)(torch.ones(2, 3))
    (graph,) = graphs
    expected = checkpoint_keeping_random_state if draws else tag_activation_checkpoint
    calls = [node.target for node in graph.graph.nodes if "checkpoint" in str(node.target)]
    assert calls == [expected, expected]


@pytest.mark.row("H7")
@pytest.mark.parametrize("reentrant", [False, True])
def test_a_checkpoint_updates_running_statistics(reentrant: bool) -> None:
    """torch.compile with the back end eager fails in the backward pass: it passes the statistics as arguments."""
    graphs: list[Any] = []

    def run(wrap_it: Any) -> list[torch.Tensor]:
        torch.manual_seed(0)
        norm = torch.nn.BatchNorm1d(3)
        net = torch.nn.Sequential(torch.nn.Linear(3, 3), norm, torch.nn.Dropout(0.5))
        run_net = wrap_it(lambda x: checkpoint(net, x * 2, use_reentrant=reentrant).sin())
        inputs = torch.linspace(-1, 1, 12).reshape(4, 3).requires_grad_()
        for _ in range(2):
            run_net(inputs).sum().backward()
        return [inputs.grad, *(each.grad for each in net.parameters()), *norm.buffers()]

    def compiled(program: Any) -> Any:
        backend = lambda graph, examples: graphs.append(graph) or graph
        options = {"graph_runs_as_it_is": True}
        return tracer_core.compile(program, backend=backend, options=options, fullgraph=True)

    for ours, plain in zip(run(compiled), run(lambda program: program), strict=True):
        torch.testing.assert_close(ours, plain, rtol=0, atol=0)
    assert len(graphs) == 1


@pytest.mark.row("H7")
def test_a_checkpoint_still_tells_that_its_argument_has_changed() -> None:
    count = torch.zeros(3)

    def block(a: torch.Tensor) -> torch.Tensor:
        count.add_(1)
        return a.sin() * a

    def program(x: torch.Tensor) -> torch.Tensor:
        y = x * 1
        z = checkpoint(block, y, use_reentrant=False)
        y.add_(1)
        return z

    for each in (program, tracer_core.compile(program, backend="eager", fullgraph=True)):
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            each(torch.ones(3, requires_grad=True)).sum().backward()


@pytest.mark.row("H7")
def test_a_reentrant_checkpoint_without_a_gradient_runs_as_plain_python() -> None:
    def program(x: torch.Tensor) -> torch.Tensor:
        return checkpoint(NET, x + 1, use_reentrant=True) * 2

    error = refused(program, lambda: (torch.ones(2, 3),))
    assert error.reason_id == "checkpoint-without-gradient"
    with pytest.warns(UserWarning, match="None of the inputs have requires_grad=True"):
        assert not tracer_core.compile(program, backend="eager")(torch.ones(2, 3)).requires_grad


@pytest.mark.row("H17")
@pytest.mark.parametrize("dynamic", [False, True])
def test_a_region_is_one_body_however_often_it_is_called(dynamic: bool) -> None:
    @torch.compiler.nested_compile_region
    def region(a: torch.Tensor, b: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return a.sin() * b, a + 1

    def program(x: torch.Tensor) -> torch.Tensor:
        a, b = region(x, x + 1)
        c, d = region(a, b)
        return c + d

    (graph,) = same_three_ways(program, lambda: (torch.ones(2, 3),), dynamic=dynamic)
    calls = graph.graph.find_nodes(op="call_function", target=torch.ops.higher_order.invoke_subgraph)
    assert len(calls) == 2
    assert len({node.args[0] for node in calls}) == 1


@torch.compiler.nested_compile_region
def times(x: torch.Tensor, factor: Any) -> torch.Tensor:
    return x * factor


@torch.compiler.nested_compile_region
def negated_by(x: torch.Tensor, wrapper: Callable[..., Any]) -> torch.Tensor:
    return dynamo_bypassing_wrapper(wrapper, torch.neg, x)


def bypassing(by: float) -> Callable[..., Any]:
    return lambda function: lambda *args: function(*args) * by


TWICE, THRICE = bypassing(2.0), bypassing(3.0)


@pytest.mark.row("H17")
@pytest.mark.parametrize(
    ("program", "bodies"),
    [
        (lambda x: (times(x, 2), times(x, 2.0), times(x, 2)), 2),
        (lambda x: (times(x, 1), times(x, True), times(x, 1.0)), 3),
        (lambda x: (1 / times(x, 0.0), 1 / times(x, -0.0)), 2),
        (lambda x: (negated_by(x, TWICE), negated_by(x, THRICE), negated_by(x, TWICE)), 2),
    ],
)
def test_regions_that_compute_something_else_are_bodies_of_their_own(
    program: Callable[..., Any], bodies: int
) -> None:
    """(torch takes numbers for the same that are equal, and gives the result of the first.)"""
    graphs: list[torch.fx.GraphModule] = []

    def backend(graph: torch.fx.GraphModule, examples: Any) -> Callable[..., Any]:
        graphs.append(graph)
        return graph.forward

    arguments = lambda: (torch.arange(4),)
    agree(
        outcome(tracer_core.compile(program, backend=backend, fullgraph=True), arguments), outcome(program, arguments)
    )
    calls = graphs[0].graph.find_nodes(op="call_function", target=torch.ops.higher_order.invoke_subgraph)
    assert len({node.args[0].target for node in calls}) == bodies


@pytest.mark.row("H17")
def test_a_region_can_be_differentiated() -> None:
    @torch.compiler.nested_compile_region
    def region(a: torch.Tensor) -> torch.Tensor:
        return a.sin() * SCALE

    def program(x: torch.Tensor) -> torch.Tensor:
        return region(region(x)) + 1

    for backend in ("eager", "aot_eager"):
        tracer_core.reset()
        compiled = tracer_core.compile(program, backend=backend, fullgraph=True)
        agree(outcome(compiled, leaf), outcome(program, leaf))


@pytest.mark.row("F12")
def test_a_flag_that_is_set_so_already_is_left() -> None:
    def program(x: torch.Tensor) -> torch.Tensor:
        y = x * 2
        y.requires_grad_(True)
        return checkpoint(block, y, use_reentrant=False)

    same_three_ways(program, leaf)
    assert refused(program, lambda: (torch.ones(2, 3),)).reason_id == "autograd-flag"


@pytest.mark.row("H7")
def test_a_checkpoint_without_a_kind_is_captured_with_a_notice() -> None:
    def program(x: torch.Tensor) -> torch.Tensor:
        return checkpoint(block, x * 2)

    compiled = tracer_core.compile(program, backend="eager", fullgraph=True)
    with pytest.warns(tracer_core.NoticeWarning, match="without use_reentrant"):
        mine = outcome(compiled, leaf)
    with pytest.warns(UserWarning, match="use_reentrant parameter should be passed explicitly"):
        agree(mine, outcome(program, leaf))
