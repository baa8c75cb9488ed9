"""Register NumPy in the tables of handlers: its functions, the methods and attributes of arrays, Python's operators,
and the conversions between arrays and tensors."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from tracer_core import operator_table
from tracer_core.errors import Unsupported
from tracer_core.graph.numpy_calls import DTYPES, numpy_name
from tracer_core.operator_table import WRITTEN
from tracer_core.runtime.arrays import turning
from tracer_core.sources import ById, ConvertedSource, Source
from tracer_core.variables.builders.builder import VariableBuilder
from tracer_core.variables.builders.callables import pin
from tracer_core.variables.builders.results import wrap_fx_proxy
from tracer_core.variables.containers.sequences import TupleVariable
from tracer_core.variables.core.base import VariableTracker, all_constant, constant_or
from tracer_core.variables.core.constant import NONE, ConstantVariable
from tracer_core.variables.core.registry import builds, getter, handles, method
from tracer_core.variables.core.tensors import TensorVariable, specialized, wrap_number
from tracer_core.variables.core.tracing import Tracing
from tracer_core.variables.numpy.arrays import (
    NumpyNdarrayVariable,
    NumpyScalarVariable,
    NumpyVariable,
    guard_order,
)
from tracer_core.variables.numpy.calls import changed, numpy_operation
from tracer_core.variables.numpy.layout import reversed_dims, shadow_of_fake
from tracer_core.variables.numpy.rules import (
    ATTRIBUTES,
    FUNCTIONS,
    KNOWN_ONLY,
    METHODS,
    OPERATORS,
    OPERATORS_IN_PLACE,
    ROUNDED,
)
from tracer_core.variables.objects.classes import BuiltinVariable
from tracer_core.variables.operations.in_graph import call_in_graph

_DISPATCHED = type(np.sum)


@builds(np.ufunc, _DISPATCHED)
def _numpy_function(build: VariableBuilder, value: Any, source: Source) -> VariableTracker:
    pin(build, value, source)
    return BuiltinVariable(value, source)


# --- functions ------------------------------------------------------------------------------------------------


def _function(name: str, function: Any) -> Callable[..., VariableTracker]:
    def handler(tx: Tracing, /, *args: Any, **kwargs: Any) -> VariableTracker:
        return numpy_operation(tx, "function", name, function, list(args), kwargs)

    return handler


for _name in (*FUNCTIONS, *ROUNDED):
    handles(getattr(np, _name))(_function(_name, getattr(np, _name)))


def _known(name: str, function: Any) -> Callable[..., VariableTracker]:
    def handler(tx: Tracing, /, *args: Any, **kwargs: Any) -> VariableTracker:
        if any(isinstance(each.realize(), NumpyVariable) for each in (*args, *kwargs.values())):
            raise Unsupported("numpy-function", name=numpy_name("function", name))
        return numpy_operation(tx, "values", name, function, list(args), kwargs)

    return handler


for _name in KNOWN_ONLY:
    handles(getattr(np, _name))(_known(_name, getattr(np, _name)))


def _scalar_class(cls: Any) -> Callable[..., VariableTracker]:
    def handler(tx: Tracing, value: VariableTracker = NONE) -> VariableTracker:
        if not all_constant([value.realize()]):
            raise Unsupported("numpy-function", name=numpy_name("function", cls.__name__))
        return numpy_operation(tx, "values", cls.__name__, cls, [] if value is NONE else [value], {})

    return handler


for _dtype in DTYPES:
    handles(_dtype.type)(_scalar_class(_dtype.type))


def _flipping(name: str, dims: tuple[int, ...]) -> None:
    @handles(getattr(np, name), NumpyNdarrayVariable)
    def handler(tx: Tracing, m: NumpyNdarrayVariable) -> VariableTracker:
        return _flipped(tx, name, m, dims)


_flipping("flipud", (0,))
_flipping("fliplr", (1,))


@handles(np.flip, NumpyNdarrayVariable)
def flip(tx: Tracing, m: NumpyNdarrayVariable, axis: VariableTracker = NONE) -> VariableTracker:
    if not all_constant([axis.realize()]):
        raise Unsupported("numpy-function", name="numpy.flip")
    axes = axis.realize().value()
    dims = tuple(range(m.shadow.ndim)) if axes is None else axes if isinstance(axes, tuple) else (axes,)
    return _flipped(tx, "flip", m, dims)


def _flipped(tx: Tracing, name: str, array: NumpyNdarrayVariable, dims: tuple[int, ...]) -> VariableTracker:
    """Return a view of `array` that runs backwards in these dimensions, as NumPy's functions in Python do."""
    ndim = array.shadow.ndim
    if not all(type(dim) is int and -ndim <= dim < ndim for dim in dims):
        raise Unsupported("numpy-function", name=numpy_name("function", name))
    index = turning(ndim, {dim % ndim for dim in dims})
    return numpy_operation(tx, "operator", "getitem", operator.getitem, [array, tx.constant(index)], {})


