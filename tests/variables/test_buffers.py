"""Bytearrays and arrays: any operations in any order, on those given and on those made, as plain Python has it."""

from __future__ import annotations

from array import array
from collections.abc import Callable
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.clean_engine import nothing_compiled
from tests.side_by_side import agree

__all__ = ["nothing_compiled"]


def set_item(b: Any, n: int) -> None:
    b[n % 3] = n


def set_slice(b: Any, n: int) -> None:
    b[1:n] = b[:2]


def del_item(b: Any, n: int) -> None:
    del b[n % 4]


STEPS: dict[str, Callable[[Any, int], Any]] = {
    "append": lambda b, n: b.append(n),
    "extend": lambda b, n: b.extend([n, n + 1]),
    "insert": lambda b, n: b.insert(n % 5, n),
    "pop": lambda b, n: b.pop(n % 3),
    "remove": lambda b, n: b.remove(n),
    "reverse": lambda b, n: b.reverse(),
    "set": set_item,
    "set slice": set_slice,
    "delete": del_item,
    "get": lambda b, n: b[n % 4],
    "slice": lambda b, n: b[n % 3 :: 2],
    "index": lambda b, n: b.index(n),
    "count": lambda b, n: b.count(n),
    "in": lambda b, n: n in b,
    "add": lambda b, n: b + b,
    "times": lambda b, n: b * (n % 3),
    "equal": lambda b, n: (b == b[:], b == n, b != b * 2, b < b * 2),
    "list": lambda b, n: [list(b), sum(b), len(b), bool(b), [item + n for item in b]],
}


@pytest.mark.row("I11", "O7")
@pytest.mark.parametrize(
    "make", [lambda: bytearray(b"abc"), lambda: array("i", [1, 2, 3])], ids=["bytearray", "array"]
)
@pytest.mark.parametrize("given_", [True, False], ids=["given", "made"])
@settings(max_examples=20)
@given(steps=st.lists(st.tuples(st.sampled_from(list(STEPS)), st.integers(0, 300)), max_size=5))
def test_any_operations_in_any_order(make: Any, given_: bool, steps: list[tuple[str, int]]) -> None:
    def program(x, b):
        if not given_:
            b = bytearray(b"xyz") if type(b) is bytearray else array("i", (7, 8))
        seen = []
        for name, n in steps:
            try:
                seen.append(STEPS[name](b, n))
            except (ValueError, IndexError, TypeError) as error:
                seen.append((type(error).__name__, str(error)))
        return x + len(b), seen, b

    watch = agree(program, lambda: (torch.ones(2), make()))
    assert watch.breaks == []


@pytest.mark.row("I11", "B2")
def test_one_that_is_large_is_left_to_python() -> None:
    watch = agree(lambda x, b: x + b[5], lambda: (torch.ones(2), bytearray(2 << 20)))
    assert set(watch.breaks) == {"unknown-object"}


@pytest.mark.row("I11", "B5")
def test_a_tensor_over_the_same_memory_leaves_the_frame_to_python() -> None:
    def program(x, b):
        b[0] = 3
        y = x + 1
        x[1] = 9
        return y, b[1]

    def arguments() -> tuple[torch.Tensor, bytearray]:
        b = bytearray(b"abc")
        return torch.frombuffer(b, dtype=torch.uint8), b

    watch = agree(program, arguments)
    assert watch.graphs == []
