"""Builtins that always break the graph, each with its reason."""

from __future__ import annotations

import builtins
from typing import Any

from tracer_core.errors import Unsupported
from tracer_core.variables.base import Tracing, VariableTracker
from tracer_core.variables.registry import handles


def _breaks(reason: str) -> Any:
    def handler(tx: Tracing, *args: VariableTracker, **kwargs: VariableTracker) -> VariableTracker:
        raise Unsupported(reason)

    return handler


for _function, _reason in {
    builtins.input: "input",
    builtins.open: "open-file",
    builtins.breakpoint: "breakpoint",
    builtins.exec: "exec",
    builtins.compile: "exec",
    builtins.id: "object-id",
    builtins.locals: "frame-namespace",
    builtins.globals: "frame-namespace",
    builtins.dir: "frame-namespace",
}.items():
    handles(_function)(_breaks(_reason))
