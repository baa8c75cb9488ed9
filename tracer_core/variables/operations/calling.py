"""Calls on trackers: of functions, classes and bound methods, and of the methods of builtin types.

Handlers come first, then stand-ins, then the entry in `rules` for the function; `Unsupported` where there is none.
"""

from __future__ import annotations

import math
import types
from typing import Any

import torch

from tracer_core import rules
from tracer_core.errors import Unsupported
from tracer_core.higher_order_table import unsupported
from tracer_core.names.public import name_of
from tracer_core.operator_table import BINARY, COMPARISONS
from tracer_core.polyfills import stand_in_for
from tracer_core.variables.containers.dicts import ConstDictVariable
from tracer_core.variables.containers.sequences import ListVariable, SequenceVariable, TupleVariable
from tracer_core.variables.core.base import Args, Kwargs, VariableTracker, all_constant
from tracer_core.variables.core.constant import NONE
from tracer_core.variables.core.registry import handlers_for, looks_at_arguments, matches, method_for
from tracer_core.variables.core.tensors import InGraphVariable, SymNodeVariable, TensorVariable, specialized
from tracer_core.variables.core.tracing import ObservedException, Tracing
from tracer_core.variables.exceptions.exceptions import ExceptionVariable
from tracer_core.variables.functions.builtin_signatures import fits, raise_signature, refuses
from tracer_core.variables.functions.functions import BaseUserFunctionVariable
from tracer_core.variables.functions.methods import BoundBuiltinMethodVariable
from tracer_core.variables.iterators.stand_ins import call_stand_in
from tracer_core.variables.objects import overlay
from tracer_core.variables.objects.builtin_parts import calls_overridden, init_part
from tracer_core.variables.objects.class_lookup import static_lookup
from tracer_core.variables.objects.classes import BuiltinVariable, ClassVariable, KnownVariable, SuperMethodVariable
from tracer_core.variables.objects.exception_creation import init_in_c
from tracer_core.variables.objects.instantiate import instantiate
from tracer_core.variables.objects.user_objects import UserDefinedObjectVariable
from tracer_core.variables.operations.dunder_methods import NOT_IMPLEMENTED, call_dunder, same_family
from tracer_core.variables.operations.folding import fold
from tracer_core.variables.operations.in_graph import call_in_graph
from tracer_core.variables.operations.known_functions import (
    in_answers,
    reads_what_changed,
    tensor_method,
    unbound_method,
)
from tracer_core.variables.operations.operator_functions import call_operator
from tracer_core.variables.operations.overrides import (
    call_by_override,
    is_subclass_of_tensor,
    method_by_override,
)
from tracer_core.variables.operations.special_methods import call_special
from tracer_core.variables.operations.torch_calls import call_torch_function

# --- calls --------------------------------------------------------------------------------------------------


def call(tx: Tracing, function: VariableTracker, args: Args, kwargs: Kwargs) -> VariableTracker:
    """`function(*args, **kwargs)`. Functions with Python code are inlined by the interpreter before this."""
    function = function.realize()
    done = function.call(tx, args, kwargs)
    if done is not None:
        return done.realize()
    if isinstance(function, BoundBuiltinMethodVariable):
        obj = function.self_.realize()
        if not looks_at_arguments(type(obj), function.name):
            return call_method(tx, obj, function.name, args, kwargs)
    args = [arg.realize() for arg in args]
    kwargs = {name: value.realize() for name, value in kwargs.items()}
    if isinstance(function, BoundBuiltinMethodVariable):
        return call_method(tx, function.self_.realize(), function.name, args, kwargs)
    if isinstance(function, SuperMethodVariable):
        return _call_super_method(tx, function, args, kwargs)
    if isinstance(function, KnownVariable):
        return call_known(tx, function, args, kwargs)
    if isinstance(function, UserDefinedObjectVariable):
        found, owner = static_lookup(function.cls, "__call__")
        if owner is not None:
            bound = function.bind_descriptor(tx, "__call__", found, owner)
            if bound is not None:
                return tx.call(bound, args, kwargs)
    if isinstance(function, InGraphVariable) or not callable_type(function):
        tx.raise_(TypeError, f"{function.type_name_in_errors()!r} object is not callable")
    raise Unsupported("call", what=function.describe())


