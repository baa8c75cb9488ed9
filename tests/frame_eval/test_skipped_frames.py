"""Which frames are left to Python, and the reason told; they are looked at again when that may have changed."""

from __future__ import annotations

import asyncio
import json
import sys
import textwrap
from collections.abc import Callable, Iterator
from types import CodeType
from typing import Any

import pytest
import torch
import typing_extensions

import tracer_core
import tracewalk as tw
from tracer_core.observer import Observer, observing


class Skips(Observer):
    """(function, reason, message) for each frame left to Python, and the functions that were compiled."""

    def __init__(self) -> None:
        self.told: list[tuple[str, str, str]] = []
        self.compiled: list[str] = []

    def on_skip(self, code: CodeType, reason_id: str, message: str) -> None:
        self.told.append((code.co_name, reason_id, message))

    def on_generated(self, code: CodeType, new_code: CodeType, listing: str, resumes: list[CodeType]) -> None:
        self.compiled.append(code.co_name)

    def reasons(self, name: str) -> list[str]:
        return [reason for function, reason, _ in self.told if function == name]


def run(fn: Callable[..., Any], *calls: tuple[Any, ...]) -> Skips:
    """Call the compiled `fn` once for each of the `calls`, checking each result against plain Python."""
    skips = Skips()
    compiled = tracer_core.compile(fn, backend="eager", options={"raise_internal_faults": True})
    with observing(skips):
        for args in calls:
            assert str(compiled(*args)) == str(fn(*args))
    return skips


@torch.compiler.disable(recursive=False)
def untraced(function: Any, *args: Any) -> Any:
    """Left to Python, but not what it calls."""
    return function(*args)


def helper(v):
    return v * 2


def stamped(v):
    print(end="")
    return v


@pytest.mark.row("I15")
def test_no_tensors() -> None:
    def fn(n):
        return [n, n + 1]

    skips = run(fn, (1,), (2,))
    assert skips.reasons("fn") == ["no-tensor-work", "no-tensors-in-sight"]
    assert skips.compiled == []
    assert "fn does nothing with tensors" in skips.told[0][2]


@pytest.mark.row("I15")
def test_waits_for_a_tensor() -> None:
    def fn(v):
        return v * 2

    skips = run(fn, (1,), (2,), (torch.ones(2),), (3,))
    assert skips.reasons("fn") == ["no-tensor-work", "no-tensors-in-sight", "no-tensors-in-sight"]
    assert skips.compiled == ["fn"]


@pytest.mark.row("I15")
@pytest.mark.parametrize(
    "holder", [[torch.ones(2)], {"k": (torch.ones(2),)}, torch.nn.Linear(2, 2)], ids=["list", "dict", "module"]
)
def test_tensors_that_nothing_is_done_with_are_asked_about_once(holder: Any) -> None:
    def fn(holder):
        return len([holder])

    skips = run(fn, (holder,), (holder,), (holder,))
    assert skips.reasons("fn") == ["no-tensor-work"]


@pytest.mark.row("I15")
def test_after_many_frames_without_tensors_nobody_asks() -> None:
    def fn(n):
        return n + 1

    skips = run(fn, *[(n,) for n in range(600)])
    assert 10 < len(skips.reasons("fn")) < 300


async def waits(x):
    return x


def looks_at_its_frame(x):
    y = x * 2
    print(end="")
    return y, sys._getframe().f_code.co_name


@pytest.mark.row("I15")
@pytest.mark.parametrize(
    ("function", "args", "reason"),
    [
        (lambda holder, n: len([holder]) + n, (torch.ones(2), 1), "no-tensor-work"),
        (lambda n: n + 1, (1,), "no-tensor-work"),
        (lambda module: type(module), (torch.nn.Linear(2, 2),), "no-tensor-work"),
        (looks_at_its_frame, (torch.ones(2),), "frame-looks-at-stack"),
        (waits, (torch.ones(2),), "frame-async"),
        (textwrap.dedent, ("a",), "frame-library"),
    ],
)
def test_each_recording_says_why_a_frame_is_left(function: Any, args: tuple[Any, ...], reason: str) -> None:
    compiled = tracer_core.compile(function, backend="eager")
    for _ in range(300 if function is not waits else 0):
        compiled(*args)
    for _ in range(3):
        skips = Skips()
        with observing(skips):
            for _ in range(3):
                result = compiled(*args)
                if function is waits:
                    result.close()
        said = skips.reasons(function.__name__)
        assert said and set(said) <= {reason, "no-tensors-in-sight"}
        assert len(said) == 1 or reason == "no-tensor-work"
    again = [
        [(call.outcome, call.message) for call in tw.trace(function, *args).calls]
        for _ in range(3)
        if function is not waits
    ]
    assert all(each == again[0] and each[0][0] == "skipped" and each[0][1] for each in again)


