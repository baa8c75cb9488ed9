"""Programs that read tensors and write to them in turn, in every way torch has: each read sees the writes before it
and none after, whatever the engine merges, drops, puts off or undoes."""

from __future__ import annotations

import contextlib
import io
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import tracer_core
from tests.side_by_side import Watch

OPTIONS = {"raise_internal_faults": True, "replay_prints": True}
SCALE = 1.0

READS = (
    "x[1].item()", "y[0].item()", "d[0].item()", "x.tolist()", "y.tolist()", "bool(x[0] > 3)", "bool((y > 2).all())",
    "float(x[0])", "int(y[1])", "x.sum() * 1", "y * 2", "x[0] + 0", "x[i]", "y[-1:] + 1", "x.size(0)", "y.numel()",
    "x.data[0] * 1", "d.mean()", "len(x)", "torch.stack([x[0], y[0]])", "3 if y[0] > 2 else 4", "x[x > 2]",
    "torch.tensor([x[0], 1.0])", "a[0] + 0", "a.sum()", "float(a[1])", "n.n", "SCALE", "n.x * 1", "len(n.items)",
)  # fmt: skip
WRITES = (
    "x.add_(1)", "x.mul_(2)", "x[0] = 5", "x[1:] = 7", "y.add_(3)", "y[0] = 1", "x.data.add_(1)", "x.data[0] = 2",
    "d.sub_(1)", "x.detach().mul_(3)", "x.view(3).fill_(2)", "torch.add(x, 1, out=x)", "torch.mul(y, 2, out=y)",
    "torch.add(x.data, 1, out=x.data)", "torch._foreach_add_([x, y], 1.0)", "x += y.sum()", "x.copy_(x.flip(0))",
    "x.index_add_(0, i, torch.ones(1))", "a += 1", "a[0] = 4", "n.n += 1", "n.x = n.x + x[0]",
    "n.items.append(x[0] * 1)",
    "x.data = x.data + 1", "y.clamp_(max=4)", "torch.nn.init.constant_(x, 2)", "torch.manual_seed(0)",
    "torch.rand(3, out=x)", "x.mul_(random.random())", "x.uniform_()",
)  # fmt: skip
BREAKS = ("torch._dynamo.graph_break()", "print(x)", "print(y, d)", "print(x.data)", "x[0].item()")


class Holder:
    def __init__(self) -> None:
        self.n = 2
        self.x = torch.ones(2)
        self.items: list[Any] = []


def arguments() -> tuple[Any, ...]:
    """A tensor, a view of it, another that shares its data, an array in its memory, an index and an object."""
    x = torch.tensor([1.0, 2.0, 3.0])
    return x, x[1:], x.detach(), x.numpy(), torch.tensor([1]), Holder()


def program(lines: list[str]) -> Callable[..., Any]:
    """A function of these lines that returns all that they read."""
    body = "".join(f"    out.append({line})\n" if line in READS else f"    {line}\n" for line in lines)
    text = f"def f(x, y, d, a, i, n):\n    out = []\n{body}    return out\n"
    names: dict[str, Any] = {"torch": torch, "random": random, "SCALE": SCALE}
    exec(text, names)
    return names["f"]  # type: ignore[no-any-return]


def seen(function: Callable[..., Any]) -> str:
    """All that two calls give, print and leave changed."""
    random.seed(0)
    torch.manual_seed(0)
    given = [arguments() for _ in range(2)]
    results: list[Any] = []
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        for each in given:
            try:
                results.append(function(*each))
            except Exception as error:  # noqa: BLE001
                results.append((type(error), str(error)))
    left = [(*each[:-1], vars(each[-1])) for each in given]
    return f"{results}\n{left}\n{torch.rand(1)} {random.random()}\n{printed.getvalue()}"


@pytest.mark.row("I5")
@settings(deadline=None, max_examples=60)
@given(lines=st.lists(st.sampled_from((*READS, *WRITES, *WRITES, *BREAKS)), min_size=2, max_size=9))
def test_programs_of_reads_and_writes(lines: list[str]) -> None:
    agrees(program([*lines, "x * 1"]))


def agrees(function: Callable[..., Any]) -> None:
    tracer_core.reset()
    compiled = tracer_core.compile(function, backend="eager", options=OPTIONS)
    assert seen(compiled) == seen(function)


