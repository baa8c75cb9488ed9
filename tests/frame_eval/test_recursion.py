"""Near Python's recursion limit frames run as plain Python, and the limit is met where plain Python meets it."""

from __future__ import annotations

import subprocess
import sys
import traceback
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch

import tracer_core

OPTIONS = {"raise_internal_faults": True}


def deep(x, n):
    return x if n == 0 else deep(x, n - 1) + 1


def endless(n):
    return endless(n + 1)


def works_first(x, n):
    y = x + 1
    return y, endless(n)


def frames_now() -> int:
    return len(list(traceback.walk_stack(None)))


def outcome(function: Callable[..., Any], *args: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            return str(function(*args))
        except RecursionError as error:
            names = [e.name for e in traceback.extract_tb(error.__traceback__) if e.filename == __file__]
            return type(error), error.__context__, error.__cause__, names


@pytest.fixture
def limited() -> Iterator[Callable[[int], None]]:
    before = sys.getrecursionlimit()
    yield lambda levels: sys.setrecursionlimit(frames_now() + levels)
    sys.setrecursionlimit(before)


@pytest.mark.row("I9")
@pytest.mark.parametrize("levels", [100, 1200])
def test_the_error_is_plain_pythons_and_as_deep(levels, limited):
    compiled = tracer_core.compile(works_first, backend="eager", options=OPTIONS)
    compiled_deep = tracer_core.compile(deep, backend="eager", options=OPTIONS)
    limited(levels)
    expected = outcome(works_first, torch.ones(2), 0)
    assert expected[0] is RecursionError
    for _ in range(2):
        seen = outcome(compiled, torch.ones(2), 0)
        assert seen[:3] == expected[:3]
        assert set(seen[3]) == set(expected[3])
        assert abs(len(seen[3]) - len(expected[3])) <= 3
    for n in (levels // 4, 2 * levels):
        assert outcome(compiled_deep, torch.ones(2), n)[:3] == outcome(deep, torch.ones(2), n)[:3]


@pytest.mark.row("I9")
def test_calls_are_not_inlined_past_the_limit_of_the_program(limited):
    compiled = tracer_core.compile(deep, backend="eager", options=OPTIONS)
    limited(120)
    assert outcome(deep, torch.ones(2), 150)[0] is RecursionError
    assert outcome(compiled, torch.ones(2), 150)[0] is RecursionError
    assert outcome(compiled, torch.ones(2), 80) == outcome(deep, torch.ones(2), 80)


FIRST_CALL = """
import sys, torch, tracer_core
def f(x):
    return x + 1
compiled = tracer_core.compile(f, backend="eager", options={"raise_internal_faults": True})
sys.setrecursionlimit(60)
assert compiled(torch.ones(1)).item() == 2.0
assert sys.getrecursionlimit() == 60
before = set(sys.modules)
with tracer_core.enabled(tracer_core.make_config(backend="eager")):
    f(torch.ones(2))
assert "torch._dynamo" not in set(sys.modules) - before
"""


def test_the_engine_is_loaded_before_the_programs_frame():
    done = subprocess.run([sys.executable, "-c", FIRST_CALL], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