def callable_type(tracker: VariableTracker) -> bool:
    return static_lookup(tracker.python_type(), "__call__")[1] is not None


def call_known(tx: Tracing, function: KnownVariable, args: Args, kwargs: Kwargs) -> VariableTracker:
    """Call a builtin, a class or a torch function, by the first of the ways that apply."""
    for way in _WAYS_OF_KNOWN:
        result = way(tx, function, args, kwargs)
        if result is not None:
            return result.realize()
    known = function.known
    why_not = unsupported(known)
    if why_not is not None:
        raise why_not
    why = rules.decide(known).why or "what it does with these values is not known while tracing"
    raise Unsupported("skipped-function", what=name_of(known), why=why)


def _by_handler(tx: Tracing, function: KnownVariable, args: Args, kwargs: Kwargs) -> VariableTracker | None:
    for kinds, handler in handlers_for(function.known):
        if matches(kinds, args) and fits(handler, 1, args, kwargs):
            result: VariableTracker | None = handler(tx, *args, **kwargs)
            if result is not None:
                _tell(tx, handler)
                return result
    return None


def _tell(tx: Tracing, handler: Any) -> None:
    if tx.output.observer is not None:
        tx.output.observer.on_dispatch(handler.__qualname__)


def _by_stand_in(tx: Tracing, function: KnownVariable, args: Args, kwargs: Kwargs) -> VariableTracker | None:
    stand_in = stand_in_for(function.known)
    if stand_in is None:
        return None
    return call_stand_in(tx, function.known, stand_in, args, kwargs)


def _as_class(tx: Tracing, function: KnownVariable, args: Args, kwargs: Kwargs) -> VariableTracker | None:
    if not isinstance(function, ClassVariable):
        return None
    return instantiate(tx, function, args, kwargs)


def _as_operator(tx: Tracing, function: KnownVariable, args: Args, kwargs: Kwargs) -> VariableTracker | None:
    return call_operator(tx, function.known, args) if not kwargs else None


def _by_answer(tx: Tracing, function: KnownVariable, args: Args, kwargs: Kwargs) -> VariableTracker | None:
    return tx.constant(rules.ANSWERS[function.known]) if in_answers(function.known) else None


def _as_tensor_method(tx: Tracing, function: KnownVariable, args: Args, kwargs: Kwargs) -> VariableTracker | None:
    name = tensor_method(function.known) if args and isinstance(args[0], TensorVariable) else None
    return None if name is None else call_method(tx, args[0], name, args[1:], kwargs)


def _as_node(tx: Tracing, function: KnownVariable, args: Args, kwargs: Kwargs) -> VariableTracker | None:
    if rules.decide(function.known).action != "graph":
        return None
    return call_torch_function(tx, function.known, args, kwargs)


def _as_nonstrict(tx: Tracing, function: KnownVariable, args: Args, kwargs: Kwargs) -> VariableTracker | None:
    if rules.decide(function.known) is not rules.NONSTRICT:
        return None
    ((_, handler),) = handlers_for(rules.NONSTRICT)
    return handler(tx, function, *args, **kwargs)


def _as_unbound_method(tx: Tracing, function: KnownVariable, args: Args, kwargs: Kwargs) -> VariableTracker | None:
    name = unbound_method(function.known, args)
    return None if name is None else call_method(tx, args[0], name, args[1:], kwargs)


def _by_folding(tx: Tracing, function: KnownVariable, args: Args, kwargs: Kwargs) -> VariableTracker | None:
    known = function.known
    if rules.decide(known).action != "fold":
        return None
    if any(isinstance(arg, SymNodeVariable) for arg in args):
        return _fold_symbolic(tx, function, args, kwargs)
    if reads_what_changed(tx, known):
        raise Unsupported(
            "skipped-function", what=name_of(known), why="it reads something that the code has just changed"
        )
    if any(isinstance(arg, BaseUserFunctionVariable) for arg in (*args, *kwargs.values())):
        return None
    return fold(tx, known, [_with_numbers(tx, arg) for arg in args], kwargs)


