"""Functions, methods and operators of NumPy on arrays in the graph."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from tracer_core.errors import Unsupported
from tracer_core.graph.numpy_calls import DTYPES, PARTS, numpy_call, numpy_name
from tracer_core.graph.numpy_warnings import gathering
from tracer_core.variables.containers.sequences import ListVariable, SequenceVariable, SliceVariable, TupleVariable
from tracer_core.variables.core.base import Args, Kwargs, VariableTracker
from tracer_core.variables.core.constant import ConstantVariable
from tracer_core.variables.core.tensors import SymNodeVariable, TensorVariable, specialized
from tracer_core.variables.core.tracing import Tracing
from tracer_core.variables.numpy.arrays import (
    NumpyNdarrayVariable,
    NumpyVariable,
    in_graph,
    on_shadows,
    order_of,
    owner_of,
    values_of,
)
from tracer_core.variables.numpy.layout import forwards, has_negative_step, reversed_dims
from tracer_core.variables.numpy.rules import OPERATORS_IN_PLACE
from tracer_core.variables.numpy.rules import check as check_values
from tracer_core.variables.numpy.warnings import check_for, guard_error_handling
from tracer_core.variables.objects.classes import ClassVariable
from tracer_core.variables.operations.in_graph import call_in_graph

_MAX_VALUES = 4096


def numpy_operation(
    tx: Tracing, kind: str, name: str, function: Callable[..., Any], args: Args, kwargs: Kwargs
) -> VariableTracker:
    """Return `function(*args, **kwargs)` as a node (see `numpy_call` for kind and name), or now if all is known."""
    try:
        return _operation(tx, kind, name, function, args, kwargs)
    except Unsupported as error:
        raise _named(error, kind, name) from error.__cause__


def _named(error: Unsupported, kind: str, name: str) -> Unsupported:
    """Return the error with the operation's name as people know it."""
    known = numpy_name(kind, name)
    details = {key: known if each == name else each for key, each in error.details.items()}
    return error if details == error.details else Unsupported(error.reason_id, **details)


def _operation(
    tx: Tracing, kind: str, name: str, function: Callable[..., Any], args: Args, kwargs: Kwargs
) -> VariableTracker:
    if (
        kind == "operator"
        and name in _OF_ANY_NUMBER
        and any(isinstance(arg.realize(), SymNodeVariable) for arg in args)
    ):
        found = _with_a_number(tx, name, function, [arg.realize() for arg in args])
        if found is not None:
            return found
    args = [_ready(tx, name, arg) for arg in args]
    kwargs = {key: _ready(tx, name, value) for key, value in kwargs.items()}
    if isinstance(function, np.ufunc) and len(args) == function.nin + 1 and "out" not in kwargs:
        kwargs["out"] = args.pop()
    if isinstance(kwargs.get("out"), NumpyNdarrayVariable):
        return _into(tx, kind, name, function, args, kwargs)
    given = [found for arg in (*args, *kwargs.values()) for found in _inside(arg)]
    shadows = [_shadow(arg) for arg in args]
    named = {key: _shadow(value) for key, value in kwargs.items()}
    if given and name in ("pow", "power") and _is_float(shadows[0]) and type(shadows[1]) is int and shadows[1] == 2:
        return numpy_operation(tx, "operator", "mul", operator.mul, [args[0], args[0]], {})
    if given:
        check_values(name, shadows, named, tx.output.frame.config.is_on("numpy_rounding"))
    watched = guard_error_handling(tx)
    shadow = on_shadows(name, function, shadows, named, real=not given)
    if not given:
        return known_result(tx, name, shadow)
    check_warning = check_for(name, shadows, named, shadow)
    if _runs_backwards(name, shadows, given, shadow):
        return _view_in_memory(tx, kind, name, args, kwargs, shadow)
    order = order_of(shadow, given)
    kind = _by_parts(kind, name, shadow, kwargs)
    if name in ("array", "asarray") and isinstance(args[0], SequenceVariable):
        kind, args, kwargs = "stack", [args[0], ConstantVariable(DTYPES.get(shadow.dtype))], {}
    target = numpy_call(kind, name, check_warning if watched else None, order)
    args = _as_divided(tx, name, args, shadows)
    return in_graph(
        tx,
        name,
        target,
        [_graph_form(tx, arg) for arg in args],
        {key: _graph_form(tx, value) for key, value in kwargs.items()},
        shadow,
        given,
        numpy_call(kind, name, None, order),
    )