# --- one by one ---------------------------------------------------------------------------------------------------


def print_then_write_through_data(x, y, d, a, i, n):
    print(x)
    x.data.add_(1)
    return x * 1


def print_then_write_what_it_is_a_view_of(x, y, d, a, i, n):
    print(y)
    x.add_(1)
    return x * 1


def print_then_write_its_array(x, y, d, a, i, n):
    print(x)
    a += 1
    return x * 1


def print_then_give_it_other_data(x, y, d, a, i, n):
    print(y)
    y.data = y * 2
    return y * 1


def statistics_of_two_layers(x, y, d, a, i, n):
    """The second call finds the first's answer in torch's cache for fakes: what it writes shows in neither."""
    mean, variance = torch.zeros(3), torch.ones(3)
    for _ in range(2):
        torch.nn.functional.batch_norm(x.expand(2, 3) * 1, mean, variance, training=True)
        n.items.append(mean.clone())
    print(mean)
    torch.nn.functional.batch_norm(x.expand(2, 3) * 1, mean, variance, training=True)
    return mean + variance


ONE_BY_ONE = [
    print_then_write_through_data,
    print_then_write_what_it_is_a_view_of,
    print_then_write_its_array,
    print_then_give_it_other_data,
    statistics_of_two_layers,
]


@pytest.mark.row("I5")
@pytest.mark.parametrize("function", ONE_BY_ONE, ids=lambda f: f.__name__)
def test_what_is_shown_later_is_what_was_there(function: Callable[..., Any]) -> None:
    agrees(function)


@pytest.mark.row("I5")
@pytest.mark.parametrize(
    "write",
    ["x.data.add_(1)", "torch.add(x.data, 1, out=x.data)", "x.detach().add_(1)", "x[0].add_(1)",
     "torch._foreach_add_([x.data], 1.0)", "torch.nn.functional.batch_norm(a, x, x + 1, training=True)"],
)  # fmt: skip
def test_writes_of_every_kind_are_undone_where_the_graph_raises(write: str) -> None:
    names: dict[str, Any] = {"torch": torch}
    text = "    try:\n        return torch.ones(3)[i] + x\n    except IndexError:\n        return x * 1\n"
    exec(f"def f(x, a, i):\n    {write}\n{text}", names)
    compiled = tracer_core.compile(names["f"], backend="eager", options={"raise_internal_faults": True})
    results = []
    for function in (names["f"], compiled):
        x, a = torch.tensor([1.0, 2.0, 3.0]), torch.arange(6.0).view(2, 3)
        results.append([function(x, a, torch.tensor([index])).tolist() for index in (1, 7, 2)] + x.tolist())
    assert results[0] == results[1]


@pytest.mark.row("O11")
def test_equal_numbers_are_computed_once_and_only_these() -> None:
    """Equal sums of whole numbers are one node, floats that equal each other but are not the same are not."""

    def whole(x: torch.Tensor, n: int) -> Any:
        return x * (n + 2 - 1), x * (1 + n)

    def signs(x: torch.Tensor, s: float) -> Any:
        return 1 / (x * (s * 0.0)), 1 / (x * (s * -0.0)), x * (s - s)

    watch = Watch()
    compiled = tracer_core.compile(whole, backend=watch.backend, options=OPTIONS)
    for n in (3, 4, 5):
        assert str(compiled(torch.ones(2), n)) == str(whole(torch.ones(2), n))
    assert sum("add" in node.name for node in watch.graphs[-1].graph.nodes) == 1
    compiled = tracer_core.compile(signs, backend="eager", options=OPTIONS)
    for s in (1.5, 2.5, -3.5, float("inf"), 0.0):
        assert str(compiled(torch.ones(2), s)) == str(signs(torch.ones(2), s))


