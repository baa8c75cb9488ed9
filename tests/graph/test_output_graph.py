"""The graph's inputs: their names, their order, which of them stay; what is taken out of a finished graph."""

from __future__ import annotations

import keyword
from types import SimpleNamespace
from typing import Any

import pytest
import torch

import tracer_core
from tests.side_by_side import Watch, agree
from tracer_core.observer import observing


def ones(*shape: int) -> torch.Tensor:
    return torch.ones(*shape)


def names_of(watch: Watch) -> list[str]:
    return [node.name for node in watch.inputs()]


def sources(watch: Watch) -> list[str]:
    """Where the last graph's inputs come from."""
    return [node.meta["source"].name for node in watch.inputs()]


@pytest.mark.row("O1")
def test_placeholders_have_names_of_their_own_however_alike_their_sources_are_called() -> None:
    def function(x, L_x, d, o, add):
        y = x + L_x + add + d["x"] + d["class"] + d["a b"] + d["a-b"] + d["1"] + d[1] + d[1, 2] + d["1_2"] + d[""]
        return y + o.x + o.d["x"] + o.d_x + d["é"] + d["self"]

    def arguments() -> tuple[Any, ...]:
        keys = ("x", "class", "a b", "a-b", "1", 1, (1, 2), "1_2", "", "é", "self")
        table = {key: ones(2) * place for place, key in enumerate(keys)}
        held = SimpleNamespace(x=ones(2) * 20, d={"x": ones(2) * 30}, d_x=ones(2) * 40)
        return ones(2), ones(2) * 50, table, held, ones(2) * 60

    watch = agree(function, arguments)
    names = names_of(watch)
    assert len(watch.graphs) == 1
    assert len(set(names)) == len(names) == 17
    assert all(name.isidentifier() and not keyword.iskeyword(name) for name in names)


@pytest.mark.row("O1")
def test_arguments_called_like_what_generated_code_uses() -> None:
    def function(self, torch, print, operator, forward, output, s0):
        return self + torch * 2 + print * 3 + operator * 5 + forward * 7 + output * 11 + s0 * 13

    watch = agree(function, lambda: tuple(ones(2) * n for n in range(7)))
    places = [
        ("self", "torch", "print", "operator", "forward", "output", "s0").index(name) for name in sources(watch)
    ]
    given = [ones(2) * n for n in range(7)]
    assert torch.equal(watch.graphs[0](*[given[place] for place in places])[0], function(*given))


@pytest.mark.row("O1")
@pytest.mark.parametrize("dynamic", [None, True])
def test_symbols_come_before_the_tensors_whose_sizes_they_are(dynamic: bool | None) -> None:
    watch = agree(
        lambda a, b, s0: (a @ b).sum() * s0.shape[0],
        *[lambda n=n: (ones(n, n + 1), ones(n + 1, n + 2), ones(n + 3)) for n in (2, 3, 5)],
        dynamic=dynamic,
    )
    met: set[str] = set()
    for node in watch.inputs():
        value = node.meta["example_value"]
        if isinstance(value, torch.SymInt):
            met.add(str(value))
        else:
            used = {str(s) for n in value.shape if isinstance(n, torch.SymInt) for s in n.node.expr.free_symbols}
            assert used <= met
    assert len(watch.graphs) == (1 if dynamic else 2)


@pytest.mark.row("O4")
def test_a_stride_that_no_size_explains_is_a_symbol_and_goes_into_the_graph() -> None:
    watch = agree(
        lambda x: x * x.stride(0) + x.stride(1),
        *[lambda n=n: (torch.arange(40.0 * n).as_strided((n, 3), (7 * n, 2)),) for n in (2, 3, 4)],
    )
    assert len(watch.graphs) == 2
    assert sorted(sources(watch)) == ["x", "x.size(0)", "x.stride(0)", "x.stride(1)"]


