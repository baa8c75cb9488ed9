"""Who looks at a frame finds the function's name and no variable that the function does not have."""

from __future__ import annotations

import random
import sys
import traceback
from typing import Any

import pytest
import torch

import tracer_core

OPTIONS = {"raise_internal_faults": True}


@torch.compiler.disable
def stops(*values):
    raise KeyError("stops")


@torch.compiler.disable
def locals_of_caller(*values):
    return sorted(sys._getframe(1).f_locals)


def after_a_break(x):
    print("broken", x.shape)
    y = x + 1
    raise ValueError(y.shape)


def with_a_stack(x):
    return [x + 1, x * 2, stops(x + 3)]


def with_containers_and_draws(x):
    pair = [x + 1, x * random.random()]
    stops({"pair": pair}, random.random())


def in_a_loop(x):
    for i in range(3):
        x = x + i
        print(i)
        if i == 1:
            stops(x)


def in_a_handler(x):
    try:
        y = x + 1
        stops(y)
    except KeyError:
        print("handled", y.shape)
        raise


def when_the_graph_gives_way(x):
    x.add_(random.random())
    return x[torch.tensor([7])]


def while_it_runs(x):
    y = x + 1
    seen = locals_of_caller(y)
    z = y * 2
    return stops(seen, locals_of_caller(z))


PROGRAMS = [
    after_a_break, with_a_stack, with_containers_and_draws, in_a_loop, in_a_handler, when_the_graph_gives_way,
    while_it_runs,
]  # fmt: skip


@pytest.mark.row("I5", "O6")
@pytest.mark.parametrize("function", PROGRAMS)
def test_frames_of_a_traceback(function: Any) -> None:
    compiled = tracer_core.compile(function, backend="eager", options=OPTIONS)
    own = {*function.__code__.co_varnames, *function.__code__.co_cellvars}
    for _ in range(2):
        with pytest.raises((KeyError, ValueError, IndexError)) as caught:
            compiled(torch.ones(2))
        frames = [frame for frame, _ in traceback.walk_tb(caught.value.__traceback__)]
        (frame,) = [frame for frame in frames if frame.f_code.co_name == function.__name__]
        assert set(frame.f_locals) <= own
        assert not [f.f_code.co_name for f in frames if "resume" in f.f_code.co_name]