# --- methods and attributes -----------------------------------------------------------------------------------


def _method(name: str) -> Callable[..., VariableTracker]:
    def call(array: Any, *args: Any, **kwargs: Any) -> Any:
        return getattr(array, name)(*args, **kwargs)

    def handler(tx: Tracing, self: NumpyVariable, /, *args: Any, **kwargs: Any) -> VariableTracker:
        return numpy_operation(tx, "method", name, call, [self, *args], kwargs)

    return handler


for _name in METHODS:
    method(NumpyVariable, _name)(_method(_name))


@getter(NumpyNdarrayVariable, "shape")
def shape(tx: Tracing, self: NumpyNdarrayVariable) -> VariableTracker:
    return TupleVariable([wrap_number(tx, n) for n in self.tensor.fake.shape])


@getter(NumpyNdarrayVariable, "size")
def size(tx: Tracing, self: NumpyNdarrayVariable) -> VariableTracker:
    return wrap_number(tx, self.tensor.fake.numel())


def _attribute_of_shadow(name: str) -> Callable[..., VariableTracker]:
    def handler(tx: Tracing, self: NumpyVariable) -> VariableTracker:
        return tx.constant(getattr(self.shadow, name))

    return handler


for _name in ("dtype", "ndim", "itemsize"):
    getter(NumpyVariable, _name)(_attribute_of_shadow(_name))


def _attribute(name: str) -> Callable[..., VariableTracker]:
    def handler(tx: Tracing, self: NumpyVariable) -> VariableTracker:
        return numpy_operation(tx, "attribute", name, getattr, [self, ConstantVariable(name)], {})

    return handler


for _name in ATTRIBUTES:
    getter(NumpyVariable, _name)(_attribute(_name))


# --- operators ------------------------------------------------------------------------------------------------


def _operator(function: Any) -> Callable[..., VariableTracker]:
    def handler(tx: Tracing, *args: VariableTracker) -> VariableTracker:
        return numpy_operation(tx, "operator", function.__name__, function, list(args), {})

    return handler


for _applied in (*OPERATORS, operator.abs):
    handles(_applied, NumpyVariable)(_operator(_applied))
    handles(_applied, VariableTracker, NumpyVariable)(_operator(_applied))


def _in_place(function: Any) -> Callable[..., VariableTracker]:
    def handler(tx: Tracing, array: NumpyNdarrayVariable, other: VariableTracker) -> VariableTracker:
        return changed(tx, function.__name__, function, array, [other])

    return handler


handles(abs, NumpyVariable)(_operator(operator.abs))


for _applied in OPERATORS_IN_PLACE:
    handles(_applied, NumpyNdarrayVariable, VariableTracker)(_in_place(_applied))


@handles(operator.getitem, NumpyVariable)
def get_item(tx: Tracing, self: NumpyVariable, key: VariableTracker) -> VariableTracker:
    key = specialized(tx, key)
    if type(constant_or(key, None)) is int and self.shadow.ndim:
        _raise_where_not_there(tx, self, key.value())
    return numpy_operation(tx, "operator", "getitem", operator.getitem, [self, key], {})


def _raise_where_not_there(tx: Tracing, array: NumpyVariable, index: int) -> None:
    """Raise NumPy's error in the traced program if an array has no such row."""
    rows = array.tensor.fake.shape[0]
    if not -rows <= index < rows:
        message = f"index {index} is out of bounds for axis 0 with size {int(rows)}"
        tx.raise_(IndexError, message)