@pytest.mark.row("O1", "O10")
def test_inputs_that_nobody_reads_are_left_out() -> None:
    watch = agree(
        lambda a, b, n, items: (a.shape[0] * n, b + items["used"], items["unused"].dim()),
        *[lambda k=k: (ones(k), ones(2), k + 2, {"used": ones(2), "unused": ones(3)}) for k in (3, 4, 5)],
    )
    assert sorted(sources(watch)) == ["a.size(0)", "b", "items['used']", "n"]


@pytest.mark.row("O10")
def test_sums_of_sizes_and_results_taken_apart_for_nothing_leave_the_graph() -> None:
    def function(x):
        rows = x.shape[0] * 2 + 1
        values, places = torch.topk(x, 2)
        assert rows > 2
        return values + 1

    watch = agree(function, *[lambda n=n: (ones(n, 4),) for n in (3, 4, 5)])
    assert watch.ops() == ["topk", "getitem", "add"]


SWITCHES = {
    "nothing between": (["off", "on"], 0),
    "the mode that is on": (["on", "on"], 0),
    "twice off": (["off", "off", "op", "on"], 2),
    "off, op, on": (["off", "op", "on", "op"], 2),
    "off, on, off, op": (["off", "on", "off", "op", "on"], 2),
    "two blocks side by side": (["off", "op", "on", "off", "op", "on"], 2),
    "only sizes asked between": (["off", "size", "on", "op"], 0),
    "left off": (["op", "off"], 1),
}


@pytest.mark.row("O10", "O3")
@pytest.mark.parametrize("name", SWITCHES)
def test_switches_of_the_grad_mode_that_change_nothing_leave_the_graph(name: str) -> None:
    script, left = SWITCHES[name]

    def function(x, script):
        results = [x.sum()]
        for step in script:
            if step == "op":
                results.append(x * 2)
            elif step == "size":
                results.append(x.shape[0])
            else:
                torch.set_grad_enabled(step == "on")
        return results, torch.is_grad_enabled()

    with torch.enable_grad():
        plain = function(torch.ones(2, requires_grad=True), script)
    watch = Watch()
    with observing(watch), torch.enable_grad():
        ours = tracer_core.compile(function, backend=watch.backend)(torch.ones(2, requires_grad=True), script)
        after = torch.is_grad_enabled()
    assert ours[1] == plain[1] == after
    asks = [[getattr(each, "requires_grad", None) for each in run[0]] for run in (plain, ours)]
    assert asks[0] == asks[1]
    assert watch.ops().count("_set_grad_enabled") == left


@pytest.mark.row("O5")
def test_a_tensor_made_from_numbers_is_made_in_the_graph() -> None:
    watch = agree(lambda x: x + torch.tensor([1.0, 2.0]) * torch.tensor(3), lambda: (ones(2),))
    assert watch.ops() == ["tensor", "tensor", "mul", "add"]
    assert len(watch.inputs()) == 1


shared = torch.nn.Linear(2, 2)
MODULES = {"first": shared, "second": torch.nn.Sequential(shared, torch.nn.Linear(2, 2))}


@pytest.mark.row("O5", "B11")
def test_a_parameter_reached_in_three_ways_is_one_input_by_its_qualified_name() -> None:
    def function(x):
        return MODULES["first"](x) + MODULES["second"](x) + MODULES["second"][0](x) + shared.weight.sum()

    watch = agree(function, lambda: (ones(2),))
    assert names_of(watch) == [
        "x",
        "modules_first_weight",
        "modules_first_bias",
        "modules_second_1_weight",
        "modules_second_1_bias",
    ]
    parameters = [value for value in watch.examples[0] if isinstance(value, torch.nn.Parameter)]
    assert len(parameters) == 4


@pytest.mark.row("O1")
def test_one_tensor_given_twice_is_one_input() -> None:
    def function(a, b):
        return a * 2 + b

    one = ones(2)
    watch = agree(function, lambda: (one, one), lambda: (ones(2), ones(2)), lambda: (one, one))
    assert [len(watch.inputs(graph)) for graph in range(len(watch.graphs))] == [1, 2]