def _runs_backwards(name: str, shadows: list[Any], given: list[NumpyVariable], shadow: Any) -> bool:
    """Return whether the result is a view of an array and one of the two has negative strides."""
    view = shadow[0] if isinstance(shadow, list) and shadow else shadow
    arrays = [each.shadow for each in given if isinstance(each, NumpyNdarrayVariable)]
    if not isinstance(view, np.ndarray) or any(view is array for array in arrays):
        return False
    seen = [array for array in arrays if owner_of(array) == owner_of(view)]
    return any(map(reversed_dims, [view, *seen] if seen else [])) or (
        name == "getitem" and has_negative_step(shadows[1])
    )


def _view_in_memory(tx: Tracing, kind: str, name: str, args: Args, kwargs: Kwargs, shadow: Any) -> VariableTracker:
    """Return a view of an array, one of the two with negative strides: the same view of its memory, which the graph
    has."""
    array, rest = args[0], args[1:]
    if not isinstance(array, NumpyNdarrayVariable) or not array.shadow.size or getattr(shadow, "size", 1) == 0:
        raise Unsupported("numpy-differs", name=name, what="a view")
    if name == "getitem":
        index = forwards(_shadow(rest[0]), array.tensor.fake.shape, reversed_dims(array.shadow))
        rest = [tx.constant(index)]
    parts = [array.tensor, *(_graph_form(tx, arg) for arg in rest)]
    named = {key: _graph_form(tx, value) for key, value in kwargs.items()}
    return in_graph(tx, name, numpy_call(kind, name), parts, named, shadow, [array])


def _by_parts(kind: str, name: str, shadow: Any, kwargs: Kwargs) -> str:
    """Return the kind of a node's function: complex numbers are added by parts."""
    if name not in PARTS or np.asarray(shadow).dtype.kind != "c":
        return kind
    if kwargs:
        raise Unsupported("numpy-function", name=name)
    return "parts"


_TRUE_DIVISIONS = ("truediv", "divide", "true_divide")


def _as_divided(tx: Tracing, name: str, args: Args, shadows: list[Any]) -> list[VariableTracker]:
    """Return the arguments; for a division of whole numbers, converted to double precision, in which it is done."""
    if name not in _TRUE_DIVISIONS or any(_is_float(value) for value in shadows):
        return list(args)
    return [as_double(tx, arg) for arg in args]


def _is_float(value: Any) -> bool:
    return np.asarray(value).dtype.kind in "fc"


_OF_ANY_NUMBER = ("add", "sub", "mul", "truediv")
_STAND_INS: dict[type, Any] = {int: 3, float: 1.5}


def _with_a_number(tx: Tracing, name: str, function: Callable[..., Any], args: Args) -> VariableTracker | None:
    """Compute the operator on an array, or scalar of floats, and a number that varies or is drawn: on any number of
    its type NumPy's result has the same type. None if that depends on the number."""
    given = [arg for arg in args if isinstance(arg, NumpyVariable)]
    numbers = [arg for arg in args if isinstance(arg, SymNodeVariable) and arg.python_type() in _STAND_INS]
    if len(given) != 1 or len(numbers) != 1:
        return None
    array, number = given[0], numbers[0]
    if array.shadow.dtype == np.float16:
        return None
    of_floats = array.shadow.dtype.kind == "f"
    if not of_floats and not (isinstance(array, NumpyNdarrayVariable) and array.shadow.dtype == np.int64):
        return None
    shadows = [arg.shadow if arg is array else _STAND_INS[number.python_type()] for arg in args]
    watched = guard_error_handling(tx)
    shadow = on_shadows(name, function, shadows, {})
    check = check_for(name, shadows, {}, shadow)
    tensor = values_of(tx, array) if of_floats or shadow.dtype.kind != "f" else as_double(tx, array).tensor
    target = numpy_call("tensors", name, check if watched else None)
    run = numpy_call("tensors", name)
    return in_graph(tx, name, target, [tensor if arg is array else arg for arg in args], {}, shadow, given, run)


def as_double(tx: Tracing, tracker: VariableTracker) -> Any:
    """Return an array or scalar in double precision (a new one); numbers unchanged."""
    if not isinstance(tracker, NumpyVariable):
        return tracker
    tensor = call_in_graph(tx, "call_method", "to", [values_of(tx, tracker), ConstantVariable(torch.float64)], {})
    assert isinstance(tensor, TensorVariable)
    return type(tracker)(tensor, tracker.shadow.astype(np.float64))


