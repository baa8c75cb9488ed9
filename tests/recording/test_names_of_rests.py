"""The rest of a function after a break is named after the line of the break, each rest unlike the others."""

from __future__ import annotations

import csv
import re
import threading
from collections.abc import Callable
from typing import Any

import pytest
import torch

from tests.conformance.texts import faults
from tests.recording.test_names_for_people import recorded
from tracer_core.recording import Trace


def hidden(*args: Any) -> None:
    print(end="")


def multi_line_call(x: torch.Tensor) -> Any:
    x = x + 1
    print(
        x.shape,
        end="",
        file=Sink(),
    )
    return x * 2


class Sink:
    def write(self, text: str) -> None: ...

    def flush(self) -> None: ...


def assigned_over_lines(x: torch.Tensor) -> Any:
    x = x + 1
    (
        _,
        value,
    ) = print(end=""), x.sin()
    return value * 2


def inside_a_call(x: torch.Tensor) -> Any:
    return torch.add(
        x + 1,
        print(end="") or 2,
    )


def external_loop(x: torch.Tensor, items: Any) -> Any:
    x = x + 1
    for item in items:
        x = x * len(item)
    return x - 1


def end_of_a_loop(x: torch.Tensor) -> Any:
    for _ in range(2):
        x = x + 1
        print(end="")
    return x * 2


def with_block(x: torch.Tensor, lock: Any) -> Any:
    x = x + 1
    with lock:
        x = x * 3
        print(end="")
        x = x * 4
    return x * 2


def last_in_a_try(x: torch.Tensor) -> Any:
    x = x + 1
    try:
        print(end="")
    finally:
        x = x * 2
    return x * 3


def inlined(x: torch.Tensor) -> Any:
    x = x + 1
    hidden(
        x.shape,
    )
    return x * 2


LINES: dict[Callable[..., Any], tuple[list[int], tuple[Any, ...]]] = {
    multi_line_call: ([2], ()),
    assigned_over_lines: ([5], ()),
    inside_a_call: ([3], ()),
    external_loop: ([2], (csv.reader(["1"]),)),
    end_of_a_loop: ([3], ()),
    with_block: ([2, 4], (threading.Lock(),)),
    last_in_a_try: ([3], ()),
    inlined: ([2], ()),
}


def rests(trace: Trace) -> list[str]:
    """The names of the resume functions, in the order in which they were created."""
    return [code.qualname for code in trace.codes if code.kind == "resume"]


def lines_of(trace: Trace, function: Callable[..., Any]) -> set[int]:
    """The lines of the function at which people are told that its graph breaks."""
    name = function.__qualname__
    found = [(broken.root_code, broken.root_line) for broken in trace.breaks]
    found += [(broken.code, broken.line) for broken in trace.breaks]
    return {line for code, line in found if line is not None and trace.function_of(code).qualname == name}


@pytest.mark.parametrize("function", LINES, ids=lambda function: function.__name__)
def test_the_line_is_that_of_the_break(function: Callable[..., Any]) -> None:
    lines, args = LINES[function]
    trace = recorded(function, (torch.ones(2), *args))
    first = function.__code__.co_firstlineno
    found = (re.match(rf"`{function.__qualname__}`, after .*line (\d+)", name) for name in rests(trace))
    named = {int(match[1]) for match in found if match is not None}
    assert named >= {first + line for line in lines}
    assert named <= lines_of(trace, function)
    assert faults(trace) == []


def test_breaks_of_one_line_have_names_of_their_own() -> None:
    def function(x: torch.Tensor) -> Any:
        return x + 1, print(end=""), x.sin(), print(end=""), x.cos(), print(end=""), x * 2

    trace = recorded(function, (torch.ones(2),))
    name, line = function.__qualname__, function.__code__.co_firstlineno + 1
    assert rests(trace) == [
        f"`{name}`, after line {line}",
        f"`{name}`, after the second break of line {line}",
        f"`{name}`, after the third break of line {line}",
    ]
    assert f"\n    `{name}`, after the second break of line {line}: 1 version." in str(trace)
    listings = [made.listing for made in trace.generated]
    assert f"resume_in_function_at_{line}_break_2(" in listings[1]


def test_each_way_on_from_a_branch_has_its_name() -> None:
    def function(x: torch.Tensor) -> Any:
        if x.sum() > 0:
            return x + 1
        return x - 1

    trace = recorded(function, (torch.ones(2),))
    name, line = function.__qualname__, function.__code__.co_firstlineno + 1
    assert rests(trace) == [
        f"`{name}`, after line {line} if the condition is true",
        f"`{name}`, after line {line} if the condition is false",
    ]


def test_conditions_of_two_lines_that_lead_to_one_place() -> None:
    def function(x: torch.Tensor) -> Any:
        if (
            x.sum() > 0
            and x.max() > 5
        ):  # fmt: skip
            return x + 1
        return x - 1

    name, line = function.__qualname__, function.__code__.co_firstlineno + 2
    for x, second in ((torch.ones(2), True), (-torch.ones(2), False)):
        trace = recorded(function, (x,))
        called = [trace.codes[call.code].qualname for call in trace.calls if call.outcome == "compiled"]
        if second:
            assert f"`{name}`, after line {line + 1} if the condition is false" in called
        else:
            assert called[-1] == f"`{name}`, after line {line} if the condition is false"


def test_one_break_with_other_variables() -> None:
    def function(x: torch.Tensor) -> Any:
        for i in range(3):
            if i:
                y = x + i
            print(end="")
            x = x * 2
        return x + y

    trace = recorded(function, (torch.ones(2),))
    name, line = function.__qualname__, function.__code__.co_firstlineno + 4
    assert rests(trace) == [f"`{name}`, after line {line}", f"`{name}`, after line {line} (2)"]
