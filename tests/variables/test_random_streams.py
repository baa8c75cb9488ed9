"""Random generators of Python in traced code: their streams stay those of plain Python."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import tracer_core
from tests.back_ends import Graphs

pytestmark = pytest.mark.row("O9")


def in_both(fn: Callable[..., Any], *args: Any, backend: Any = "eager", calls: int = 3) -> list[Any]:
    """The results of `calls` calls, after checking that they and the stream are those of plain Python."""
    random.seed(123)
    expected = [fn(*args) for _ in range(calls)]
    after = random.getstate()
    random.seed(123)
    compiled = tracer_core.compile(fn, backend=backend)
    found = [compiled(*args) for _ in range(calls)]
    assert random.getstate() == after
    torch.testing.assert_close(found, expected, rtol=0, atol=0)
    return found


def test_one_graph_serves_all_calls_with_new_numbers() -> None:
    def fn(x: torch.Tensor) -> Any:
        return x * random.random() + random.randint(1, 6), random.uniform(2, 3)

    graphs = Graphs()
    found = in_both(fn, torch.ones(3), backend=graphs)
    assert len(graphs.graphs) == 1
    assert len({float(result[0][0]) for result in found}) == 3


def test_numbers_that_are_only_returned_are_no_inputs_of_the_graph() -> None:
    def fn(x: torch.Tensor) -> Any:
        return x + 1, random.random(), random.randint(0, 9)

    graphs = Graphs()
    in_both(fn, torch.ones(2), backend=graphs)
    assert [node.op for node in graphs.graphs[0].graph.nodes] == ["placeholder", "call_function", "output"]


def test_tracing_draws_nothing_even_when_it_starts_over() -> None:
    def fn(x: torch.Tensor) -> torch.Tensor:
        x = x + random.random()
        if x.sum() > 1:
            x = x + random.random()
        if random.random() > 2:
            x = x * 0
        return x

    in_both(fn, torch.ones(2), calls=1)


def test_a_function_without_tensor_work_stays_python() -> None:
    def fn(x: torch.Tensor) -> Any:
        return random.random(), x

    graphs = Graphs()
    in_both(fn, torch.ones(2), backend=graphs)
    assert graphs.graphs == []


class Fails(Graphs):
    def __call__(self, graph: torch.fx.GraphModule, examples: Any) -> Callable[..., Any]:
        def run(*args: Any) -> Any:
            raise RuntimeError("out of memory")

        return run


def test_numbers_are_drawn_once_when_the_graph_fails() -> None:
    """The graph fails at run time, so plain Python runs the function from its start."""

    def fn(x: torch.Tensor, other: random.Random) -> Any:
        return x + random.random() + other.random(), random.randint(0, 5)

    random.seed(1)
    expected = fn(torch.ones(2), random.Random(5))
    state = random.getstate()
    random.seed(1)
    found = tracer_core.compile(fn, backend=Fails())(torch.ones(2), random.Random(5))
    torch.testing.assert_close(found, expected, rtol=0, atol=0)
    assert random.getstate() == state


def test_a_division_that_nobody_looks_at_still_raises() -> None:
    def fn(x: torch.Tensor) -> torch.Tensor:
        n = random.randint(0, 1)
        10 // n
        return x + n

    compiled = tracer_core.compile(fn, backend="eager")
    for seed in range(6):
        random.seed(seed)
        zero = random.randint(0, 1) == 0
        random.seed(seed)
        if zero:
            with pytest.raises(ZeroDivisionError):
                compiled(torch.ones(2))
        else:
            assert compiled(torch.ones(2)).tolist() == [2.0, 2.0]


def test_a_draw_that_raises_when_it_runs_raises_at_its_place() -> None:
    """For most draws the result is finite; this one overflows when the normal number is large."""

    seen: list[str] = []

    def fn(x: torch.Tensor, log: list[str]) -> Any:
        log.append("before")
        y = x + random.lognormvariate(0, 1e4)
        log.append("after")
        return y

    compiled = tracer_core.compile(fn, backend="eager")
    outcomes = set()
    for seed in range(12):
        results = []
        for call in (fn, compiled):
            log: list[str] = []
            random.seed(seed)
            try:
                results.append((str(call(torch.ones(1), log)), log, random.getstate()))
            except OverflowError as error:
                results.append((str(error), log, random.getstate()))
        assert results[0] == results[1]
        outcomes.add(len(results[0][1]))
    assert outcomes == {1, 2}
    assert seen == []


@pytest.mark.parametrize("backend", ["aot_eager", "inductor"])
def test_compiled_by_back_ends(backend: str) -> None:
    def fn(x: torch.Tensor) -> Any:
        r, n = random.random(), random.randint(1, 5)
        return x * r + n, r * 2, n + 1

    random.seed(3)
    expected = [fn(torch.ones(4)) for _ in range(2)]
    random.seed(3)
    compiled = tracer_core.compile(fn, backend=backend)
    for tensor, r, n in expected:
        found, found_r, found_n = compiled(torch.ones(4))
        torch.testing.assert_close(found, tensor)
        assert (found_r, found_n) == (r, n)
        assert (type(found_r), type(found_n)) == (float, int)


def test_locals_are_not_cluttered_after_a_failed_draw() -> None:
    def fn(x: torch.Tensor) -> Any:
        r = random.lognormvariate(0, 1e5)
        y = x + r
        return sorted(locals())

    compiled = tracer_core.compile(fn, backend="eager")
    for seed in range(6):
        random.seed(seed)
        try:
            expected: Any = fn(torch.ones(1))
        except OverflowError as error:
            expected = str(error)
        random.seed(seed)
        try:
            found: Any = compiled(torch.ones(1))
        except OverflowError as error:
            found = str(error)
        assert found == expected


draw = st.sampled_from(
    ["random()", "uniform(-1, 1)", "gauss(0, 1)", "randint(-3, 8)", "getrandbits(7)", "choice([1, 2, 3])",
     "seed(9)", "triangular()", "randrange(10)", "betavariate(1, 3)"]
)  # fmt: skip
number = st.sampled_from(["{0} + {1}", "{0} - {1}", "{0} * {1}", "-{0}", "{0} / 3", "{0} == {1}", "{0} < {1}", "{0}"])


@settings(max_examples=25, deadline=None)
@given(st.lists(draw, min_size=2, max_size=6), st.lists(number, min_size=1, max_size=3), st.data())
def test_any_sequence_of_draws(draws: list[str], numbers: list[str], data: st.DataObject) -> None:
    lines = ["def fn(x, rng):"]
    names = []
    for i, call in enumerate(draws):
        receiver = data.draw(st.sampled_from(["random", "rng"]))
        lines.append(f"    v{i} = {receiver}.{call}")
        if not call.startswith("seed"):
            names.append(f"v{i}")
    if not names:
        return
    for i, form in enumerate(numbers):
        picked = [data.draw(st.sampled_from(names)) for _ in range(2)]
        lines.append(f"    w{i} = {form.format(*picked)}")
    shown = ", ".join(f"w{i}" for i in range(len(numbers)))
    lines.append(f"    return x * {names[-1]} + {names[0]}, [{', '.join(names)}], {shown}")
    namespace: dict[str, Any] = {"random": random}
    exec("\n".join(lines), namespace)
    fn = namespace["fn"]
    compiled = tracer_core.compile(fn, backend="eager")
    one, other = random.Random(4), random.Random(4)
    for seed in (1, 2):
        random.seed(seed)
        expected, after = fn(torch.ones(2), one), random.getstate()
        random.seed(seed)
        found = compiled(torch.ones(2), other)
        assert random.getstate() == after
        assert other.getstate() == one.getstate()
        assert repr(found) == repr(expected)


def test_numpy_streams_give_back_their_state_when_the_graph_fails() -> None:
    def fn(x: torch.Tensor, rng: Any) -> Any:
        return x + np.random.rand() + rng.random(), np.random.normal(size=3), rng.integers(0, 9)

    np.random.seed(1)
    expected = fn(torch.ones(2), np.random.default_rng(5))
    after = np.random.get_state(legacy=False)
    np.random.seed(1)
    found = tracer_core.compile(fn, backend=Fails())(torch.ones(2), np.random.default_rng(5))
    assert repr(found) == repr(expected)
    assert repr(np.random.get_state(legacy=False)) == repr(after)


def test_one_graph_serves_all_draws_of_numpy() -> None:
    def fn(x: torch.Tensor) -> Any:
        noise = np.random.normal(size=4) * 2
        return x + torch.from_numpy(noise) * np.random.rand(), noise

    graphs = Graphs()
    compiled = tracer_core.compile(fn, backend=graphs)
    for seed in range(3):
        np.random.seed(seed)
        expected, after = fn(torch.ones(4)), np.random.get_state()[1:]
        np.random.seed(seed)
        assert repr(compiled(torch.ones(4))) == repr(expected)
        assert repr(np.random.get_state()[1:]) == repr(after)
    assert len(graphs.graphs) == 1
