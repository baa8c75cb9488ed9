"""Forward every operation on `types.MappingProxyType` objects to their dict."""

from __future__ import annotations

import operator
from typing import Any

from tracer_core.variables.containers.dicts import MappingProxyVariable
from tracer_core.variables.core.base import VariableTracker
from tracer_core.variables.core.registry import handles, method
from tracer_core.variables.core.tracing import Tracing
from tracer_core.variables.objects.classes import BuiltinVariable
from tracer_core.variables.operations.calling import call_known


def _by_the_dict(function: Any) -> Any:
    def handler(tx: Tracing, *args: VariableTracker) -> VariableTracker:
        inside = [arg.of if isinstance(arg, MappingProxyVariable) else arg for arg in args]
        return call_known(tx, BuiltinVariable(function), inside, {})

    return handler


_TABLE: list[tuple[Any, tuple[type, ...]]] = [
    *((f, (MappingProxyVariable, VariableTracker)) for f in (operator.getitem, operator.contains)),
    *((f, (MappingProxyVariable, VariableTracker)) for f in (operator.eq, operator.ne, operator.or_)),
    *((f, (VariableTracker, MappingProxyVariable)) for f in (operator.eq, operator.ne, operator.or_)),
    *((f, (MappingProxyVariable,)) for f in (len, reversed)),
]
for _function, _kinds in _TABLE:
    handles(_function, *_kinds)(_by_the_dict(_function))


def _method_of_the_dict(name: str) -> Any:
    def handler(tx: Tracing, self: MappingProxyVariable, /, *args: VariableTracker) -> VariableTracker:
        return tx.call_method(self.of, name, list(args), {})

    return handler


for _name in ("get", "keys", "values", "items", "copy"):
    method(MappingProxyVariable, _name)(_method_of_the_dict(_name))


@handles(operator.ior, MappingProxyVariable, VariableTracker)
def merge_in_place(tx: Tracing, self: MappingProxyVariable, other: VariableTracker) -> VariableTracker:
    return tx.raise_(TypeError, "'|=' is not supported by mappingproxy; use '|' instead")
