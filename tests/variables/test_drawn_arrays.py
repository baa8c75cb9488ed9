"""Numbers of drawn arrays, and arrays that draws are given, keep one graph and NumPy's streams."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import tracer_core
from tests.back_ends import Graphs
from tests.variables.test_arrays import compiled, same

pytestmark = pytest.mark.row("B6")

LINES = [
    "a = np.random.rand(3)",
    "a = np.random.randint(0, 9, size=3)",
    "a = np.arange(5)",
    "a = np.random.permutation(a)",
    "a = np.random.choice(a, 3)",
    "np.random.shuffle(a)",
    "a[0] = 2",
    "a += 1",
    "a = a[::-1]",
    "a = a.copy()",
    "seen.append(a[0])",
    "seen.append(a[-1].item())",
    "seen.append(a.item(1))",
    "seen.append(float(a[1]) * 2)",
    "seen.append(a.tolist())",
    "seen.append(a * 2)",
    "seen.append(np.random.rand())",
    "seen.append(np.random.choice(np.arange(4), 2, replace=False))",
]


@settings(max_examples=80, deadline=None)
@given(st.lists(st.sampled_from(LINES), min_size=1, max_size=7), st.sampled_from(LINES[:3]))
def test_any_draws_and_reads(lines: list[str], first: str) -> None:
    namespace: dict[str, Any] = {"np": np}
    body = ["def fn():", "    seen = []", *(f"    {line}" for line in (first, *lines)), "    return a, seen"]
    exec("\n".join(body), namespace)
    fn = namespace["fn"]
    quick = compiled(fn)
    for seed in (0, 1):
        results = []
        for call in (quick, fn):
            np.random.seed(seed)
            results.append((call(), np.random.rand()))
        same(*results)


@pytest.mark.parametrize(
    "text",
    [
        "x * np.random.rand(1).item()",
        "x + np.random.randint(0, 9, size=2)[0].item()",
        "x + float(np.random.permutation(4)[1])",
        "x + torch.from_numpy(np.random.choice(np.arange(9), 2, replace=False))",
        "[x + n for n in np.random.permutation(3).tolist()]",
        "x + np.random.default_rng(1).permutation(np.arange(3))[0].item()",
    ],
)
def test_one_graph_for_all_calls(text: str) -> None:
    backend = Graphs()

    namespace: dict[str, Any] = {"np": np, "torch": torch}
    exec(f"def fn(x):\n    return {text}", namespace)
    quick = tracer_core.compile(namespace["fn"], backend=backend, fullgraph=True)
    for seed in range(4):
        results = []
        for call in (quick, namespace["fn"]):
            np.random.seed(seed)
            results.append([each.tolist() for each in call(torch.ones(2))])
        assert results[0] == results[1]
    assert len(backend.graphs) == 1


def test_arrays_of_constants_need_no_graph() -> None:
    backend = Graphs()

    def fn() -> Any:
        return np.zeros((2, 3)), np.arange(4, dtype=np.int32)

    quick = tracer_core.compile(fn, backend=backend)
    first = quick()
    same(first, fn())
    first[0][0] = 5
    same(quick(), fn())
    assert backend.graphs == []
