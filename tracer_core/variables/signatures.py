"""`inspect.signature` of functions known for sure, and the read-only mappings that such answers hold."""

from __future__ import annotations

import gc
import inspect
import types
from collections import OrderedDict
from collections.abc import Mapping
from typing import Any

from tracer_core.errors import Unsupported
from tracer_core.guards import make
from tracer_core.sources import ConstSource, ItemSource, Source
from tracer_core.variables.base import Tracing, VariableTracker
from tracer_core.variables.classes import BuiltinVariable
from tracer_core.variables.dicts import DictVariable, MappingProxyVariable
from tracer_core.variables.functions import UserFunctionVariable
from tracer_core.variables.methods import MethodVariable
from tracer_core.variables.registry import builds, handles
from tracer_core.variables.signature_guards import guard_signature


@handles(inspect.signature, VariableTracker)
def signature(tx: Tracing, function: VariableTracker) -> VariableTracker | None:
    function = function.realize()
    if isinstance(function, MethodVariable):
        of = function.function.realize()
        return _without_first(_signature_of(tx, of)) if isinstance(of, UserFunctionVariable) else None
    return BuiltinVariable(_signature_of(tx, function)) if isinstance(function, UserFunctionVariable) else None


def _signature_of(tx: Tracing, function: UserFunctionVariable) -> inspect.Signature:
    if function.attributes:
        raise Unsupported("skipped-function", what="inspect.signature", why="the function's attributes were changed")
    if function.source is not None and not isinstance(function.source.root, ConstSource):
        tx.guard(make.identity(function.source, function.function))
    guard_signature(tx, function.function)
    return inspect.signature(function.function)


def _without_first(whole: inspect.Signature) -> VariableTracker | None:
    """As `inspect` gives it for a bound method."""
    parameters = list(whole.parameters.values())
    if not parameters or parameters[0].kind not in (
        inspect.Parameter.POSITIONAL_ONLY,
        inspect.Parameter.POSITIONAL_OR_KEYWORD,
    ):
        return None
    return BuiltinVariable(whole.replace(parameters=parameters[1:]))


@builds(types.MappingProxyType)
def _mapping_proxy(build: Any, value: Mapping[Any, Any], source: Source) -> VariableTracker:
    """One that belongs to an object known for sure: others may change behind it."""
    # What is behind it may run code of its own where it is looked at.
    kind = type(gc.get_referents(value)[0])
    if (
        not isinstance(source.root, ConstSource)
        or kind not in (dict, OrderedDict)
        or not all(isinstance(key, str) for key in value)
    ):
        raise Unsupported("unknown-object", type="mappingproxy", source=source.name)
    entries = [(build.tx.constant(key), build.lazy(item, ItemSource(source, key))) for key, item in value.items()]
    return MappingProxyVariable(DictVariable(entries, kind), source)
