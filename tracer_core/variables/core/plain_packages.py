"""Packages that are traced as if they were not compiled: what they compute or return is then as in plain Python."""

from __future__ import annotations

from typing import Any

from tracer_core.variables.core.tracing import Tracing

#: Packages that run as they do without a compiler.
_AS_PLAIN = ("torch.optim", "torch._functorch.apis")

#: Modules that ask only to choose between ways to the same result: one is an operator, the other starts a compiler.
_AS_COMPILED = ("torch.nn.attention.flex_attention",)


def runs_as_compiled(tx: Tracing) -> bool:
    """Return whether the function being traced belongs to a module that is told that it is being compiled, whatever
    the program is told."""
    return tx.frame.module in _AS_COMPILED


def runs_as_plain(tx: Tracing) -> bool:
    """Return whether the function being traced belongs to a package that is traced as if it were not compiled."""
    module = str(tx.frame.module)
    return any(module == name or module.startswith(f"{name}.") for name in _AS_PLAIN)


def ignores_graph_break(tx: Tracing, function: Any) -> bool:
    """Return whether the call is torch's own graph break, made only to save memory of a back end."""
    named = (function.__module__, function.__name__) == ("torch._dynamo.decorators", "graph_break")
    return named and runs_as_plain(tx)
