"""What checking guards costs: `python -m tests.benchmarks.guards` compares the check of a cached call with torch's.

Both compile the same function around a model of the given number of blocks, with a back end that does nothing; then
each one's guards are checked alone, on the arguments of the call. Microseconds, the least of several runs.
"""

from __future__ import annotations

import builtins
import sys
import time
import timeit
from collections.abc import Callable
from typing import Any

import torch
from torch._C._dynamo import eval_frame

import tracer_core
from tracer_core.frame_eval.convert import use_tracer
from tracer_core.frame_input import CacheScope, CompiledFrame, FrameInput, SkippedFrame
from tracer_core.guards import compile_guards

RUNS, CALLS = 7, 300


class Block(torch.nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.norm = torch.nn.LayerNorm(width)
        self.up = torch.nn.Linear(width, 2 * width)
        self.down = torch.nn.Linear(2 * width, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.down(self.up(self.norm(x)).relu())  # type: ignore[no-any-return]


def microseconds(check: Callable[[], object]) -> float:
    return min(timeit.repeat(check, number=CALLS, repeat=RUNS)) / CALLS * 1e6


def measure(blocks: int) -> str:
    model = torch.nn.Sequential(*(Block(8) for _ in range(blocks)))
    x = torch.ones(2, 8)

    def function(x: torch.Tensor) -> Any:
        return model(x)

    from tracer_core.codegen.compile_frame import trace_frame

    kept: list[CompiledFrame] = []

    def keeping(frame: FrameInput) -> CompiledFrame | SkippedFrame:
        result = trace_frame(frame)
        if isinstance(result, CompiledFrame):
            kept.append(result)
        return result

    with use_tracer(keeping):
        tracer_core.compile(function, backend="eager")(x)
    f_locals = {"x": x, "model": model}
    started = time.perf_counter()
    compiled = compile_guards(kept[0].guards, globals(), vars(builtins))
    making = (time.perf_counter() - started) * 1e3
    assert compiled.holds(f_locals), compiled.explain(f_locals)
    ours = microseconds(lambda: compiled.holds(f_locals))

    torch.compile(function, backend="eager")(x)
    (entry, *_) = [
        entry
        for entry in eval_frame._debug_get_cache_entry_list(function.__code__)
        if not isinstance(entry.backend, CacheScope)
    ]
    root = entry.guard_manager.root
    assert root.check(f_locals)
    theirs = microseconds(lambda: root.check(f_locals))
    return (
        f"{blocks:3} blocks, {len(compiled.guards):4} guards: ours {ours:6.1f} us, torch {theirs:6.1f} us, "
        f"ratio {ours / theirs:.1f}; made in {making:.1f} ms"
    )


if __name__ == "__main__":
    for count in map(int, sys.argv[1:] or ("2", "12")):
        print(measure(count))
