"""Guards on the attributes that `inspect.signature` reads of a function: a program may write to any of them."""

from __future__ import annotations

import types
from typing import Any

from tracer_core.errors import Unsupported
from tracer_core.guards import is_constant, make
from tracer_core.sources import AttrSource, ConstantSource, DefaultsSource, GetItemSource, InstanceDictSource, Source
from tracer_core.variables.core.tracing import Tracing

_SAYS_ANOTHER = ("__signature__", "__wrapped__", "_partialmethod", "__partialmethod__")
"""Attributes that lead to the function that decides the signature, in the order in which they are read here."""


def guard_signature(tx: Tracing, function: types.FunctionType, follows: bool) -> None:
    """Guard all that `inspect.signature(function)` depends on, through what the function wraps if it `follows` that.

    Raises:
        Unsupported: something on the way is no function.
    """
    seen = {function}
    while (wrapped := _guard_wrapped(tx, function, follows)) is not None:
        if not isinstance(wrapped, types.FunctionType) or wrapped in seen:
            what = f"{function.__qualname__} delegates its signature to an object that is not a function"
            raise Unsupported("skipped-function", what="inspect.signature", why=what)
        seen.add(wrapped)
        function = wrapped
    if "__signature__" not in function.__dict__:
        _guard_parts(tx, function)


def _guard_wrapped(tx: Tracing, function: types.FunctionType, follows: bool) -> Any:
    """Guard the attributes that override the signature; return the function that it wraps, None if that is not
    read."""
    own = InstanceDictSource(ConstantSource.of_object(function))
    for name in _SAYS_ANOTHER:
        if name == "__wrapped__" and not follows:
            continue
        if name not in function.__dict__:
            tx.guard(make.lacks(own, name))
            continue
        value = function.__dict__[name]
        tx.guard(make.contains(own, name))
        tx.guard(make.identity(GetItemSource(own, name), value))
        return value if name == "__wrapped__" else None
    return None


def guard_defaulted(tx: Tracing, function: types.FunctionType, source: Source) -> None:
    """Guard which parameters of the function at `source` have defaults, whatever these are."""
    defaults = AttrSource(source, "__defaults__")
    count = None if function.__defaults__ is None else len(function.__defaults__)
    tx.guard(make.is_none(defaults) if count is None else make.length(defaults, count))
    _guard_names(tx, AttrSource(source, "__kwdefaults__"), function.__kwdefaults__)


def _guard_parts(tx: Tracing, function: types.FunctionType) -> None:
    source = ConstantSource.of_object(function)
    tx.guard(make.function_code(source, function))
    guard_defaulted(tx, function, source)
    _guard_names(tx, AttrSource(source, "__annotations__"), function.__annotations__)
    for index, value in enumerate(function.__defaults__ or ()):
        _guard_value(tx, DefaultsSource.of_function(source, function, index), value)
    for carrier in ("__kwdefaults__", "__annotations__"):
        for name, value in (getattr(function, carrier) or {}).items():
            _guard_value(tx, GetItemSource(AttrSource(source, carrier), name), value)


def _guard_names(tx: Tracing, source: Source, held: dict[str, Any] | None) -> None:
    if held is None:
        tx.guard(make.is_none(source))
    else:
        tx.guard(make.type_is(source, dict))
        tx.guard(make.dict_keys_are(source, held))


def _guard_value(tx: Tracing, source: Source, value: Any) -> None:
    tx.guard(make.constant(source, value) if is_constant(value) else make.identity(source, value))