def _with_numbers(tx: Tracing, arg: VariableTracker) -> VariableTracker:
    """Return a list or tuple of symbols as one of numbers, which specializes them."""
    if not isinstance(arg, SequenceVariable) or type(arg) not in (ListVariable, TupleVariable):
        return arg
    items = [item.realize() for item in arg.items]
    if not any(isinstance(item, SymNodeVariable) for item in items):
        return arg
    return type(arg)([specialized(tx, item) for item in items])


def _as_alias(tx: Tracing, alias: KnownVariable, args: Args, kwargs: Kwargs) -> VariableTracker | None:
    """Create an object of the class of a generic alias, and set its `__orig_class__`, if it accepts that."""
    if not isinstance(alias.known, overlay.ALIASES):
        return None
    origin = alias.known.__origin__
    if not isinstance(origin, type) or not getattr(alias.known, "_inst", True):
        raise Unsupported("call", what=repr(alias.known))
    made = tx.call(tx.constant(origin), args, kwargs).realize()
    if isinstance(made, UserDefinedObjectVariable):
        try:
            tx.set_attr(made, "__orig_class__", alias)
        except ObservedException as raised:
            if not issubclass(raised.tracker.cls, (AttributeError, TypeError)):
                raise
    return made


_WAYS_OF_KNOWN = (
    call_by_override, _as_alias, _by_handler, _by_stand_in, _as_class, _as_operator, _by_answer, _as_tensor_method,
    _as_node, _as_nonstrict, _as_unbound_method, _by_folding,
)  # fmt: skip


def _fold_symbolic(tx: Tracing, function: KnownVariable, args: Args, kwargs: Kwargs) -> VariableTracker:
    """Call a function of numbers, some of them symbols: by a node if torch has one, else the symbols are
    specialized."""
    known = function.known
    if known in (math.ceil, math.floor, math.trunc):
        return call_in_graph(tx, "call_function", known, args, kwargs)
    symbolic = getattr(torch, f"_sym_{known.__name__}", None)
    if getattr(known, "__module__", None) == "math" and symbolic is not None and len(args) == 1:
        return call_in_graph(tx, "call_function", symbolic, args, kwargs)
    return call_known(tx, function, [specialized(tx, arg) for arg in args], kwargs)


def call_method(tx: Tracing, obj: VariableTracker, name: str, args: Args, kwargs: Kwargs) -> VariableTracker:
    """Do `obj.name(*args, **kwargs)` for a method of a builtin type, by the first of the ways that apply."""
    for way in _WAYS_OF_METHODS:
        result = way(tx, obj, name, args, kwargs)
        if result is not None:
            return result.realize()
    raise Unsupported("method", name=name, type=obj.python_type_name())


def _method_by_handler(
    tx: Tracing, obj: VariableTracker, name: str, args: Args, kwargs: Kwargs
) -> VariableTracker | None:
    """Call the handler of a method. A call that does not fit its signature raises TypeError in the program."""
    handler = method_for(type(obj), name)
    if handler is None:
        return None
    if not fits(handler, 2, args, kwargs) or refuses(obj.python_type(), name, kwargs):
        raise_signature(tx, obj, name, args, kwargs)
    result: VariableTracker | None = handler(tx, obj, *args, **kwargs)
    if result is not None:
        _tell(tx, handler)
    return result


def _method_of_tensor(
    tx: Tracing, obj: VariableTracker, name: str, args: Args, kwargs: Kwargs
) -> VariableTracker | None:
    return call_in_graph(tx, "call_method", name, [obj, *args], kwargs) if isinstance(obj, TensorVariable) else None


def _method_of_known(
    tx: Tracing, obj: VariableTracker, name: str, args: Args, kwargs: Kwargs
) -> VariableTracker | None:
    if not isinstance(obj, KnownVariable):
        return None
    function = getattr(obj.known, name)
    known = handlers_for(function) or stand_in_for(function) is not None
    return call_known(tx, BuiltinVariable(function), args, kwargs) if known else None


def _method_of_object(
    tx: Tracing, obj: VariableTracker, name: str, args: Args, kwargs: Kwargs
) -> VariableTracker | None:
    return _call_inherited(tx, obj, name, args, kwargs) if isinstance(obj, UserDefinedObjectVariable) else None


