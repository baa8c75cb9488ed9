"""Bind arguments to parameters as Python does, with Python's own errors where they do not fit."""

from __future__ import annotations

import types
from collections.abc import Mapping, Sequence
from types import CodeType
from typing import Any

from tracer_core.variables.containers.dicts import ConstDictVariable
from tracer_core.variables.containers.sequences import TupleVariable
from tracer_core.variables.core.base import VariableTracker
from tracer_core.variables.core.tracing import Tracing
from tracer_core.variables.functions.functions import InlineTarget
from tracer_core.variables.library.signature_guards import guard_defaulted

CO_VARARGS, CO_VARKEYWORDS = 0x04, 0x08


def bind(
    tx: Tracing, target: InlineTarget, args: Sequence[VariableTracker], kwargs: Mapping[str, VariableTracker]
) -> dict[str, VariableTracker]:
    """Return the locals that a call starts with. Raises TypeError in the traced program as the real call would."""
    code = target.code
    names = code.co_varnames
    count, keyword_only = code.co_argcount, code.co_kwonlyargcount
    bound: dict[str, VariableTracker] = dict(zip(names[:count], args, strict=False))
    rest = args[count:]
    if rest and not code.co_flags & CO_VARARGS:
        _refuse(tx, target, len(args), kwargs)
    extra: list[tuple[VariableTracker, VariableTracker]] = []
    by_name = names[code.co_posonlyargcount : count + keyword_only]
    for name, value in kwargs.items():
        if name in by_name:
            if name in bound:
                _refuse(tx, target, len(args), kwargs)
            bound[name] = value
        elif code.co_flags & CO_VARKEYWORDS:
            extra.append((tx.constant(name), value))
        else:
            _refuse(tx, target, len(args), kwargs)
    first_default = count - len(target.defaults)
    for position in range(count):
        if names[position] not in bound:
            if position < first_default:
                _refuse(tx, target, len(args), kwargs)
            bound[names[position]] = target.defaults[position - first_default]
    for name in names[count : count + keyword_only]:
        if name not in bound:
            if name not in target.kwdefaults:
                _refuse(tx, target, len(args), kwargs)
            bound[name] = target.kwdefaults[name]
    at = count + keyword_only
    if code.co_flags & CO_VARARGS:
        bound[names[at]] = TupleVariable(list(rest))
        at += 1
    if code.co_flags & CO_VARKEYWORDS:
        bound[names[at]] = ConstDictVariable(extra)
    return bound


def _refuse(tx: Tracing, target: InlineTarget, count: int, kwargs: Mapping[str, VariableTracker]) -> None:
    """Raise the TypeError that CPython raises for such a call: it comes from calling an empty function like it."""
    if target.function is not None and target.source is not None:
        guard_defaulted(tx, target.function, target.source)
    empty = types.FunctionType(_empty_code(target.code), {}, target.code.co_name)
    empty.__qualname__ = target.name
    empty.__defaults__ = tuple([None] * len(target.defaults))
    empty.__kwdefaults__ = dict.fromkeys(target.kwdefaults)
    try:
        empty(*([None] * count), **dict.fromkeys(kwargs))
    except TypeError as error:
        tx.raise_(TypeError, *error.args)
    raise AssertionError(f"a call of {target.name} was refused here but not by Python")


def _nothing() -> Any:
    return None


def _empty_code(code: CodeType) -> CodeType:
    parameters = code.co_argcount + code.co_kwonlyargcount
    parameters += bool(code.co_flags & CO_VARARGS) + bool(code.co_flags & CO_VARKEYWORDS)
    template = _nothing.__code__
    return template.replace(
        co_argcount=code.co_argcount,
        co_posonlyargcount=code.co_posonlyargcount,
        co_kwonlyargcount=code.co_kwonlyargcount,
        co_varnames=code.co_varnames[:parameters],
        co_nlocals=parameters,
        co_flags=template.co_flags | (code.co_flags & (CO_VARARGS | CO_VARKEYWORDS)),
        co_name=code.co_name,
        co_qualname=code.co_qualname,
    )
