"""The rules by which arguments of bodies become inputs, and the other parts of `speculate_subgraph`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch._higher_order_ops.wrap import wrap_with_set_grad_enabled
from torch.fx import GraphModule, Node

import tracer_core
from tracer_core.errors import Unsupported
from tracer_core.higher_order import inputs
from tracer_core.higher_order.results import add_module, same_results
from tracer_core.higher_order.speculate import Rules, speculate_subgraph
from tracer_core.variables.core.base import VariableTracker
from tracer_core.variables.core.registry import handles
from tracer_core.variables.core.tracing import Tracing

pytestmark = pytest.mark.row("H1")

RULES = {
    each.__name__: each
    for each in (
        inputs.automatic,
        inputs.automatic_with_forced_inputs,
        inputs.lifted_first,
        inputs.semi_automatic,
        inputs.manual,
        inputs.flatten_manual,
    )
}


def apart(body: Any, *operands: Any) -> Any:
    """What stands in a graph for an operator that runs a body."""
    return body(*operands)


def ruled(function: Callable[..., Any], rule: str, *args: Any) -> Any:
    """Call a function; in a trace, as a body whose arguments are made by the rule of that name."""
    return function(*args)


@handles(ruled)
def _ruled(
    tx: Tracing, function: VariableTracker, rule: VariableTracker, /, *args: VariableTracker
) -> VariableTracker:
    name = rule.value()
    body = speculate_subgraph(tx, "ruled", function, args, rules=Rules(RULES[name]))

    def call(fakes: tuple[Any, ...]) -> Node:
        given = [arg for arg in _leaves(tx, name, args) if arg.realize().node is not None or "manual" in name]
        passed = [] if name in ("automatic", "lifted_first") else given
        if name == "automatic_with_forced_inputs":
            passed = [arg for arg in given if isinstance(arg.realize().fake, torch.Tensor)]
        outside = [arg.realize().node or arg.realize().value() for arg in passed]
        node = add_module(tx, "body", body.close([leaf.node for leaf in body.computed]))
        arguments = (node, *outside, *body.tracer.operands)
        return tx.output.add_node("call_function", apart, arguments, {}, fakes)

    return same_results(tx, body, call)


def _leaves(tx: Tracing, name: str, args: tuple[VariableTracker, ...]) -> list[VariableTracker]:
    if name != "flatten_manual":
        return list(args)
    return [leaf for arg in args for leaf in (tx.unpack(arg) if arg.realize().python_type() is list else [arg])]


def bodies_of(program: Callable[..., Any], *args: Any, dynamic: bool = False) -> list[list[str]]:
    """Check the program's result, and return the names of the inputs of each body in its graph."""
    graphs: list[GraphModule] = []

    def backend(graph: GraphModule, examples: Any) -> Any:
        graphs.append(graph)
        return graph.forward

    compiled = tracer_core.compile(program, backend=backend, fullgraph=True, dynamic=dynamic)
    torch.testing.assert_close(compiled(*args), program(*args))
    (graph,) = graphs
    found = [module for module in graph.children() if isinstance(module, GraphModule)]
    return [[node.name for node in module.graph.find_nodes(op="placeholder")] for module in found]


X, Y = torch.ones(3), torch.arange(3.0)


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        ("automatic", ["z", "x"]),
        ("automatic_with_forced_inputs", ["x", "y", "z"]),
        ("lifted_first", ["x", "y", "z"]),
        ("semi_automatic", ["x", "y", "z"]),
        ("manual", ["x", "y", "unused", "z"]),
        ("flatten_manual", ["x", "y", "unused", "z"]),
    ],
)
def test_each_rule_makes_its_inputs(rule: str, expected: list[str]) -> None:
    def program(x: torch.Tensor, y: torch.Tensor, z: torch.Tensor) -> torch.Tensor:
        return ruled(lambda a, b, k: (z * k).sin() + a, rule, x, y, 3)

    assert bodies_of(program, X, Y, X + Y) == [expected]


def test_containers_are_built_again_in_the_body() -> None:
    def program(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return ruled(lambda pair, k: pair[0] * pair[1] + k, "flatten_manual", [x, y], 2)

    assert bodies_of(program, X, Y) == [["x", "y", "unused"]]


def test_symbolic_sizes_are_inputs_as_the_rule_says() -> None:
    for rule, expected in (("semi_automatic", 3), ("automatic_with_forced_inputs", 2), ("automatic", 2)):

        def program(x: torch.Tensor, rule: str = rule) -> torch.Tensor:
            return ruled(lambda a, n: a + 1, rule, x, x.size(0))

        tracer_core.reset()
        (names,) = bodies_of(program, torch.ones(5), dynamic=True)
        assert len(names) == expected, rule


def test_what_no_rule_can_pass_is_refused() -> None:
    def program(x: torch.Tensor) -> torch.Tensor:
        return ruled(lambda a, text: a + 1, "manual", x, [x])

    with pytest.raises(Unsupported, match="A value of type list is passed|a value of type list is passed"):
        tracer_core.compile(program, backend="eager", fullgraph=True)(X)


def test_a_body_runs_in_the_grad_mode_of_its_rules() -> None:
    def body(a: torch.Tensor) -> torch.Tensor:
        return a * (2 if torch.is_grad_enabled() else 3)

    def program(x: torch.Tensor) -> torch.Tensor:
        return wrap_with_set_grad_enabled(False, body, x)

    result = tracer_core.compile(program, backend="eager", fullgraph=True)(X.clone().requires_grad_())
    assert torch.equal(result, X * 3)
    assert not result.requires_grad
    assert torch.is_grad_enabled()