def _method_as_operator(
    tx: Tracing, obj: VariableTracker, name: str, args: Args, kwargs: Kwargs
) -> VariableTracker | None:
    if kwargs or isinstance(obj, (InGraphVariable, KnownVariable)):
        return None
    return call_dunder(tx, obj, name, args)


def _method_of_symbol(
    tx: Tracing, obj: VariableTracker, name: str, args: Args, kwargs: Kwargs
) -> VariableTracker | None:
    if not isinstance(obj, SymNodeVariable):
        return None
    function = _NUMBER_METHODS.get(name)
    if function is not None and args:
        if not same_family(obj, args[0]):
            return NOT_IMPLEMENTED
        return call_in_graph(tx, "call_function", function, [obj, *args], kwargs)
    return call_method(tx, specialized(tx, obj), name, args, kwargs)


def _method_by_folding(
    tx: Tracing, obj: VariableTracker, name: str, args: Args, kwargs: Kwargs
) -> VariableTracker | None:
    if obj.mutable or not obj.is_constant() or not all_constant([*args, *kwargs.values()]):
        return None
    if any(isinstance(arg, BaseUserFunctionVariable) for arg in (*args, *kwargs.values())):
        return None  # It would run here, and again when plain Python calls the method.
    method = getattr(obj.value(), name)
    if isinstance(obj, KnownVariable) and rules.decide(method).action != "fold":
        raise Unsupported("method", name=name, type=name_of(obj.known))
    return fold(tx, method, args, kwargs)


_WAYS_OF_METHODS = (
    method_by_override, _method_by_handler, _method_of_tensor, _method_of_known, _method_of_object,
    _method_as_operator, _method_of_symbol, _method_by_folding,
)  # fmt: skip


def _call_inherited(
    tx: Tracing, obj: UserDefinedObjectVariable, name: str, args: Args, kwargs: Kwargs
) -> VariableTracker:
    """Call a method in C that an object's class inherits: of `object`, or of the builtin type it has a part of."""
    for owner in obj.cls.__mro__:
        found = owner.__dict__.get(name)
        if found is not None and not isinstance(found, types.FunctionType):
            done = _call_found(tx, obj, owner, name, found, args, kwargs)
            if done is not None:
                return done
    raise Unsupported("method", name=name, type=obj.python_type_name())


def _call_found(
    tx: Tracing, obj: VariableTracker, owner: type, name: str, found: Any, args: Args, kwargs: Kwargs
) -> VariableTracker | None:
    """Call the method `found` of the C class `owner` on `obj`."""
    if is_subclass_of_tensor(obj) and owner is not object:
        return call_method(tx, obj, name, args, kwargs)
    if handlers_for(found) or stand_in_for(found) is not None:
        return call_known(tx, BuiltinVariable(found), [obj, *args], kwargs)
    part = obj.part if isinstance(obj, UserDefinedObjectVariable) else obj
    if part is None or owner is object:
        return None
    if isinstance(obj, UserDefinedObjectVariable) and calls_overridden(obj, name):
        raise Unsupported("method", name=name, type=obj.python_type_name())
    if name == "__init__" and isinstance(obj, ExceptionVariable):
        init_in_c(tx, obj, args, kwargs)
        return NONE
    if name == "__init__":
        return init_part(tx, part, args, kwargs)
    if name == "__getitem__" and isinstance(part, ConstDictVariable) and part.get(tx, args[0]) is None:
        if isinstance(static_lookup(obj.python_type(), "__missing__")[0], types.FunctionType):
            return call_special(tx, obj, "__missing__", args, "")
    result = call_method(tx, part, name, args, kwargs)
    return obj if result is part else result


_NUMBER_METHODS = {
    each.method: each.function
    for table in (BINARY, COMPARISONS)
    for each in table.values()
    if hasattr(int, each.method)
}


def _call_super_method(tx: Tracing, function: SuperMethodVariable, args: Args, kwargs: Kwargs) -> VariableTracker:
    for owner in function.owner.__mro__:
        found = owner.__dict__.get(function.name)
        if found is not None:
            done = _call_found(tx, function.self_, owner, function.name, found, args, kwargs)
            if done is not None:
                return done
            break
    raise Unsupported("method", name=function.name, type=function.owner.__name__)
