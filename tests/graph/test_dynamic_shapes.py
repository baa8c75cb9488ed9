"""Sizes and numbers as symbols: the same results as plain Python, and as many compilations as `torch.compile`."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest
import torch
import torch.fx
from hypothesis import given, settings
from hypothesis import strategies as st

import tracer_core
from tests.back_ends import Graphs
from tracer_core.observer import Observer, observing
from tracer_core.recording import Recorder, Trace

Calls = Sequence[tuple[Any, ...]]


class Guards(Observer):
    """The texts of all shape guards."""

    def __init__(self) -> None:
        self.shapes: list[str] = []

    def on_guard(self, guard: Any) -> None:
        if guard.kind == "SHAPE":
            self.shapes.append(guard.text)


@pytest.fixture(autouse=True)
def _fresh() -> Iterator[None]:
    tracer_core.reset()
    torch._dynamo.reset()
    yield
    tracer_core.reset()
    torch._dynamo.reset()


def three_ways(function: Callable[..., Any], calls: Calls, dynamic: bool | None = None) -> tuple[list[int], Graphs]:
    """Compare each call's result with plain Python's. Returns how many graphs each call made, by torch and by us the
    same, and our back end."""
    theirs, ours = Graphs(), Graphs()
    by_torch = torch.compile(function, backend=theirs, dynamic=dynamic)
    by_us = tracer_core.compile(function, backend=ours, dynamic=dynamic, options={"raise_internal_faults": True})
    made: tuple[list[int], list[int]] = ([], [])
    for args in calls:
        expected = function(*copy.deepcopy(args))
        for compiled, backend, counts in ((by_torch, theirs, made[0]), (by_us, ours, made[1])):
            before = len(backend.graphs)
            torch.testing.assert_close(compiled(*copy.deepcopy(args)), expected, rtol=0, atol=0)
            counts.append(len(backend.graphs) - before)
    assert made[1] == made[0]
    return made[1], ours


def rows(*counts: int, width: int = 6) -> list[tuple[torch.Tensor]]:
    return [(torch.arange(n * width, dtype=torch.float32).reshape(n, width),) for n in counts]


PROGRAMS: dict[str, Callable[[torch.Tensor], Any]] = {
    "reshape with -1": lambda x: x.reshape(-1) + 1,
    "product in a view": lambda x: x.view(x.shape[0] * x.shape[1]) * 2,
    "division in a view": lambda x: x.reshape(x.shape[0], 2, x.shape[1] // 2).sum(1),
    "slice by half its size": lambda x: x[: x.shape[0] // 2] + 1,
    "item at a symbolic place": lambda x: x[x.shape[0] - 1] * 2,
    "arange of its size": lambda x: x + torch.arange(x.shape[0]).unsqueeze(1),
    "cat with itself": lambda x: torch.cat([x, x[1:]]) + 1,
    "size as a number": lambda x: x * x.shape[0] + x.size(0) % 3,
    "branch on a size": lambda x: x + 1 if x.shape[0] > 2 else x - 1,
    "equal sizes": lambda x: x @ x.T if x.shape[0] == x.shape[1] else x.sum(),
    "new tensors of its size": lambda x: torch.zeros(x.shape[0], 2) + x.new_ones(x.shape[0], 1),
    "sum of sizes": lambda x: x + sum(x.shape),
    "expand": lambda x: x.unsqueeze(0).expand(2, x.shape[0], x.shape[1]) + 1,
    "sizes returned": lambda x: (x + 1, x.shape[0], x.shape[0] * 2),
    "numel": lambda x: x / x.numel(),
    "min and max of sizes": lambda x: x + max(x.shape[0], 3) - min(x.shape[0], 3),
}


@pytest.mark.row("B8")
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_size_that_varies_is_a_symbol_from_the_second_call_on(name: str) -> None:
    made, _ = three_ways(PROGRAMS[name], rows(4, 5, 7, 8))
    assert made == [1, 1, 0, 0]


@pytest.mark.row("B8")
@pytest.mark.parametrize("name", ["reshape with -1", "size as a number", "cat with itself", "arange of its size"])
def test_dynamic_true_makes_symbols_at_once(name: str) -> None:
    made, backend = three_ways(PROGRAMS[name], rows(4, 5, 9), dynamic=True)
    assert made == [1, 0, 0]
    assert any(
        isinstance(n.meta["example_value"], torch.SymInt) for n in backend.graphs[0].graph.nodes if n.op != "output"
    )


@pytest.mark.row("B8")
def test_dynamic_false_makes_none() -> None:
    made, _ = three_ways(PROGRAMS["size as a number"], rows(4, 5, 6), dynamic=False)
    assert made == [1, 1, 1]


@pytest.mark.row("B8")
def test_sizes_0_and_1_are_compiled_for_themselves() -> None:
    made, _ = three_ways(PROGRAMS["size as a number"], rows(4, 5, 1, 0, 1, 0, 6))
    assert made == [1, 1, 1, 1, 0, 0, 0]


@pytest.mark.row("I4")
def test_each_side_of_a_branch_on_a_symbol() -> None:
    made, _ = three_ways(PROGRAMS["branch on a size"], rows(3, 4, 2, 8, 2))
    assert made == [1, 1, 1, 0, 0]


@pytest.mark.row("B8")
def test_a_loop_over_a_size_fixes_it() -> None:
    def function(x: torch.Tensor) -> torch.Tensor:
        for i in range(x.shape[0]):
            x = x + i
        return x

    made, _ = three_ways(function, rows(2, 3, 4, 3))
    assert made == [1, 1, 1, 0]


@pytest.mark.row("B8")
def test_equal_sizes_share_a_symbol_until_they_differ() -> None:
    def function(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return x.sum() + y.sum() * 2

    ones = torch.ones
    calls = [(ones(4), ones(4)), (ones(5), ones(5)), (ones(6), ones(6)), (ones(6), ones(7)), (ones(8), ones(9))]
    made, _ = three_ways(function, calls)
    assert made[-1] == 0


@pytest.mark.row("B8")
def test_marks_on_tensors() -> None:
    def function(x: torch.Tensor) -> torch.Tensor:
        return x * x.shape[0]

    ours = Graphs()
    compiled = tracer_core.compile(function, backend=ours)
    marked = torch.ones(4, 3)
    torch._dynamo.mark_dynamic(marked, 0)
    for x in (marked, torch.ones(5, 3), torch.ones(6, 3)):
        assert torch.equal(compiled(x), function(x))
    assert len(ours.graphs) == 1
    tracer_core.reset()
    ours = Graphs()
    compiled = tracer_core.compile(function, backend=ours, dynamic=True)
    for n in (4, 5):
        static = torch.ones(n, 3)
        torch._dynamo.mark_static(static, 0)
        assert torch.equal(compiled(static), function(static))
    assert len(ours.graphs) == 2


@pytest.mark.row("G5")
def test_guards_name_the_source_and_are_few() -> None:
    watching = Guards()
    compiled = tracer_core.compile(lambda x: x + 1 if x.shape[0] > 3 and x.shape[0] % 2 == 0 else x, backend="eager")
    with observing(watching):
        for n in (4, 6):
            compiled(torch.ones(n))
    assert sorted(watching.shapes) == ["(x.size(0) % 2) == 0", "4 <= x.size(0)"] or (
        len(watching.shapes) == 2 and all("x.size(0)" in text for text in watching.shapes)
    )
    assert "4 <= x.size(0)" in watching.shapes


@pytest.mark.row("B4")
@pytest.mark.parametrize("numbers", [(2, 3, 4, -7, 2**40), (5, 0, 1, 9), (0, 1, 2, 3), (2.5, 3.5, -1.25, 0.0)])
def test_numbers_that_vary_are_symbols(numbers: tuple[Any, ...]) -> None:
    made, _ = three_ways(lambda x, n: x * n + 1, [(torch.ones(3), n) for n in numbers])
    assert made == [1, 1] + [0] * (len(numbers) - 2)


@pytest.mark.row("G5")
@pytest.mark.parametrize(
    "compute",
    [lambda x, n: x * (7 / (n * 1.5)), lambda x, n: x * math.sqrt(n * 1.5), lambda x, n: x * (n > math.sqrt(n))],
)
def test_guards_on_floats_made_of_whole_numbers_hold(compute: Callable[..., Any]) -> None:
    made, _ = three_ways(compute, [(torch.ones(3), n) for n in (2, 3, 4, 5)])
    assert made == [1, 1, 0, 0]


@pytest.mark.row("B4")
def test_a_float_symbol_in_arithmetic_and_returned() -> None:
    def function(x: torch.Tensor, scale: float) -> Any:
        return x * (scale * 2), scale + 1 if scale > 0 else scale

    three_ways(function, [(torch.ones(3), n) for n in (0.5, 1.5, 2.5, -2.5)])


@pytest.mark.row("O4")
def test_strides_of_views_are_symbols_with_their_sizes() -> None:
    made, _ = three_ways(
        lambda x: x.contiguous().sum(0) + x.stride(0),
        [(torch.ones(4, 6)[:, :3],), (torch.ones(5, 6)[:, :3],), (torch.ones(6, 8)[:, :3],)],
    )
    assert made == [1, 1, 0]


@pytest.mark.row("B8")
@settings(max_examples=25, deadline=None)
@given(
    st.sampled_from(sorted(PROGRAMS)),
    st.lists(st.integers(0, 9), min_size=1, max_size=4),
    st.sampled_from([None, True, False]),
)
def test_results_are_those_of_plain_python(name: str, counts: list[int], dynamic: bool | None) -> None:
    function = PROGRAMS[name]
    tracer_core.reset()
    compiled = tracer_core.compile(
        function, backend="eager", dynamic=dynamic, options={"raise_internal_faults": True}
    )
    for (x,) in rows(*counts):
        try:
            expected = function(x)
        except (RuntimeError, IndexError) as error:
            with pytest.raises(type(error)):
                compiled(x)
        else:
            torch.testing.assert_close(compiled(x), expected, rtol=0, atol=0)


@pytest.mark.parametrize(
    ("condition", "numbers", "texts"),
    [
        ("1.0 / float(n) == 0.125", (9, 10), ["1.0 / float(n) != 0.125"]),
        ("f * 3 < 1e-7 or f / 3 == 0.5", (2.5, 3.5), ["3.0*f >= 1e-07", "f / 3.0 != 0.5"]),
        ("f * 0.1 == 0.1 + 0.2", (4.5, 5.5), ["0.1*f != 0.30000000000000004"]),
    ],
)
def test_guards_have_numbers_and_parentheses_as_python_does(
    condition: str, numbers: tuple[Any, ...], texts: list[str]
) -> None:
    name = "f" if isinstance(numbers[0], float) else "n"
    namespace: dict[str, Any] = {}
    exec(f"def function(x, {name}):\n    return x + 1 if {condition} else x - 1", namespace)
    recorder = Recorder()
    compiled = tracer_core.compile(namespace["function"], backend="eager")
    with observing(recorder):
        for number in numbers:
            compiled(torch.ones(2), number)
    found = [guard.text for guard in Trace(recorder.finish()).guards]
    assert [text for text in found if text in texts] == texts, found
