"""What tracing a model at the dispatcher costs: `python -m tests.benchmarks.make_fx [name ...]`.

Forward and backward of the five models of `trace_models` are traced by `tracer_core.make_fx` and by torch's, in
turns, fake and symbolic. Seconds of the processor, which other programs disturb less; the least of several runs in
one process, after one that warms up what both share.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

import torch
from torch.fx.experimental.proxy_tensor import make_fx as torchs_make_fx

import tracer_core
from tests.benchmarks.trace_models import MODELS, RUNS
from tests.proxy_tensor.models import OPTIONS, PARTS

MODES = ("fake", "symbolic")


def seconds(
    make_fx: Callable[..., Any], function: Callable[..., Any], arguments: Any, mode: str
) -> tuple[float, Any]:
    torch.manual_seed(0)
    started = time.process_time()
    graph = make_fx(function, tracing_mode=mode, **OPTIONS)(*arguments)
    return time.process_time() - started, graph


def measure(name: str, part: str, mode: str) -> str:
    function, arguments = PARTS[part](name, None)
    for make_fx in (tracer_core.make_fx, torchs_make_fx):
        seconds(make_fx, function, arguments, "fake")
    runs = [
        [seconds(make_fx, function, arguments, mode) for make_fx in (tracer_core.make_fx, torchs_make_fx)]
        for _ in range(RUNS)
    ]
    (ours, our_graph), (theirs, their_graph) = (
        min((run[i] for run in runs), key=lambda each: each[0]) for i in (0, 1)
    )
    same = our_graph.code == their_graph.code
    return (
        f"{name:6} {part:8} {mode:8} ours {ours:6.2f} s, torch {theirs:6.2f} s, ratio {ours / theirs:.2f}; "
        f"{len(our_graph.graph.nodes)} nodes; {'same code' if same else 'DIFFERENT CODE'}"
    )


def main(names: list[str]) -> None:
    warnings.simplefilter("ignore")
    for name in names or list(MODELS):
        for part in PARTS:
            for mode in MODES:
                print(measure(name, part, mode), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
