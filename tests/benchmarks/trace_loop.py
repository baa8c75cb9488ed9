"""What tracing plain Python costs: `python -m tests.benchmarks.trace_loop [instructions ...]`.

A loop without tensors in it, of about as many instructions as asked for, is traced by the engine and (up to 100,000,
as it takes minutes beyond) by the installed `torch.compile`, both with a back end that does nothing.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

import torch
import torch.fx

import tracer_core
from tracer_core.observer import Observer, observing

TORCH_UP_TO = 100_000
PER_TURN = 12


def loop(x: torch.Tensor, turns: int) -> torch.Tensor:
    a, b = 0, 1
    for i in range(turns):
        a, b = b, (a + b + i) % 1000
    return x + a


class Counter(Observer):
    def __init__(self) -> None:
        self.steps = 0

    def on_step_start(self, frame: Any, instruction: Any) -> None:
        self.steps += 1


def identity(graph: torch.fx.GraphModule, examples: Any) -> Callable[..., Any]:
    return graph.forward


def seconds(compiled: Callable[..., Any], turns: int) -> float:
    x = torch.ones(2)
    started = time.perf_counter()
    assert torch.equal(compiled(x, turns), loop(x, turns))
    return time.perf_counter() - started


def measure(instructions: int) -> str:
    turns = instructions // PER_TURN
    counter = Counter()
    tracer_core.reset()
    with observing(counter):
        seconds(tracer_core.compile(loop, backend=identity), turns)
    tracer_core.reset()
    ours = seconds(tracer_core.compile(loop, backend=identity), turns)
    text = f"{counter.steps:9,} instructions: ours {ours:6.2f} s, {counter.steps / ours:9,.0f} a second"
    if instructions > TORCH_UP_TO:
        return text
    torch._dynamo.reset()
    theirs = seconds(torch.compile(loop, backend=identity), turns)
    return f"{text}; torch {theirs:6.2f} s, {counter.steps / theirs:9,.0f} a second, ratio {ours / theirs:.2f}"


if __name__ == "__main__":
    tracer_core.compile(loop, backend=identity)(torch.ones(2), 3)
    torch.compile(loop, backend=identity)(torch.ones(2), 3)
    for count in map(int, sys.argv[1:] or ("10000", "100000", "1000000")):
        print(measure(count), flush=True)
