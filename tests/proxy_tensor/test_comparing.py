"""The comparison sees each kind of difference, and the table takes what it says and no more."""

from __future__ import annotations

import operator
import sys
from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.utils._pytree as pytree
from torch.fx.experimental.proxy_tensor import make_fx

from tests.proxy_tensor.accepted import Accepted
from tests.proxy_tensor.cases import Case, Setting
from tests.proxy_tensor.compare import differences
from tests.proxy_tensor.judging import judge
from tests.proxy_tensor.tracing import trace
from tests.proxy_tensor.units import Found, Report
from tests.proxy_tensor.worker import Worker

SYMBOLIC = Setting("symbolic", decomposed=False)


def traced(x: torch.Tensor) -> Any:
    return torch.cond(x.sum() > 0, lambda y: y + 1, lambda y: y - 1, (x,)), x * torch.tensor([1.0, 2.0]), x.view(-1)


CASE = Case("functions.traced", lambda: (traced, (torch.ones(3, 2),)))


def node(graph: torch.fx.GraphModule, name: str) -> torch.fx.Node:
    return next(each for each in graph.graph.nodes if each.name == name)


def rename(graph: torch.fx.GraphModule) -> None:
    node(graph, "mul").name = "product"


def retarget(graph: torch.fx.GraphModule) -> None:
    node(graph, "mul").target = torch.ops.aten.add.Tensor


def swap(graph: torch.fx.GraphModule) -> None:
    node(graph, "mul").args = tuple(reversed(node(graph, "mul").args))


def add_keyword(graph: torch.fx.GraphModule) -> None:
    node(graph, "sum_1").kwargs = {"dtype": torch.float64}


def add_node(graph: torch.fx.GraphModule) -> None:
    with graph.graph.inserting_after(node(graph, "mul")):
        graph.graph.call_function(operator.neg, (node(graph, "mul"),))


def transpose_value(graph: torch.fx.GraphModule) -> None:
    node(graph, "mul").meta["val"] = node(graph, "mul").meta["val"].t()


def forget_value(graph: torch.fx.GraphModule) -> None:
    del node(graph, "mul").meta["val"]


def separate_value(graph: torch.fx.GraphModule) -> None:
    value = node(graph, "view").meta["val"]
    with value.fake_mode:
        node(graph, "view").meta["val"] = torch.empty_strided(value.shape, value.stride())


def bind(graph: torch.fx.GraphModule) -> None:
    node(graph, "mul").meta["unbacked_bindings"] = {}


def change_constant(graph: torch.fx.GraphModule) -> None:
    graph._tensor_constant0 = torch.tensor([1.0, 3.0])


def hold_more(graph: torch.fx.GraphModule) -> None:
    graph.register_buffer("more", torch.ones(1))


def change_body(graph: torch.fx.GraphModule) -> None:
    retarget_body = next(each for each in graph.true_graph_0.graph.nodes if each.op == "call_function")
    retarget_body.target = torch.ops.aten.mul.Tensor


CHANGES: list[tuple[Callable[[torch.fx.GraphModule], None], str]] = [
    (rename, "name"),
    (retarget, "target"),
    (swap, "args"),
    (add_keyword, "kwargs"),
    (add_node, "target"),
    (transpose_value, "meta.val"),
    (forget_value, "meta.val"),
    (separate_value, "aliases"),
    (bind, "meta.unbacked_bindings"),
    (change_constant, "value of _tensor_constant0"),
    (hold_more, "attributes"),
    (change_body, "target"),
]


@pytest.mark.row("P1")
@pytest.mark.parametrize(("change", "aspect"), CHANGES, ids=[change.__name__ for change, _ in CHANGES])
def test_a_change_is_seen(change: Callable[[torch.fx.GraphModule], None], aspect: str) -> None:
    theirs, ours = (trace(make_fx, CASE, SYMBOLIC) for _ in range(2))
    assert ours.graph is not None
    change(ours.graph)
    assert aspect in {each.aspect for each in differences(theirs, ours)}


