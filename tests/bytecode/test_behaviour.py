"""Code that went through the bytecode layer does what it did before."""

from __future__ import annotations

import os
import subprocess
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from types import FrameType, FunctionType
from typing import Any

import pytest

from tests.bytecode.programs import STDLIB, round_trip

ROOT = Path(__file__).parents[2]
SUITES = [
    "test_patma",
    "test_with",
    "test_except_star",
    "test_generators",
    "test_scope",
    "test_raise",
    "test_yield_from",
]


def python(*arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONHASHSEED": "0", "PYTHONPATH": str(ROOT)}
    return subprocess.run(
        [sys.executable, *arguments], capture_output=True, text=True, env=environment, timeout=120, check=False
    )


def test_the_standard_library_does_the_same_work() -> None:
    plain = python("-m", "tests.bytecode.work")
    ours = python("-m", "tests.bytecode.work", "--round-trip")
    assert plain.returncode == 0, plain.stderr
    assert ours.returncode == 0, ours.stderr
    assert ours.stdout == plain.stdout
    assert plain.stdout.count("\n") > 60
    modules = ours.stderr.split()
    assert {"json.decoder", "asyncio.tasks", "dataclasses", "_pydecimal", "tests.bytecode.work"} <= set(modules)


@pytest.mark.skipif(not (STDLIB / "test" / "test_patma.py").exists(), reason="this Python came without its own tests")
def test_pythons_own_tests_pass() -> None:
    script = (
        "from tests.bytecode.work import install_round_trip as go; go(); import unittest; unittest.main(module=None)"
    )
    result = python("-c", script, *(f"test.{suite}" for suite in SUITES))
    assert result.returncode == 0, result.stderr[-3000:]
    assert "OK" in result.stderr


def test_the_layer_needs_no_torch() -> None:
    result = python("-c", "import sys, tracer_core.bytecode; sys.exit('torch' in sys.modules)")
    assert result.returncode == 0, result.stderr


# fmt: off
def _raising(kind: int) -> Any:
    table = {
        "a": [1, 2, 3],
    }
    try:
        if kind == 0:
            return table["a"][
                3
            ]
        with open(os.devnull) as file:
            if kind == 1:
                return (kind + 1) * (kind / (kind - 1))
            file.no_such_attribute(
                kind
            )
    except AttributeError as error:
        raise KeyError(kind) from error
    finally:
        table.clear()
    return None
# fmt: on


@pytest.mark.parametrize("kind", [0, 1, 2])
def test_tracebacks_point_at_the_same_places(kind: int) -> None:
    def places(function: Callable[[int], Any]) -> Any:
        with pytest.raises((KeyError, IndexError, ZeroDivisionError)) as caught:
            function(kind)
        error: BaseException | None = caught.value
        chain = []
        while error is not None:
            frames = traceback.extract_tb(error.__traceback__)
            chain.append([(f.lineno, f.end_lineno, f.colno, f.end_colno) for f in frames[-1:]])
            error = error.__cause__
        return chain

    again = FunctionType(round_trip(_raising.__code__), globals())
    assert places(again) == places(_raising)


# fmt: off
def _stepped(limit: int) -> list[int]:
    found = []
    for number in range(limit):
        try:
            if number % 2:
                found.append(
                    10
                    // (number - 3)
                )
            else:
                continue
        except ZeroDivisionError:
            found += [number
                      for number in range(2)]
        finally:
            found.append(-1)
    return found
# fmt: on


def test_debuggers_see_the_same_lines() -> None:
    def events(function: Callable[[int], list[int]]) -> list[tuple[str, int]]:
        seen = []

        def trace(frame: FrameType, event: str, arg: object) -> Any:
            if frame.f_code.co_filename == __file__:
                seen.append((event, frame.f_lineno))
            return trace

        before = sys.gettrace()
        sys.settrace(trace)
        try:
            function(5)
        finally:
            sys.settrace(before)
        return seen

    again = FunctionType(round_trip(_stepped.__code__), globals())
    assert events(again) == events(_stepped)
    assert len(events(again)) > 30
