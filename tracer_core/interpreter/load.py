"""Imports every module that registers instruction handlers, and those that register behaviour of values."""

from __future__ import annotations

from importlib import import_module

from tracer_core.variables.load import load_handlers as load_value_handlers

MODULES = (
    "tracer_core.interpreter.ops_build",
    "tracer_core.interpreter.ops_flow",
    "tracer_core.interpreter.ops_values",
)


def load_handlers() -> None:
    """Import them all; doing so again changes nothing."""
    load_value_handlers()
    for name in MODULES:
        import_module(name)