@handles(operator.setitem, NumpyNdarrayVariable)
def set_item(
    tx: Tracing, self: NumpyNdarrayVariable, key: VariableTracker, value: VariableTracker
) -> VariableTracker:
    changed(tx, "setitem", operator.setitem, self, [key, value])
    return NONE


def _writer(kind: str, name: str, function: Callable[..., Any]) -> Callable[..., VariableTracker]:
    def handler(tx: Tracing, array: NumpyNdarrayVariable, *args: VariableTracker) -> VariableTracker:
        changed(tx, name, function, array, list(args), kind)
        return NONE

    return handler


for _name in ("fill", "put"):
    method(NumpyNdarrayVariable, _name)(_writer("method", _name, getattr(np.ndarray, _name)))
for _name in ("copyto", "put", "fill_diagonal"):
    handles(getattr(np, _name), NumpyNdarrayVariable)(_writer("function", _name, getattr(np, _name)))


def _put_along(array: Any, indices: Any, axis: int, value: Any) -> None:
    np.put_along_axis(array, indices, value, axis)


@handles(np.put_along_axis, NumpyNdarrayVariable)
def put_along_axis(
    tx: Tracing, arr: NumpyNdarrayVariable, indices: VariableTracker, values: VariableTracker, axis: VariableTracker
) -> VariableTracker:
    if not isinstance(values.realize(), ConstantVariable) or constant_or(axis, None) is None:
        # (Which of several values wins depends on the order.)
        raise Unsupported("numpy-function", name="numpy.put_along_axis")
    changed(tx, "put_along_axis", _put_along, arr, [indices, axis, values], "along")
    return NONE


@method(NumpyNdarrayVariable, "sort")
def sort(tx: Tracing, self: NumpyNdarrayVariable, axis: VariableTracker = ConstantVariable(-1)) -> VariableTracker:
    ordered = numpy_operation(tx, "function", "sort", np.sort, [self, axis], {})
    return set_item(tx, self, ConstantVariable(...), ordered)


def _refused(name: str) -> Callable[..., VariableTracker]:
    def handler(tx: Tracing, *args: VariableTracker, **kwargs: VariableTracker) -> VariableTracker:
        raise Unsupported("numpy-function", name=name)

    return handler


for _refusing in (*(each.function for each in operator_table.IN_PLACE.values()), operator.delitem):
    if _refusing not in OPERATORS_IN_PLACE:
        handles(_refusing, NumpyNdarrayVariable)(_refused(WRITTEN[_refusing]))
for _name in ("lshift", "rshift", "contains"):
    _applied = getattr(operator, _name)
    handles(_applied, NumpyVariable)(_refused(WRITTEN[_applied]))
    handles(_applied, VariableTracker, NumpyVariable)(_refused(WRITTEN[_applied]))
for _builtin in (divmod, round, pow, str, repr, hash, format, sum, min, max, sorted, iter, complex, bytes):
    handles(_builtin, NumpyVariable)(_refused(f"{_builtin.__name__}()"))
method(NumpyVariable, "__iter__")(_refused("iter()"))


@handles(len, NumpyNdarrayVariable)
def length(tx: Tracing, self: NumpyNdarrayVariable) -> VariableTracker:
    if self.shadow.ndim == 0:
        raise Unsupported("numpy-function", name="len()")
    return wrap_number(tx, self.tensor.fake.shape[0])


# --- numbers --------------------------------------------------------------------------------------------------


def _number(cls: type, *of: type) -> Callable[..., VariableTracker]:
    def handler(tx: Tracing, scalar: NumpyVariable) -> VariableTracker:
        if scalar.source is None or not isinstance(scalar, NumpyScalarVariable) or not isinstance(scalar.shadow, of):
            raise Unsupported("numpy-data", what=scalar.describe(), name="value")
        source = ConvertedSource(scalar.source, ById(cls), cls.__name__)
        node, value = tx.output.root.unknown_number(source, cls)
        return wrap_fx_proxy(tx, node, value, source)

    return handler


@method(NumpyScalarVariable, "item")
def item(tx: Tracing, self: NumpyScalarVariable) -> VariableTracker:
    cls = float if isinstance(self.shadow, np.floating) else int
    return _number(cls, np.floating, np.integer)(tx, self)


handles(float, NumpyVariable)(_number(float, np.floating, np.integer))
handles(int, NumpyVariable)(_number(int, np.integer))


