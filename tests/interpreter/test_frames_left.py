"""Frames that are left to Python as a whole say why, and what they call is traced all the same."""

from __future__ import annotations

import asyncio
import sys
import weakref
from typing import Any

import pytest
import torch

from tests.side_by_side import agree


def inner(x):
    return x * 2 + 1


@torch.compiler.disable
def opaque(x):
    return x


def has_groups(x):
    try:
        y = inner(x)
        raise ExceptionGroup("several", [ValueError(1)])
    except* ValueError:
        y = y * 1
    return y


def looks_at_the_stack(x):
    y = opaque(inner(x))
    return y + len(sys._getframe().f_code.co_name)


def watches_lifetimes(x):
    y = opaque(inner(x))
    kept = weakref.ref(y)
    return y, kept() is y


def items(x):
    yield inner(x)
    yield inner(x + 1)


async def waits(x):
    return inner(x)


CASES: dict[str, tuple[Any, str]] = {
    "has_groups": (has_groups, "except-star"),
    "looks_at_the_stack": (looks_at_the_stack, "frame-looks-at-stack"),
    "watches_lifetimes": (watches_lifetimes, "frame-watches-lifetimes"),
    "items": (lambda x: opaque_list(items(x)), "frame-generator"),
    "waits": (lambda x: opaque_run(waits(x)), "frame-async"),
}


@torch.compiler.disable(recursive=False)
def opaque_list(values):
    return list(values)


@torch.compiler.disable(recursive=False)
def opaque_run(coroutine):
    return asyncio.run(coroutine)


@pytest.mark.row("O6", "I15")
@pytest.mark.parametrize("name", CASES)
def test_it_says_why_and_what_it_calls_is_traced(name: str) -> None:
    function, reason = CASES[name]
    watch = agree(function, lambda: (torch.ones(2),))
    assert reason in {*watch.skips, *watch.breaks}
    assert ["mul", "add"] in [watch.ops(i) for i in range(len(watch.graphs))]