def known_result(tx: Tracing, name: str, result: Any) -> VariableTracker:
    """Return NumPy's result for constants: a constant, or a new array created in the graph from its values."""
    if not isinstance(result, np.ndarray):
        return tx.constant(result)
    if result.dtype not in DTYPES or result.size > _MAX_VALUES or not np.isfinite(result).all():
        raise Unsupported("numpy-function", name=name)
    if not result.flags.c_contiguous:
        raise Unsupported("numpy-differs", name=name, what="another order in memory")
    parts: Args = [
        ListVariable([ConstantVariable(value) for value in result.ravel().tolist()]),
        TupleVariable([ConstantVariable(n) for n in result.shape]),
        ConstantVariable(DTYPES[result.dtype]),
    ]
    made = in_graph(tx, name, numpy_call("values", name), parts, {}, result.copy(), [])
    assert isinstance(made, NumpyNdarrayVariable)
    made.known = result
    return made


# --- arguments ------------------------------------------------------------------------------------------------


def _ready(tx: Tracing, name: str, tracker: VariableTracker) -> VariableTracker:
    """Return an argument with its lazy parts built, and numbers that vary specialized.

    Raises:
        Unsupported: NumPy would read data, or an unknown object.
    """
    tracker = tracker.realize()
    if isinstance(tracker, SliceVariable):
        return SliceVariable([_ready(tx, name, item) for item in tracker.items])
    if isinstance(tracker, SequenceVariable) and tracker.python_type() in (list, tuple, torch.Size):
        cls = ListVariable if tracker.python_type() is list else TupleVariable
        return cls([_ready(tx, name, item) for item in tracker.items])
    if isinstance(tracker, SymNodeVariable):
        return specialized(tx, tracker)
    if isinstance(tracker, (NumpyVariable, ConstantVariable)):
        return tracker
    if isinstance(tracker, ClassVariable) and isinstance(tracker.known, type) and _is_dtype(tracker.known):
        return tracker
    raise Unsupported("numpy-function", name=name)


def _is_dtype(cls: type) -> bool:
    return issubclass(cls, (np.generic, bool, int, float))


def _inside(tracker: VariableTracker) -> list[NumpyVariable]:
    if isinstance(tracker, NumpyVariable):
        return [tracker]
    return [each for item in tracker.items for each in _inside(item)] if isinstance(tracker, SequenceVariable) else []


def _shadow(tracker: VariableTracker) -> Any:
    if isinstance(tracker, NumpyVariable):
        return tracker.shadow
    if isinstance(tracker, SequenceVariable):
        return tracker.make([_shadow(item) for item in tracker.items])
    return tracker.value()


def _graph_form(tx: Tracing, tracker: VariableTracker) -> VariableTracker:
    if isinstance(tracker, NumpyVariable):
        return values_of(tx, tracker)
    if isinstance(tracker, SequenceVariable):
        return type(tracker)([_graph_form(tx, item) for item in tracker.items])
    value = tracker.value()
    if isinstance(value, (type, np.dtype)):
        return ConstantVariable(np.dtype(value).name)
    if isinstance(value, np.generic):
        made = known_result(tx, type(value).__name__, np.array(value))
        assert isinstance(made, NumpyNdarrayVariable)
        return made.tensor
    return tracker


# --- changes in place -----------------------------------------------------------------------------------------


def changed(
    tx: Tracing,
    name: str,
    function: Callable[..., Any],
    array: NumpyNdarrayVariable,
    rest: Args,
    kind: str = "operator",
) -> NumpyNdarrayVariable:
    """Add a node that changes `array` in place (see `numpy_call` for kind and name)."""
    try:
        return _changed(tx, name, function, array, rest, kind)
    except Unsupported as error:
        raise _named(error, kind, name) from error.__cause__


