"""What a long recording costs to open and to export: `python -m tests.benchmarks.long_traces [steps ...]`.

A loop is really traced, and recorded; it has about as many calls, nodes and values a step as the models of
`trace_models`. First view: what the explorer asks for when it opens (the overview and the tables, the first steps,
and their values). CPU seconds of this thread, since other processes share the machine.
"""

from __future__ import annotations

import gc
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

import torch

import tracer_core
from tests.benchmarks.trace_models import Identity
from tracer_core.observer import observing
from tracer_core.recording import Recorder, Trace, load, views
from tracewalk.export import to_html

SIZES = (100_000, 250_000, 1_000_000)
T = TypeVar("T")


class Layer(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.scale = torch.nn.Parameter(torch.ones(4))
        self.names = ["a", "b", "c"]

    def forward(self, x: torch.Tensor, kept: dict[str, int]) -> torch.Tensor:
        for at, name in enumerate(self.names):
            if name not in kept or at > 1:
                kept[name] = at
        return x * self.scale


def run(layer: Layer, x: torch.Tensor, times: int) -> torch.Tensor:
    kept: dict[str, int] = {}
    for _ in range(times):
        x = layer(x, kept)
    return x


def recorded(times: int) -> Trace:
    tracer_core.reset()
    compiled = tracer_core.compile(run, backend=Identity())
    recorder = Recorder("a long loop")
    with observing(recorder):
        compiled(Layer(), torch.ones(4), times)
    return Trace(recorder.finish())


def trace_of(steps: int) -> Trace:
    """Return a recording of about so many steps."""
    few, more = len(recorded(10)), len(recorded(20))
    each = (more - few) // 10
    return recorded((steps - few) // each + 10)


def seconds(work: Callable[[], T]) -> tuple[float, T]:
    gc.collect()
    started = time.thread_time()
    result = work()
    return time.thread_time() - started, result


def first_view(trace: Trace) -> Iterator[tuple[str, float]]:
    """Yield the parts of a first view, and the seconds of each."""
    yield "tables", seconds(lambda: views.meta(trace))[0]
    taken, _ = seconds(lambda: views.window(trace, 0))
    yield "steps", taken
    first = views.window_view(trace, 0)
    values = {value // views.CHUNK for state in first.before for value in state.stack}
    yield "values", seconds(lambda: [views.chunk(trace, number) for number in sorted(values)])[0]


def measure(steps: int) -> str:
    trace = trace_of(steps)
    parts = dict(first_view(Trace(trace.data)))
    shown = ", ".join(f"{name} {taken:.2f}" for name, taken in parts.items())
    overview, _ = seconds(lambda: str(Trace(trace.data)))
    story, _ = seconds(lambda: str(Trace(trace.data).story()))
    with tempfile.TemporaryDirectory() as folder:
        saved, _ = seconds(lambda: trace.save(Path(folder) / "long.trace"))
        size = os.path.getsize(Path(folder) / "long.trace")
        loaded, again = seconds(lambda: load(Path(folder) / "long.trace"))
        exported, page = seconds(lambda: to_html(again, Path(folder) / "long.html"))
        bytes_of_page = os.path.getsize(page)
    return (
        f"{len(trace):>9,} steps: first view {sum(parts.values()):.2f} s ({shown}); print {overview:.2f} s, "
        f"story {story:.2f} s\n"
        f"  save {saved:.2f} s ({size / len(trace):.1f} bytes a step), load {loaded:.2f} s; "
        f"export {exported:.2f} s ({bytes_of_page / 1e6:.1f} MB)"
    )


if __name__ == "__main__":
    for size in [int(argument) for argument in sys.argv[1:]] or SIZES:
        print(measure(size), flush=True)
