"""Trackers know which graph their nodes live in; what the trace knows of the program is rolled back to a mark."""

from __future__ import annotations

import builtins
import random
from typing import Any

import pytest
import torch

from tests.graph.nested import call, finish, names, placeholders, run
from tracer_core.frame_input import Config, FrameInput
from tracer_core.interpreter.load import load_handlers
from tracer_core.interpreter.machine import Interpreter
from tracer_core.sources import LocalSource
from tracer_core.variables.core.base import VariableTracker
from tracer_core.variables.core.lazy import LazyVariableTracker
from tracer_core.variables.core.tensors import TensorVariable
from tracer_core.variables.operations.attributes import get_attr
from tracer_core.variables.operations.in_graph import call_in_graph
from tracer_core.variables.random.python_streams import drawn

load_handlers()


def function(x, y, held):
    return x


def tracing(dynamic: bool | None = None) -> Interpreter:
    given = {"x": torch.randn(3, 4), "y": torch.randn(3, 4), "held": [torch.randn(4), {"z": torch.randn(4)}]}
    config = Config(lambda graph, examples: graph.forward, dynamic)
    code = function.__code__
    return Interpreter(FrameInput(code, given, globals(), vars(builtins), (), 1, {}, config))


def local(tx: Interpreter, name: str) -> VariableTracker:
    return tx.build(tx.input.locals[name], LocalSource(name))


def add(tx: Interpreter, *args: VariableTracker) -> VariableTracker:
    return call_in_graph(tx, "call_function", torch.add, list(args), {})


@pytest.mark.row("O2")
@pytest.mark.row("B7")
def test_a_tracker_of_an_outer_graph_is_lifted_where_an_inner_one_uses_it() -> None:
    tx = tracing()
    x, one = local(tx, "x"), tx.constant(1)
    a = add(tx, x, one)
    with tx.output.subtracer() as middle:
        b = add(tx, a, x)
        with tx.output.subtracer() as innermost:
            # First looked at here: its input is the frame's all the same.
            z = tx.build(tx.input.locals["held"][0], LocalSource("z"))
            c = add(tx, b, z)
            assert add(tx, c, a).node.graph is c.node.graph is innermost.graph  # type: ignore[union-attr]
        assert b.node is not None
        assert b.node.graph is middle.graph
    assert z.node is not None
    assert z.node.graph is tx.output.root.graph
    assert names(innermost.operands) == ["add_1", "z", "add"]
    assert placeholders(tx.output.root) == ["x", "z"]


@pytest.mark.row("O2")
def test_a_size_asked_for_inside_is_the_frames_symbol() -> None:
    tx = tracing(dynamic=True)
    x = local(tx, "x")
    with tx.output.subtracer() as inner:
        sizes = get_attr(tx, x, "shape").items_or_none(tx)
        assert sizes is not None
        number = sizes[0].realize()
        assert number.node is not None
        assert number.node.graph is tx.output.root.graph
        a = add(tx, x, number)
    assert isinstance(a, TensorVariable)
    (result,) = call(tx.output, inner, [a.node])
    got = run(tx.output, finish(tx.output, [result]))
    assert torch.equal(got[0], tx.input.locals["x"] + 3)


@pytest.mark.row("O2")
def test_what_was_looked_at_since_a_mark_is_not_looked_at() -> None:
    tx = tracing()
    held = tx.lazy(tx.input.locals["held"], LocalSource("held"))
    x = local(tx, "x")
    before = known(tx)
    mark = tx.trace.mark()
    with pytest.raises(ZeroDivisionError), tx.output.subtracer():
        first = held.realize().items_or_none(tx)
        assert first is not None
        assert first[0].realize().node is not None
        add(tx, x, first[0])
        drawn(tx, None, "random", [], {}, random.random)
        tx.trace.generators.append(object())
        tx.trace.check_steps.append(1)
        tx.trace.compiling_check = "is it compiled?"
        tx.trace.libraries.name(vars(random), "random")
        tx.trace.dict_owners[1] = 2
        assert known(tx) != before
        1 / 0  # noqa: B018
    tx.trace.roll_back(mark)
    assert known(tx) == before
    assert isinstance(held, LazyVariableTracker)
    assert held.realized is None
    # It is looked at anew, and the graph gets its inputs again.
    items = held.realize().items_or_none(tx)
    assert items is not None
    assert items[0].realize().node in {argument.node for argument in tx.output.root.inputs}
    assert placeholders(tx.output.root) == ["x", "held_0"]


def known(tx: Interpreter) -> dict[str, Any]:
    """What the trace state holds, but for side effects."""
    tables = {name: repr(table) for name, table in vars(tx.trace).items() if isinstance(table, (dict, list, str))}
    libraries = {name: repr(table) for name, table in vars(tx.trace.libraries).items()}
    graph = tx.output.root.graph
    return tables | libraries | {"nodes": repr(list(graph.nodes)), "guards": repr(list(tx.output.guards))}
