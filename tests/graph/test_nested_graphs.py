"""Graphs inside graphs: what the inner ones use of the outer ones becomes their inputs, in a fixed order."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import pytest
import torch
from functorch.experimental.control_flow import map as mapped
from torch.fx import Node
from torch.utils.checkpoint import checkpoint

from tests.back_ends import Graphs
from tests.graph.nested import call, fake_of, finish, names, op, output_for, placeholders, run, size, tensor
from tracer_core.errors import Unsupported
from tracer_core.graph.cleanup import clean_up
from tracer_core.sources import LocalSource

pytestmark = pytest.mark.row("O2")


def values(*letters: str, shape: tuple[int, ...] = (3, 4)) -> dict[str, torch.Tensor]:
    return {letter: torch.randn(*shape) for letter in letters}


def test_outer_values_become_inputs_in_the_order_of_first_use() -> None:
    given = values("x", "y", "z")
    output = output_for(given)
    x, y, z = (tensor(output, name) for name in "xyz")
    a = op(output, torch.add, x, 1)
    with output.subtracer() as inner:
        first = op(output, torch.mul, z, a)
        second = op(output, torch.sub, first, op(output, torch.mul, x, z))
        third = op(output, torch.add, second, a)
    (result,) = call(output, inner, [third])
    assert placeholders(inner) == ["z", "add", "x"]
    assert names(inner.operands) == ["z", "add", "x"]
    assert inner.operands == [z, a, x]
    (got,) = run(output, finish(output, [result]))
    x_, z_ = given["x"], given["z"]
    assert torch.equal(got, z_ * (x_ + 1) - x_ * z_ + (x_ + 1))
    assert not y.users


def test_a_value_is_lifted_through_every_graph_between() -> None:
    given = values("x", "w")
    output = output_for(given)
    x, w = tensor(output, "x"), tensor(output, "w")
    with output.subtracer() as middle:
        b = op(output, torch.mul, x, 2)
        with output.subtracer() as innermost:
            c = op(output, torch.add, b, w)  # one from the middle, one from the outermost
            d = op(output, torch.sub, c, w)
        (d,) = call(output, innermost, [d])
        e = op(output, torch.mul, d, x)
    (e,) = call(output, middle, [e])
    assert placeholders(middle) == ["x", "w"]
    assert middle.operands == [x, w]
    assert placeholders(innermost) == ["mul", "w"]
    assert innermost.operands == [b, middle.lift(w)]
    (got,) = run(output, finish(output, [e]))
    assert torch.equal(got, (given["x"] * 2 + given["w"] - given["w"]) * given["x"])


def test_two_graphs_side_by_side_lift_on_their_own() -> None:
    given = values("x", "y")
    output = output_for(given)
    x, y = tensor(output, "x"), tensor(output, "y")
    with output.subtracer() as left:
        a = op(output, torch.add, x, y)
    with output.subtracer() as right:
        b = op(output, torch.sub, y, x)
    (a,), (b,) = call(output, left, [a]), call(output, right, [b])
    assert (placeholders(left), placeholders(right)) == (["x", "y"], ["y", "x"])
    assert [node.name for node in output.root.graph.find_nodes(op="get_attr")] == ["body", "body_1"]
    got = run(output, finish(output, [a, b]))
    assert torch.equal(got[0], given["x"] + given["y"])
    assert torch.equal(got[1], given["y"] - given["x"])


@pytest.mark.row("O1")
@pytest.mark.row("O4")
def test_symbols_come_before_the_first_tensor_that_needs_them() -> None:
    output = output_for({"x": torch.randn(3, 4), "y": torch.randn(5)}, dynamic=True)
    y, x = tensor(output, "y"), tensor(output, "x")
    with output.subtracer() as middle, output.subtracer() as innermost:
        a = op(output, torch.mul, x, 2)
        b = op(output, torch.add, y, size(output, x, 1))
    n, m = (str(fake_of(x).shape[dim]) for dim in (0, 1))
    k = str(fake_of(y).shape[0])
    assert placeholders(output.root) == [k, "y", n, m, "x"] or placeholders(output.root) == [k, "y", m, n, "x"]
    both = placeholders(output.root)[2:]
    for tracer in (middle, innermost):
        assert placeholders(tracer) == [*both, k, "y"]
        assert names(tracer.operands) == [*both, k, "y"]
    with output.inside(middle):
        results = call(output, innermost, [a, b])
    got = run(output, finish(output, call(output, middle, results)))
    assert torch.equal(got[0], output.frame.locals["x"] * 2)
    assert torch.equal(got[1], output.frame.locals["y"] + 4)


@pytest.mark.row("O4")
def test_a_size_computed_inside_is_arithmetic_on_lifted_symbols() -> None:
    output = output_for(values("x"), dynamic=True)
    x = tensor(output, "x")
    with output.subtracer() as inner:
        a = op(output, torch.cat, [x, x])
        number = size(output, op(output, torch.cat, [x, x]), 0)
        assert number.graph is inner.graph
        assert number.target is operator.mul
        b = op(output, torch.add, a, number)
    got = run(output, finish(output, call(output, inner, [b])))
    x_ = output.frame.locals["x"]
    assert torch.equal(got[0], torch.cat([x_, x_]) + 6)


def test_a_number_computed_outside_is_lifted_as_it_is() -> None:
    output = output_for(values("x"), dynamic=True)
    x = tensor(output, "x")
    n = size(output, x, 0)
    double = op(output, operator.mul, n, 2)
    with output.subtracer() as inner:
        a = op(output, operator.add, double, n)
        b = op(output, torch.add, 1, a)
    assert inner.operands == [double, n]
    assert run(output, finish(output, call(output, inner, [a, b]))) == (9, 10)


def test_a_symbol_that_a_node_gives_is_found_from_inside() -> None:
    """A number that only the running program knows; its symbol says the size of a tensor."""
    output = output_for({"x": torch.tensor(3)})
    x = tensor(output, "x")
    with output.subtracer() as middle:
        number = output.add_node("call_method", "item", (x,), {}, output.fakes.unknown(int))
        with output.fakes.mode, output.fakes.shape_env.ignore_fresh_unbacked_symbols():
            fake = torch.empty(fake_of(number))
        a = output.add_node("call_function", torch.ones, (number,), {}, fake)
        with output.subtracer() as innermost:
            b = op(output, torch.add, a, 1)
        assert innermost.operands == [number, a]
        (b,) = call(output, innermost, [b])
    got = run(output, finish(output, call(output, middle, [b])))
    assert torch.equal(got[0], torch.ones(3) + 1)


def test_floats_are_lifted() -> None:
    output = output_for({"x": torch.randn(3), "f": 2.5}, dynamic=True)
    f = output.fakes.number(2.5, LocalSource("f"))
    assert isinstance(f, torch.SymFloat)
    number, x = output.root.float_node(f, "f"), tensor(output, "x")
    with output.subtracer() as inner:
        a = op(output, torch.mul, x, number)
        b = op(output, torch.add, a, number)
    assert inner.operands[-1] is number
    got = run(output, finish(output, call(output, inner, [b])))
    assert torch.equal(got[0], output.frame.locals["x"] * 2.5 + 2.5)


def test_parameters_and_buffers_are_lifted_like_tensors() -> None:
    weight_, bias_ = torch.nn.Parameter(torch.randn(4, 4)), torch.nn.Buffer(torch.randn(4))
    given = {"x": torch.randn(4), "weight": weight_, "bias": bias_}
    output = output_for(given)
    x = tensor(output, "x")
    with output.subtracer() as middle:
        weight = tensor(output, "weight")  # first met inside: the outermost graph gets the input all the same
        with output.subtracer() as innermost:
            bias = tensor(output, "bias")
            a = op(output, torch.nn.functional.linear, x, weight, bias)
        (a,) = call(output, innermost, [a])
    assert placeholders(output.root) == ["x", "weight", "bias"]
    assert placeholders(innermost) == placeholders(middle) == ["x", "weight", "bias"]
    assert [node.meta["source"].name for node in innermost.lifted.values()] == [
        argument.source.name for argument in output.root.inputs
    ]
    (got,) = run(output, finish(output, call(output, middle, [a])))
    assert torch.equal(got, torch.nn.functional.linear(given["x"], given["weight"], given["bias"]))
    got.sum().backward()
    assert torch.equal(given["weight"].grad, given["x"].expand(4, 4))


@pytest.mark.row("O5")
def test_constants_are_lifted_and_modules_held_by_each_graph_that_uses_them() -> None:
    table, layer = torch.randn(3), torch.nn.ReLU()
    output = output_for(values("x", shape=(3,)))
    x = tensor(output, "x")
    with output.fakes.mode:
        fake = torch.empty(3)
    constant = output.current.add_attribute("table", table, fake)
    module = output.current.add_attribute("layer", layer)
    assert output.current.add_attribute("again", table, fake) is constant
    with output.subtracer() as inner:
        a = output.add_node("call_function", run_layer, (module, x), {}, fake_of(x))
        b = op(output, torch.add, a, constant)
    assert inner.operands == [x, constant]
    assert [node.target for node in inner.graph.find_nodes(op="get_attr")] == ["layer"]
    graph = finish(output, call(output, inner, [b]))
    assert torch.equal(run(output, graph)[0], output.frame.locals["x"].relu() + table)


def run_layer(layer: Any, x: Any) -> Any:
    return layer(x)


@pytest.mark.row("O5")
def test_attributes_of_one_name_are_told_apart() -> None:
    output = output_for(values("x"))
    nodes = [output.root.add_attribute("layer", each) for each in (torch.nn.ReLU(), torch.nn.Tanh())]
    x = tensor(output, "x")
    results = [output.add_node("call_function", run_layer, (node, x), {}, fake_of(x)) for node in nodes]
    assert len({node.target for node in nodes}) == 2
    got = run(output, finish(output, results))
    assert torch.equal(got[0], output.frame.locals["x"].relu())
    assert torch.equal(got[1], output.frame.locals["x"].tanh())


def test_arguments_come_before_what_is_lifted() -> None:
    output = output_for({"x": torch.randn(3, 4), "rows": torch.randn(4)}, dynamic=True)
    x, rows = tensor(output, "x"), tensor(output, "rows")
    with output.subtracer() as inner:
        first = inner.add_argument("child", fake_of(rows))
        a = op(output, torch.add, first, x)
        second = inner.add_argument("other", fake_of(rows))
        b = op(output, torch.mul, a, second)
    assert placeholders(inner)[:2] == ["child", "other"]
    assert placeholders(inner)[-1] == "x"
    assert inner.arguments == [first, second]
    (got,) = run(output, finish(output, call(output, inner, [b], rows, rows)))
    given = output.frame.locals
    assert torch.equal(got, (given["rows"] + given["x"]) * given["rows"])


def test_an_outer_value_as_the_result_of_an_inner_graph_is_lifted() -> None:
    output = output_for(values("x", "y"))
    x, y = tensor(output, "x"), tensor(output, "y")
    with output.subtracer() as inner:
        a = op(output, torch.neg, x)
    results = call(output, inner, [y, a, y])
    assert inner.operands == [x, y]
    got = run(output, finish(output, results))
    assert torch.equal(got[0], output.frame.locals["y"])
    assert torch.equal(got[1], -output.frame.locals["x"])


def test_an_exception_in_the_middle_restores_the_stack() -> None:
    output = output_for(values("x"))
    x = tensor(output, "x")
    with pytest.raises(KeyError), output.subtracer() as middle:
        with pytest.raises(ZeroDivisionError), output.subtracer():
            op(output, torch.add, x, 1)
            1 / 0  # noqa: B018
        assert output.current is middle
        raise KeyError
    assert output.current is output.root
    assert list(output.stack()) == [output.root]
    assert op(output, torch.add, x, 1).graph is output.root.graph


def test_a_graph_may_be_entered_again() -> None:
    """A forward and a backward pass may share one, say."""
    output = output_for(values("x", "y"))
    x, y = tensor(output, "x"), tensor(output, "y")
    with output.subtracer() as inner:
        a = op(output, torch.add, x, 1)
    with output.inside(inner):
        b = op(output, torch.mul, a, y)
    assert inner.operands == [x, y]
    (got,) = run(output, finish(output, call(output, inner, [b])))
    assert torch.equal(got, (output.frame.locals["x"] + 1) * output.frame.locals["y"])


def test_what_an_inner_graph_computes_does_not_stand_in_an_outer_one() -> None:
    output = output_for(values("x"))
    x = tensor(output, "x")
    with output.subtracer() as inner:
        a = op(output, torch.add, x, 1)
    with pytest.raises(Unsupported, match=r"\(add\) outside of the function"):
        op(output, torch.mul, a, 2)
    with output.subtracer(), pytest.raises(Unsupported, match=r"\(add\) outside of the function"):
        op(output, torch.mul, a, 2)
    with pytest.raises(Unsupported, match=r"\(add\) outside of the function"):
        output.root.close([a])
    assert inner.lift(a) is a


@pytest.mark.row("O10")
def test_clean_up_takes_out_lifted_values_that_nobody_reads() -> None:
    output = output_for({"x": torch.randn(3, 4), "y": torch.randn(5), "z": torch.randn(5)}, dynamic=True)
    x, y, z = (tensor(output, name) for name in "xyz")
    with output.subtracer() as inner:
        both = op(output, torch.add, y, z)
        op(output, operator.add, size(output, x, 0), 1)
        a = op(output, torch.neg, both)
    assert len(inner.operands) == 4
    inner.close([a])
    clean_up(inner)
    k = str(fake_of(y).shape[0])
    assert placeholders(inner) == names(inner.operands) == [k, "y", "z"]


# --- as torch's own compiler lifts --------------------------------------------------------------------------


def operands_of_torch(function: Callable[..., Any], *args: Any, operator_name: str) -> list[list[Any]]:
    """What `torch.compile` passes to each higher-order operator of the name, besides bodies, the outermost first."""
    backend = Graphs()
    torch._dynamo.reset()
    torch.compile(function, backend=backend, fullgraph=True, dynamic=True)(*args)
    found = []
    for graph in backend.graphs[0].modules():
        assert isinstance(graph, torch.fx.GraphModule)
        for node in graph.graph.nodes:
            if node.op == "call_function" and str(node.target) == operator_name:
                nodes = [each for each in node.all_input_nodes if each.op != "get_attr"]
                found.append([described(each) for each in nodes])
    return found


def described(node: Node) -> Any:
    """Shape or value in this call, and whether it comes in from outside."""
    fake = fake_of(node)
    now = tuple(int(n.node.hint) if isinstance(n, torch.SymInt) else n for n in getattr(fake, "shape", (fake,)))
    return type(fake).__name__ if isinstance(fake, torch.SymInt) else "tensor", now, node.op == "placeholder"


def test_a_checkpoint_in_a_checkpoint_lifts_as_in_torch() -> None:
    def function(x, y, w):
        a = x + 1

        def inner(z):
            return z * w + y + a

        def outer(z):
            b = z * 2
            return checkpoint(inner, b, use_reentrant=False) * a

        return checkpoint(outer, y, use_reentrant=False)

    given = {"x": torch.randn(3, 4), "y": torch.randn(3, 4), "w": torch.randn(5, 3, 4)}
    torchs = operands_of_torch(function, *given.values(), operator_name="tag_activation_checkpoint")
    output = output_for(given, dynamic=True)
    x, y, w = (tensor(output, name) for name in "xyw")
    a = op(output, torch.add, x, 1)
    with output.subtracer() as outer:
        b = op(output, torch.mul, y, 2)
        with output.subtracer() as inner:
            c = op(output, torch.add, op(output, torch.add, op(output, torch.mul, b, w), y), a)
        d = op(output, torch.mul, call(output, inner, [c])[0], a)
    result = call(output, outer, [d])
    assert [[described(each) for each in tracer.operands] for tracer in (outer, inner)] == torchs
    assert torch.equal(run(output, finish(output, result))[0], function(*given.values()))


def test_a_map_lifts_as_in_torch() -> None:
    def function(xs, y):
        a = y + 1
        n = y.shape[0] * 2
        return mapped(lambda x: x * a + y * n + y, xs)

    given = {"xs": torch.randn(5, 3), "y": torch.randn(3)}
    ((xs, *torchs),) = operands_of_torch(function, *given.values(), operator_name="map_impl")
    output = output_for(given, dynamic=True)
    y = tensor(output, "y")
    a = op(output, torch.add, y, 1)
    n = op(output, operator.mul, size(output, y, 0), 2)
    with output.subtracer() as inner:
        row = inner.add_argument("child", fake_of(y))
        b = op(output, torch.add, op(output, torch.mul, row, a), op(output, torch.mul, y, n))
        op(output, torch.add, b, y)
    assert [described(each) for each in inner.operands] == torchs
    assert xs == ("tensor", (5, 3), True)


def test_branches_of_a_cond_lift_what_torch_lifts() -> None:
    """(torch merges the inputs of both branches, and sorts them by name.)"""

    def function(p, x, y):
        a = x + 1
        return torch.cond(p, lambda: x * y + a, lambda: (x - a) * y, ())

    given = {"p": torch.tensor(True), "x": torch.randn(3, 4), "y": torch.randn(3, 4)}
    ((predicate, *torchs),) = operands_of_torch(function, *given.values(), operator_name="cond")
    output = output_for(given, dynamic=True)
    x, y = tensor(output, "x"), tensor(output, "y")
    a = op(output, torch.add, x, 1)
    with output.subtracer() as true:
        op(output, torch.add, op(output, torch.mul, x, y), a)
    with output.subtracer() as false:
        op(output, torch.mul, op(output, torch.sub, x, a), y)
    assert predicate == ("tensor", (), True)
    assert set(true.operands) == set(false.operands)
    assert sorted(described(each) for each in true.operands) == sorted(torchs)