@pytest.mark.row("P1")
def test_no_change_is_none() -> None:
    assert differences(*(trace(make_fx, CASE, SYMBOLIC) for _ in range(2))) == []


@pytest.mark.row("P1")
def test_more_guards_are_seen() -> None:
    plain, guarded = (
        trace(make_fx, Case("branch", lambda f=f: (f, (torch.ones(3),))), SYMBOLIC)
        for f in (lambda x: x + 1, lambda x: x + 1 if x.shape[0] > 2 else x)
    )
    assert {each.aspect for each in differences(plain, guarded)} == {"guards of ours alone", "ranges"}
    assert {each.aspect for each in differences(guarded, plain)} == {"guards of torch alone", "ranges"}


@pytest.mark.row("P1")
@pytest.mark.parametrize("name", ["result", "arguments", "random_state"])
def test_what_tracing_and_running_leave_is_seen(name: str) -> None:
    theirs, ours = (trace(make_fx, CASE, SYMBOLIC) for _ in range(2))
    setattr(ours, name, pytree.tree_map(lambda leaf: leaf.clone().flatten().flip(0), getattr(ours, name)))
    aspects = {"result": "results"}.get(name, f"{name.replace('_', ' ')} after tracing")
    assert {each.aspect for each in differences(theirs, ours)} == {aspects}


@pytest.mark.row("P1")
def test_an_error_must_be_of_torchs_kind() -> None:
    def raising(error: Exception) -> Case:
        def function(x: torch.Tensor) -> None:
            raise error

        return Case("raising", lambda: (function, (torch.ones(1),)))

    theirs, same, finer, other = (
        trace(make_fx, raising(error), SYMBOLIC)
        for error in (RuntimeError("a"), RuntimeError("b"), NotImplementedError("c"), ValueError("d"))
    )
    assert differences(theirs, same) == differences(theirs, finer) == []
    assert [each.aspect for each in differences(theirs, other)] == ["error"]
    assert [each.aspect for each in differences(theirs, trace(make_fx, CASE, SYMBOLIC))] == ["error"]


FOUND = Found("operators.add:1", "symbolic", "guards of torch alone", "")


@pytest.mark.row("P1")
def test_a_line_of_the_table_takes_what_it_says() -> None:
    line = Accepted("operators.a*", "symbolic*", "guards*", "because")
    report = Report("operators.add", found=[FOUND])
    assert judge([report], [line], ["operators.add"]).agrees
    assert judge([report], [], ["operators.add"]).open == [FOUND]
    for other in (("operators.b*", "*", "*"), ("*", "fake", "*"), ("*", "*", "name")):
        assert judge([report], [Accepted(*other, "because")], []).open == [FOUND]


@pytest.mark.row("P1")
def test_a_line_that_takes_nothing_is_stale_once_all_it_is_about_was_compared() -> None:
    line = Accepted("operators.a*:1", "*", "*", "because")
    units = ["operators.add", "operators.abs", "operators.mul"]
    one, both = [Report("operators.add")], [Report("operators.add"), Report("operators.abs")]
    assert judge(one, [line], units).stale == []
    assert judge(both, [line], units).stale == [line]
    assert judge([*one, Report("operators.abs", lost="it crashed")], [line], units).stale == []


@pytest.mark.row("P1")
def test_a_unit_that_ends_or_hangs_its_process_loses_itself_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    commands = {"ends": "import os; input(); os._exit(3)", "hangs": "import time; time.sleep(100)"}
    for name, code in commands.items():
        worker = Worker(1, 1, seconds=5 if name == "ends" else 0.2)
        monkeypatch.setattr(worker, "command", [sys.executable, "-c", code])
        report = worker.compare("operators.add")
        assert report.lost == {"ends": "the process ended with 3", "hangs": "longer than 0.2 s"}[name]
        assert worker.process is None
