"""How the recording grows: `python -m tests.benchmarks.recording [steps ...]` prints one line for each size.

A pretended engine makes the steps, so the figures are those of the recorder, the file and the reader alone.
"""

from __future__ import annotations

import gc
import os
import random
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from tests.recording.synthetic import long_events
from tracer_core.observer import Observer
from tracer_core.recording import Trace, load, save, views
from tracer_core.recording.recorder import Recorder


def seconds(work: Callable[[], object]) -> float:
    gc.collect()
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def measure(steps: int) -> str:
    bare = seconds(lambda: long_events(Observer(), steps))
    recorder = Recorder()
    recorded = seconds(lambda: long_events(recorder, steps))
    start = time.perf_counter()
    trace = Trace(recorder.finish())
    finished = time.perf_counter() - start
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "long.trace"
        saved = seconds(lambda: save(trace, path))
        size = os.path.getsize(path)
        opened = seconds(lambda: load(path).steps[0].instruction)
        again = load(path)
    rng = random.Random(1)
    numbers = [rng.randrange(len(again)) for _ in range(1000)]
    read = sorted(seconds_of(lambda n=n: (again.index.steps.before(n), again.index.steps.after(n))) for n in numbers)
    full = sorted(seconds_of(lambda n=n: (again.steps[n].before, again.steps[n].after)) for n in numbers)
    window = seconds(lambda: views.window(again, len(again) // 2 // views.WINDOW))
    chunk = seconds(lambda: views.chunk(again, 0))
    count = len(trace)
    return (
        f"{count:>9,} steps: recorder {1e6 * (recorded - bare) / count:.2f} us a step, finish {finished:.2f} s, "
        f"save {saved:.2f} s, {size / count:.1f} bytes a step, open {opened:.2f} s\n"
        f"  one step's state: {spread(read)}; with its values: {spread(full)}\n"
        f"  window {1e3 * window:.0f} ms, first chunk {chunk:.2f} s"
    )


def spread(times: list[float]) -> str:
    """Sorted seconds, as milliseconds."""
    return f"median {1e3 * times[len(times) // 2]:.3f} ms, worst of {len(times):,} {1e3 * times[-1]:.3f} ms"


def seconds_of(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


if __name__ == "__main__":
    for size in [int(argument) for argument in sys.argv[1:]] or [10_000, 100_000, 1_000_000]:
        print(measure(size), flush=True)