def _changed(
    tx: Tracing, name: str, function: Callable[..., Any], array: NumpyNdarrayVariable, rest: Args, kind: str
) -> NumpyNdarrayVariable:
    args = [array, *(_ready(tx, name, arg) for arg in rest)]
    shadows = [_shadow(arg) for arg in args]
    if name == "setitem" and _is_there_already(*shadows):
        return array
    check_values(name, shadows, {}, rounding=False)
    _check_cast(name, array, shadows)
    watched = guard_error_handling(tx)
    on_shadows(name, function, shadows, {})
    check_warning = check_for(name, shadows, {}, array.shadow)
    kind = _by_parts(kind, name, array.shadow, {})
    backwards = reversed_dims(array.shadow)
    target = numpy_call(kind, name, check_warning if watched else None, backwards=backwards)
    run = numpy_call(kind, name, backwards=backwards)
    call_in_graph(tx, "call_function", target, [array.tensor, *_apart(tx, name, array, args[1:])], {}, run)
    return array


_NARROW = (np.float16, np.complex64, np.complex128)
"""Dtypes into which torch rounds values of another dtype twice, or adds them otherwise."""


def _check_cast(name: str, array: NumpyNdarrayVariable, shadows: list[Any]) -> None:
    """Break for floats written into integers: NumPy rounds them, or lets them overflow, by rules of its own."""
    for value in shadows[1:]:
        kind, other = array.shadow.dtype.kind, value
        narrow = array.shadow.dtype in _NARROW and hasattr(other, "dtype") and other.dtype != array.shadow.dtype
        if narrow or (kind not in "fc" and np.asarray(other).dtype.kind in "fc"):
            raise Unsupported("numpy-differs", name=name, what=f"dtype {array.shadow.dtype}")


def _is_there_already(array: Any, index: Any, value: Any) -> bool:
    """Return whether `value` is the very view that it is assigned to, as in `array[index] += 1`."""
    if not isinstance(value, np.ndarray) or not value.flags.writeable or not np.may_share_memory(array, value):
        return False
    place = on_shadows("setitem", operator.getitem, [array, index], {})
    interfaces = [each.__array_interface__ for each in (place, value)]
    return owner_of(place) == owner_of(value) and interfaces[0] == interfaces[1]


def _apart(tx: Tracing, name: str, array: NumpyNdarrayVariable, args: Args) -> list[VariableTracker]:
    """Return the arguments as the graph takes them, copied if they may share memory with the array that they are
    written into: NumPy gives the result for separate arrays."""
    parts = []
    for arg in args:
        part, shadow = _graph_form(tx, arg), _shadow(arg)
        if isinstance(shadow, np.ndarray) and np.may_share_memory(shadow, array.shadow):
            if name not in ("setitem", "copyto", *(each.__name__ for each in OPERATORS_IN_PLACE)):
                raise Unsupported("numpy-differs", name=name, what="another result for overlapping arrays")
            if not reversed_dims(shadow):
                part = call_in_graph(tx, "call_method", "clone", [part], {})
        parts.append(part)
    return parts


def _into(
    tx: Tracing, kind: str, name: str, function: Callable[..., Any], args: Args, kwargs: Kwargs
) -> VariableTracker:
    """Add a node that writes a call's result into the array `out` among its keyword arguments."""
    out = kwargs.pop("out")
    assert isinstance(out, NumpyNdarrayVariable)
    shadows = [_shadow(arg) for arg in args]
    named = {key: _shadow(value) for key, value in kwargs.items()}
    check_values(name, shadows, named, tx.output.frame.config.is_on("numpy_rounding"))
    watched = guard_error_handling(tx)
    given = on_shadows(name, function, shadows, {**named, "out": out.shadow})
    result = on_shadows(name, function, shadows, named)
    apart = isinstance(function, np.ufunc) or not any(
        np.may_share_memory(value, out.shadow) for value in shadows if isinstance(value, np.ndarray)
    )
    if given is not out.shadow or not apart or np.asarray(result).dtype != out.shadow.dtype:
        raise Unsupported("numpy-differs", name=name, what="another array")
    args = _as_divided(tx, name, args, shadows)
    # (Memory that was read may have been overwritten when the result is read.)
    check = gathering if check_for(name, shadows, named, result) is not None else None
    kind = _by_parts(kind, name, result, kwargs)
    backwards = reversed_dims(out.shadow)
    target = numpy_call(kind, name, check if watched else None, None, out=True, backwards=backwards)
    parts = [out.tensor, *(_graph_form(tx, arg) for arg in args)]
    options = {key: _graph_form(tx, value) for key, value in kwargs.items()}
    run = numpy_call(kind, name, None, None, out=True, backwards=backwards)
    call_in_graph(tx, "call_function", target, parts, options, run)
    return out