@pytest.mark.row("I15")
def test_prints_and_does_nothing_with_tensors() -> None:
    skips = run(lambda x: untraced(stamped, 3) + x, (torch.ones(2),))
    assert skips.reasons("stamped") == ["no-tensor-work-before-break"]
    (message,) = [message for name, _, message in skips.told if name == "stamped"]
    assert "before its graph would break" in message and "(The code calls `print()`)" in message


@pytest.mark.row("I15", "I8")
def test_generators_are_left_alone_but_not_what_they_call() -> None:
    def items(x: torch.Tensor) -> Iterator[torch.Tensor]:
        yield helper(x)
        yield helper(x + 1)

    skips = run(lambda x: untraced(list, items(x)), (torch.ones(2),))
    assert "frame-generator" in skips.reasons("items")
    assert "helper" in skips.compiled


@pytest.mark.row("I15")
def test_coroutines_are_left_alone_but_not_what_they_call() -> None:
    async def job(x: torch.Tensor) -> torch.Tensor:
        return helper(x)

    skips = run(lambda x: untraced(lambda: asyncio.run(job(x))), (torch.ones(2),))
    assert "frame-async" in skips.reasons("job")
    assert "helper" in skips.compiled


@pytest.mark.row("I15")
def test_library_code_is_left_alone_with_its_file_named() -> None:
    skips = run(lambda x: (x + 1, json.dumps({"a": 1})), (torch.ones(2),))
    assert skips.reasons("dumps") == ["frame-library"]
    assert "json" in next(message for name, _, message in skips.told if name == "dumps")


@pytest.mark.row("I15")
def test_what_pythons_library_will_be_is_left_alone() -> None:
    """A module that is one file, as this one is, is a package like others."""

    @typing_extensions.deprecated("old")
    def old(v):
        return helper(v)

    skips = run(lambda x: untraced(old, x), (torch.ones(2),))
    assert skips.reasons("wrapper") == ["frame-library"]
    assert "old" in skips.compiled


@pytest.mark.row("I15")
def test_torch_internals_are_left_alone() -> None:
    skips = run(lambda x: untraced(torch.functional.split, x, 1), (torch.ones(2),))
    assert "frame-library" in skips.reasons("split")


@pytest.mark.row("I15", "F5")
def test_disabled_alone() -> None:
    def alone(v):
        return helper(v) + 1

    marked = torch.compiler.disable(alone, recursive=False)
    skips = run(lambda x: marked(x) * 2, (torch.ones(2),))
    assert skips.reasons("alone") == ["frame-disabled"]
    assert "helper" in skips.compiled
    assert "alone" not in skips.compiled


@pytest.mark.row("I15", "F5")
def test_disabled_with_all_it_calls() -> None:
    def outer(v):
        return helper(v) + 1

    marked = torch.compiler.disable(outer)
    skips = run(lambda x: marked(x + 1) * 2, (torch.ones(2),))
    assert not {"outer", "helper"} & set(skips.compiled)


@pytest.mark.row("I15", "I5")
def test_left_by_an_exception_before_any_tensor_work() -> None:
    def checked(v, n):
        if n < 0:
            raise ValueError(f"{n} is negative")
        return v * n

    def fn(x, n):
        try:
            return untraced(checked, x, n)
        except ValueError as error:
            return x, str(error)

    skips = run(fn, (torch.ones(2), -1), (torch.ones(2), 3))
    assert skips.reasons("checked") == ["no-tensor-work-before-exception"]
    (message,) = [message for name, _, message in skips.told if name == "checked"]
    assert message.startswith(f"{checked.__qualname__} raises an exception (ValueError(")
    assert "checked" in skips.compiled


@pytest.mark.row("I15", "I5")
def test_the_rest_of_a_function_has_a_reason_of_its_own() -> None:
    def stops(v, n):
        w = v * n
        print(end="")
        return n + 1

    first = stops.__code__.co_firstlineno
    skips = run(stops, (torch.ones(2), 2))
    assert skips.compiled == ["stops"]
    ((reason, message),) = [(reason, message) for name, reason, message in skips.told if name == "stops"]
    assert reason == "no-tensor-work-in-rest"
    assert message.startswith(
        f"After line {first + 2}, {stops.__qualname__} did nothing more with tensors when it was first called"
    )
