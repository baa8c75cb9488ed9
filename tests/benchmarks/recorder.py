"""What recording costs while models are traced: `python -m tests.benchmarks.recorder [runs] [name ...]`.

The models of `trace_models` are traced, recorded and not recorded, in turns. CPU seconds of this thread (other
processes share the machine), the least of several cold runs in one process. Completing the recording counts as
recording.
"""

from __future__ import annotations

import gc
import sys
import time
import warnings
from typing import Any

import torch

import tracer_core
from tests.benchmarks.trace_models import MODELS, Identity
from tracer_core.observer import observing
from tracer_core.recording import Recorder

RUNS = 7


def seconds(model: Any, inputs: dict[str, Any], recorder: Recorder | None) -> tuple[float, float]:
    """Of one cold compilation and its first call, and of a second call."""
    tracer_core.reset()
    compiled = tracer_core.compile(model, backend=Identity())
    gc.collect()
    started = time.thread_time()
    with observing(recorder):
        compiled(**inputs)
    if recorder is not None:
        recorder.finish()
    first = time.thread_time() - started
    started = time.thread_time()
    compiled(**inputs)
    return first, time.thread_time() - started


def measure(name: str, library: Any, runs: int) -> str:
    torch.manual_seed(0)
    model, inputs = MODELS[name](library)
    model.eval()
    bare, recorded = [], []
    with torch.no_grad():
        model(**inputs)
        for _ in range(runs):
            bare.append(seconds(model, inputs, None))
            recorder = Recorder()
            recorded.append(seconds(model, inputs, recorder))
    steps = recorder.finish().steps
    # The least of each: a call that was disturbed would make its difference too small.
    second = min(second for _, second in bare + recorded)
    least, most = (min(first for first, _ in each) - second for each in (bare, recorded))
    return (
        f"{name:6} recorded {most:.3f} s, not recorded {least:.3f} s, ratio {most / least:.2f}; "
        f"{steps:,} steps, {1e6 * (most - least) / steps:.1f} us a step"
    )


def main(arguments: list[str]) -> None:
    import transformers

    transformers.logging.set_verbosity_error()
    warnings.simplefilter("ignore")
    runs = int(arguments.pop(0)) if arguments and arguments[0].isdigit() else RUNS
    for name in arguments or list(MODELS):
        print(measure(name, transformers, runs), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