@pytest.mark.row("I5")
@pytest.mark.usefixtures("optimizers_unmarked")
def test_reads_of_one_tensor_stay_where_they_stand() -> None:
    """The step counter of an optimizer is read twice, and counted up in between."""
    watch = Watch()
    compiled = tracer_core.compile(lambda o: (o.step(), o.step()), backend=watch.backend, options=OPTIONS)
    parameter = torch.nn.Parameter(torch.tensor([1.0, 2.0]))
    parameter.grad = torch.tensor([0.5, -0.5])
    compiled(torch.optim.Adam([parameter], lr=0.1))
    # By hand: with gradients that stay, Adam goes by the learning rate in each step, as far as eps lets it.
    torch.testing.assert_close(parameter.detach(), torch.tensor([0.8, 2.2]))
    (graph,) = watch.graphs
    assert sum(node.target == "item" for node in graph.graph.nodes) == 2


@pytest.mark.row("O9")
@pytest.mark.parametrize("outer", [torch.no_grad, torch.enable_grad, torch.inference_mode])
@pytest.mark.parametrize("inner", [torch.no_grad, torch.enable_grad])
@pytest.mark.parametrize("mode", [True, False])
def test_switches_of_the_grad_mode_after_those_of_inference_mode(outer: Any, inner: Any, mode: bool) -> None:
    def function(x: torch.Tensor) -> Any:
        with outer():
            with torch.inference_mode(mode):
                first = x * 2
                with inner():
                    second = x * 3
            third = x * 4
        return first, second, third

    x = torch.ones(2, requires_grad=True)
    compiled = tracer_core.compile(function, backend="eager", options=OPTIONS)
    plain, ours = function(x), compiled(x)
    assert [(t.requires_grad, t.is_inference()) for t in ours] == [(t.requires_grad, t.is_inference()) for t in plain]


def read_only() -> tuple[Any, ...]:
    array = np.array([1.0, 2.0])
    view = array.view()
    view.flags.writeable = False
    return array, view


@pytest.mark.row("O4")
@pytest.mark.parametrize("make", [read_only, lambda: (torch.from_numpy((pair := read_only())[0]), pair[1])])
def test_an_array_that_may_not_be_written_to_shows_what_others_write_to_its_memory(make: Any) -> None:
    def function(array: Any, view: Any) -> Any:
        before = view * 1
        array += 1
        return before, view * 2

    compiled = tracer_core.compile(function, backend="eager", options=OPTIONS)
    assert str(compiled(*make())) == str(function(*make()))


def two_views() -> tuple[Any, ...]:
    x = torch.zeros(3)
    return x, x.view(3)


@pytest.mark.row("I5")
def test_a_history_that_reaches_another_input() -> None:
    def function(x: torch.Tensor, y: torch.Tensor, p: torch.Tensor) -> Any:
        x.mul_(p)
        return x.requires_grad, y.requires_grad, (y * 1).requires_grad

    compiled = tracer_core.compile(function, backend="eager", options=OPTIONS)
    for make in (lambda: (torch.zeros(3), torch.zeros(3)), two_views, lambda: two_views()[::-1]):
        p = torch.nn.Parameter(torch.ones(3))
        assert compiled(*make(), p) == function(*make(), p)


@pytest.mark.row("O11")
@pytest.mark.parametrize(
    "function",
    [
        lambda x: (torch.ops.aten.squeeze_(x).shape, x * 1),
        lambda x: (torch.add(torch.ones(4), 1, out=x), x.shape),
        lambda x: (torch.detach_(x), x.requires_grad),
    ],
)
@pytest.mark.parametrize("make", [lambda: torch.zeros(0, 1), lambda: torch.zeros(1, 4), lambda: torch.ones(4)])
def test_back_ends_that_rewrite_do_not_lose_what_inputs_become(function: Any, make: Any) -> None:
    compiled = tracer_core.compile(function, backend="aot_eager", options=OPTIONS)
    given = make(), make()
    results = []
    for each, call in zip(given, (function, compiled), strict=True):
        try:
            results.append(str(call(each)))
        except RuntimeError as error:
            results.append(str(error))
    assert results[0] == results[1] and str(given[0]) == str(given[1])


@pytest.mark.row("O9")
def test_an_item_that_nobody_takes_raises_where_there_is_none() -> None:
    def function(x: torch.Tensor) -> torch.Tensor:
        x[random.randrange(3, 9)]
        return x + 1

    compiled = tracer_core.compile(function, backend="eager", options=OPTIONS)
    with pytest.raises(IndexError):
        compiled(torch.ones(3))
    assert torch.equal(compiled(torch.ones(9)), torch.full((9,), 2.0))