# --- between arrays and tensors -------------------------------------------------------------------------------


@method(TensorVariable, "numpy")
def to_numpy(tx: Tracing, self: TensorVariable) -> VariableTracker:
    fake = self.fake
    if fake.requires_grad or fake.dtype not in DTYPES.values() or fake.device.type != "cpu":
        raise Unsupported("tensor-data", name="numpy", what=self.describe())
    if fake.is_conj() or fake.is_neg():
        raise Unsupported("tensor-data", name="numpy", what=self.describe())
    if any(n == 0 and size != 1 for n, size in zip(fake.stride(), fake.shape, strict=True)):
        raise Unsupported("tensor-data", name="numpy", what=self.describe())
    same = call_in_graph(tx, "call_method", "view_as", [self, self], {})
    assert isinstance(same, TensorVariable)
    guard_order(tx, same.fake)
    return NumpyNdarrayVariable(same, shadow_of_fake(same.fake))


def _shared(name: str) -> Callable[..., VariableTracker | None]:
    def handler(tx: Tracing, array: NumpyVariable, **kwargs: VariableTracker) -> VariableTracker | None:
        shadow = array.shadow
        if not isinstance(array, NumpyNdarrayVariable) or not shadow.flags.writeable or reversed_dims(shadow):
            raise Unsupported("numpy-function", name=f"torch.{name}")
        owner = array.owner or array
        tx.trace.journal.save(owner)
        owner.seen_by_tensors = True
        return call_in_graph(tx, "call_function", torch.as_tensor, [array.tensor], kwargs)

    return handler


for _name in ("from_numpy", "as_tensor"):
    handles(getattr(torch, _name), NumpyVariable)(_shared(_name))


@handles(torch.tensor, NumpyVariable)
def copied(
    tx: Tracing,
    array: NumpyVariable,
    *,
    dtype: VariableTracker = NONE,
    device: VariableTracker = NONE,
    requires_grad: VariableTracker = NONE,
) -> VariableTracker:
    if (
        not isinstance(array, NumpyNdarrayVariable)
        or reversed_dims(array.shadow)
        or constant_or(requires_grad.realize(), True)
    ):
        raise Unsupported("numpy-function", name="torch.tensor")
    made = call_in_graph(tx, "call_method", "clone", [array.tensor], {})
    wanted = {"dtype": dtype.realize(), "device": device.realize()}
    wanted = {name: value for name, value in wanted.items() if constant_or(value, value) is not None}
    return call_in_graph(tx, "call_method", "to", [made], wanted) if wanted else made


def _with_scalar_of_the_graph(function: Any) -> Callable[..., VariableTracker | None]:
    """Compute an operator of a tensor with a NumPy scalar on its right, which torch treats as the Python number of
    its value: for a tensor with dimensions, a tensor without any is the same, if it does not turn integers into
    floats."""

    def handler(tx: Tracing, tensor: TensorVariable, scalar: NumpyScalarVariable) -> VariableTracker | None:
        dtypes = [fake.dtype for fake in (tensor.fake, scalar.tensor.fake)]
        alike = [dtype.is_floating_point for dtype in dtypes]
        known = all(dtype is not torch.bool and not dtype.is_complex for dtype in dtypes)
        if tensor.fake.dim() == 0 or not known or alike == [False, True]:
            raise Unsupported("numpy-function", name=WRITTEN[function])
        return call_in_graph(tx, "call_function", function, [tensor, scalar.tensor], {})

    return handler


def _with_scalar(function: Any) -> Callable[..., VariableTracker | None]:
    """Compute an operator of a tensor with a NumPy scalar on its right, which torch treats as the Python number of
    its value."""

    def handler(tx: Tracing, tensor: TensorVariable, scalar: ConstantVariable) -> VariableTracker | None:
        if not isinstance(scalar.value(), np.generic):
            return None
        number = ConstantVariable(scalar.value().item())
        return call_in_graph(tx, "call_function", function, [tensor, number], {})

    return handler


for _name in ("add", "sub", "mul", "truediv"):
    _found = getattr(operator, _name)
    handles(_found, TensorVariable, ConstantVariable)(_with_scalar(_found))
    handles(_found, TensorVariable, NumpyScalarVariable)(_with_scalar_of_the_graph(_found))
