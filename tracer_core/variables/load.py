"""Imports every module that registers handlers, so that the tables are full."""

from __future__ import annotations

from importlib import import_module

from tracer_core.polyfills import load_polyfills

MODULES = (
    "tracer_core.variables.build_callables",
    "tracer_core.variables.build_containers",
    "tracer_core.variables.build_objects",
    "tracer_core.variables.build_values",
    "tracer_core.variables.builtin_attributes",
    "tracer_core.variables.builtin_breaks",
    "tracer_core.variables.builtin_iteration",
    "tracer_core.variables.builtin_numbers",
    "tracer_core.variables.builtin_text",
    "tracer_core.variables.containers_made",
    "tracer_core.variables.deque_methods",
    "tracer_core.variables.dict_methods",
    "tracer_core.variables.generators",
    "tracer_core.variables.indices",
    "tracer_core.variables.instance_dict_methods",
    "tracer_core.variables.library_objects",
    "tracer_core.variables.method_equality",
    "tracer_core.variables.object_methods",
    "tracer_core.variables.operator_functions",
    "tracer_core.variables.replayed",
    "tracer_core.variables.sequence_methods",
    "tracer_core.variables.sequence_operators",
    "tracer_core.variables.set_methods",
    "tracer_core.variables.signatures",
    "tracer_core.variables.stand_ins",
    "tracer_core.variables.tensor_methods",
    "tracer_core.variables.text_methods",
    "tracer_core.variables.torch_functions",
)


def load_handlers() -> None:
    """Import them all; doing so again changes nothing."""
    for name in MODULES:
        import_module(name)
    load_polyfills()
