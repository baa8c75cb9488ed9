"""`inspect.signature` of functions known for sure, and the read-only mappings that such answers hold."""

from __future__ import annotations

import inspect

from tracer_core.errors import Unsupported
from tracer_core.guards import make
from tracer_core.sources import ConstSource
from tracer_core.variables.base import Tracing, VariableTracker
from tracer_core.variables.classes import BuiltinVariable
from tracer_core.variables.functions import UserFunctionVariable
from tracer_core.variables.methods import MethodVariable
from tracer_core.variables.registry import handles
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
