"""Trace a case with one make_fx, and run the graph that it gives."""

from __future__ import annotations

import random
from collections.abc import Callable
from contextlib import redirect_stderr
from dataclasses import dataclass
from io import StringIO
from typing import Any

import numpy as np
import torch
from torch._subclasses.fake_tensor import FakeTensorMode

from tests.proxy_tensor.cases import Case, Setting

SEED = 1234


@dataclass(slots=True)
class Outcome:
    """What one make_fx does with a case: a graph and what it gives when it runs, or an error."""

    graph: torch.fx.GraphModule | None = None
    error: Exception | None = None
    arguments: Any = None
    """The arguments after tracing, which may have changed them."""
    random_state: torch.Tensor | None = None
    """The state of the generator after tracing."""
    result: Any = None
    """The graph's result and its arguments after a run, or the error that the run raised."""


def seed() -> None:
    torch.manual_seed(SEED)
    random.seed(SEED)
    np.random.seed(SEED)


def trace(make_fx: Callable[..., Any], case: Case, setting: Setting) -> Outcome:
    outcome = Outcome()
    # It holds results of fake kernels, some of which share no memory with their inputs when they are computed anew.
    FakeTensorMode.cache_clear()
    seed()
    function, outcome.arguments = case.build()
    torch.manual_seed(SEED)
    try:
        outcome.graph = make_fx(function, **setting.options, **case.options)(*outcome.arguments)
    except Exception as error:
        outcome.error = error.with_traceback(None)
    else:
        outcome.random_state = torch.get_rng_state()
        outcome.result = run(outcome.graph, case)
    return outcome


def run(graph: torch.fx.GraphModule, case: Case) -> Any:
    seed()
    _, arguments = case.build()
    torch.manual_seed(SEED)
    before = torch.are_deterministic_algorithms_enabled(), torch.is_deterministic_algorithms_warn_only_enabled()
    torch.use_deterministic_algorithms(True, warn_only=True)  # memory that no operator wrote is filled then
    try:
        with redirect_stderr(StringIO()):  # a graph that raises prints its code
            return graph(*arguments), arguments
    except Exception as error:
        return error.with_traceback(None)
    finally:
        torch.use_deterministic_algorithms(before[0], warn_only=before[1])
