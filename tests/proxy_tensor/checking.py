"""Check one function by both make_fx."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.fx import GraphModule
from torch.fx.experimental.proxy_tensor import make_fx as torchs_make_fx

from tests.proxy_tensor.compare import of_modules
from tracer_core import make_fx

MODES = ("real", "fake", "symbolic")


def check_same(function: Callable[..., Any], *args: Any, **options: Any) -> GraphModule:
    """Both give the same graph. Return ours."""
    torch.manual_seed(0)
    ours = make_fx(function, **options)(*args)
    torch.manual_seed(0)
    same_graphs(torchs_make_fx(function, **options)(*args), ours)
    return ours


def same_graphs(theirs: GraphModule, ours: GraphModule) -> None:
    found = "; ".join(map(str, of_modules(theirs, ours, "graph")))
    assert found == "", found
