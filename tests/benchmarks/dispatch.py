"""What recording the steps of the dispatcher costs: `python -m tests.benchmarks.dispatch [name ...]`.

The models of `trace_models` are traced by `tracer_core.make_fx` with and without a recorder, in turns, on fake
tensors. CPU seconds of this thread (other processes share the machine), the least of several runs in one process. The
ratio is to be at most 1.3.
"""

from __future__ import annotations

import gc
import sys
import time
from collections.abc import Callable
from typing import Any

import torch
import transformers

import tracewalk as tw
from tests.benchmarks.trace_models import MODELS
from tracer_core import make_fx

RUNS = 8


def seconds(work: Callable[[], object]) -> float:
    gc.collect()  # what the run before left is not of this one
    start = time.thread_time()
    work()
    return time.thread_time() - start


def measure(name: str) -> float:
    model, inputs = MODELS[name](transformers)
    model.eval()

    def program(inputs: dict[str, Any]) -> Any:
        return model(**inputs, use_cache=False)[0] if name in ("gpt2", "llama", "t5") else model(**inputs)[0]

    bare, recorded = [], []
    with torch.no_grad():
        for _ in range(RUNS):
            bare.append(seconds(lambda: make_fx(program, None, "fake", True)(inputs)))
            recorded.append(seconds(lambda: tw.trace_dispatch(program, inputs)))
    steps, ratio = len(tw.last_trace().dispatch), min(recorded) / min(bare)
    print(
        f"{name:>6}: {min(bare):.3f} s, recorded {min(recorded):.3f} s, {steps:,} steps, ratio {ratio:.2f}",
        flush=True,
    )
    return ratio


if __name__ == "__main__":
    worst = max([measure(name) for name in sys.argv[1:] or MODELS])
    sys.exit(f"Recording costs {worst:.2f}, more than 1.3." if worst > 1.3 else 0)
