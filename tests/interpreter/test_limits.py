"""Programs that are too much: deep recursion, huge constants, long loops, Ctrl-C while tracing. The results are those
of plain Python, and process and engine are in order afterwards."""

from __future__ import annotations

import signal
import sys
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest
import torch

import tracer_core
from tests.side_by_side import agree


def ones() -> tuple[torch.Tensor]:
    return (torch.ones(2),)


@pytest.fixture(autouse=True)
def in_order() -> Iterator[None]:
    """The recursion limit, torch's switches and the engine are as they were."""
    before = sys.getrecursionlimit(), torch.is_grad_enabled(), torch._C._len_torch_dispatch_stack()
    yield
    assert (sys.getrecursionlimit(), torch.is_grad_enabled(), torch._C._len_torch_dispatch_stack()) == before
    tracer_core.reset()
    watch = agree(lambda x: x * 2 + 1, ones)
    assert (len(watch.graphs), watch.breaks, watch.skips) == (1, [], [])


def down(x, n):
    return x if n == 0 else down(x + 1, n - 1)


def endless(x):
    return endless(x + 1)


@pytest.mark.row("I7", "I9")
def test_recursion_deeper_than_is_walked() -> None:
    """It breaks by name, and one code serves all of its levels, whose additions are still in graphs."""
    watch = agree(lambda x: down(x, 450), ones)
    assert set(watch.breaks) == {"too-deep"}
    assert ["add"] in [watch.ops(i) for i in range(len(watch.graphs))]


@pytest.mark.row("I5", "I7", "I9")
def test_recursion_without_an_end_is_the_users_error() -> None:
    def program(x):
        try:
            endless(x)
        except RecursionError as error:
            return x + 1, str(error)[:32]

    agree(program, ones)


@pytest.mark.row("I9")
def test_deep_nesting_of_values() -> None:
    def program(x):
        nested: Any = x
        for _ in range(150):
            nested = [nested]
        inner = nested
        while isinstance(inner, list):
            inner = inner[0]
        return inner + 1, nested

    agree(program, ones)


HUGE = 7**9000
TEXT = "text " * 400_000
MANY = tuple(range(5_000))


@pytest.mark.row("I11")
@pytest.mark.parametrize(
    "program",
    [
        lambda x: (x + 1, hash(7**9000), 7**9000 % 1000, (-(10**5000)).bit_length()),
        lambda x: (x + HUGE % 1000, hash(HUGE), HUGE.bit_length(), HUGE == 7**9000, HUGE),
        lambda x: (x + len(TEXT), TEXT[-5:], TEXT),
        lambda x: (x + len(MANY), MANY[-1], MANY[1:3], 4_999 in MANY),
        lambda x: (x + 1, "ab" * 1_000_000),
        lambda x: (x + 1, (0,) * 66_000),
    ],
    ids=["number made", "number read", "text", "tuple", "text made", "tuple made"],
)
def test_huge_constants(program: Any) -> None:
    watch = agree(lambda x: _shown(program(x)), ones)
    assert set(watch.breaks) <= {"huge-constant"}


def _shown(made: tuple[Any, ...]) -> tuple[Any, ...]:
    """Python refuses to write out the digits of some numbers."""
    return tuple(hash(each) if type(each) is int else each for each in made)


@pytest.mark.row("I3")
def test_a_long_loop() -> None:
    def program(x, n):
        total = 0
        for i in range(n):
            total += i & 3
        return x * total

    watch = agree(program, lambda: (torch.ones(2), 5_000))
    assert watch.ops() == ["mul"]


@pytest.mark.row("I3")
@pytest.mark.usefixtures("ctrl_c")
@pytest.mark.timeout(120)
@pytest.mark.parametrize("after", [0.05, 0.3])
def test_ctrl_c_while_tracing(after: float) -> None:
    """The walk of an endless loop ends with KeyboardInterrupt in the program, once."""

    def program(x):
        n = 0
        while True:
            n += 1

    compiled = tracer_core.compile(program, backend="eager", options={"raise_internal_faults": True})
    timer = threading.Timer(after, signal.raise_signal, [signal.SIGINT])
    begun = time.monotonic()
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            compiled(torch.ones(2))
    finally:
        timer.join()
    assert time.monotonic() - begun < after + 20
