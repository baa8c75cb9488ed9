"""`inspect.signature` and `getfullargspec` of functions, and the read-only mappings in their results."""

from __future__ import annotations

import inspect
import types

from tracer_core.errors import Unsupported
from tracer_core.guards import make
from tracer_core.sources import ConstantSource
from tracer_core.variables.core.base import VariableTracker, all_constant
from tracer_core.variables.core.registry import handles
from tracer_core.variables.core.tracing import Tracing
from tracer_core.variables.functions.functions import UserFunctionVariable
from tracer_core.variables.functions.methods import UserMethodVariable
from tracer_core.variables.functions.nested_functions import NestedUserFunctionVariable
from tracer_core.variables.library.signature_guards import guard_signature
from tracer_core.variables.objects.classes import BuiltinVariable

_CARRIED = ("__signature__", "__wrapped__", "_partialmethod", "__partialmethod__")


@handles(inspect.signature, VariableTracker)
def signature(tx: Tracing, function: VariableTracker) -> VariableTracker | None:
    return _signature(tx, function, follows=True, whole=False)


@handles(inspect._signature_from_callable, VariableTracker)  # type: ignore[attr-defined]
def signature_from_callable(
    tx: Tracing,
    function: VariableTracker,
    *,
    follow_wrapper_chains: VariableTracker,
    skip_bound_arg: VariableTracker,
    sigcls: VariableTracker,
    eval_str: VariableTracker,
) -> VariableTracker:
    """Return the signature, for the call by `inspect.getfullargspec`."""
    found = _signature(tx, function, follows=follow_wrapper_chains.value(), whole=not skip_bound_arg.value())
    if found is None:
        why = f"the parameters of {function.describe()} are not known while tracing"
        raise Unsupported("skipped-function", what="inspect.getfullargspec", why=why)
    return found


def _signature(tx: Tracing, function: VariableTracker, *, follows: bool, whole: bool) -> VariableTracker | None:
    """Return the signature of a function or a bound method, including the method's first parameter if `whole`."""
    function = function.realize()
    of = function.function.realize() if isinstance(function, UserMethodVariable) else function
    found = _signature_of(tx, of, follows)
    if found is None:
        return None
    return BuiltinVariable(found) if function is of or whole else _without_first(found)


def _signature_of(tx: Tracing, function: VariableTracker, follows: bool) -> inspect.Signature | None:
    if isinstance(function, NestedUserFunctionVariable):
        return _signature_of_nested(tx, function)
    if not isinstance(function, UserFunctionVariable):
        return None
    if function.attributes:
        raise Unsupported("skipped-function", what="inspect.signature", why="the function's attributes were changed")
    if function.source is not None and not isinstance(function.source.root, ConstantSource):
        tx.guard(make.identity(function.source, function.function))
    guard_signature(tx, function.function, follows)
    return inspect._signature_from_callable(  # type: ignore[attr-defined, no-any-return]
        function.function, follow_wrapper_chains=follows, sigcls=inspect.Signature
    )


def _signature_of_nested(tx: Tracing, function: NestedUserFunctionVariable) -> inspect.Signature | None:
    """Return the signature of a real function of the same code, if all that it shows is known."""
    annotations = function.attribute(tx, "__annotations__")
    given = (function.defaults, function.kwdefaults, annotations)
    known = [part.realize() for part in given if part is not None]
    if not all_constant(known) or not function.attributes.keys().isdisjoint(_CARRIED):
        return None
    defaults, kwdefaults, shown = (None if part is None else part.realize().value() for part in given)
    cells = tuple(types.CellType() for _ in function.closure)
    real = types.FunctionType(function.code, function.globals, None, defaults, cells)
    real.__kwdefaults__, real.__annotations__ = kwdefaults, shown or {}
    return inspect.signature(real)


def _without_first(whole: inspect.Signature) -> VariableTracker | None:
    """Return the signature that `inspect` gives for a bound method."""
    parameters = list(whole.parameters.values())
    if not parameters or parameters[0].kind not in (
        inspect.Parameter.POSITIONAL_ONLY,
        inspect.Parameter.POSITIONAL_OR_KEYWORD,
    ):
        return None
    return BuiltinVariable(whole.replace(parameters=parameters[1:]))
