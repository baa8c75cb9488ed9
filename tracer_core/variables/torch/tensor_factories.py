"""`torch.tensor` of numbers that are unknown at trace time: tensors of one element, sizes, numbers that vary.

torch itself is called with stand-ins, constants of the same types. The graph has torch's own way to write
it in terms of tensors, which is the same where each number is converted once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from tracer_core.errors import Unsupported
from tracer_core.variables.containers.sequences import ListVariable, SequenceVariable, SizeVariable
from tracer_core.variables.core.base import Kwargs, VariableTracker, all_constant, constant_or
from tracer_core.variables.core.constant import ConstantVariable
from tracer_core.variables.core.registry import handles, method
from tracer_core.variables.core.tensors import InGraphVariable, SymNodeVariable, TensorVariable
from tracer_core.variables.core.tracing import Tracing
from tracer_core.variables.operations.in_graph import call_in_graph

_EXACT_IN_DOUBLE = 2**53
_STAND_INS: dict[type, Any] = {int: 1, float: 1.5}


def _maker(function: Callable[..., torch.Tensor]) -> Any:
    """Return a handler for calls of `function(data, dtype=..., ...)`."""

    def handler(tx: Tracing, data: VariableTracker, /, **kwargs: VariableTracker) -> VariableTracker | None:
        named = {key: value.realize() for key, value in kwargs.items()}
        named = {key: value for key, value in named.items() if constant_or(value) is not None}
        if not all_constant(list(named.values())):
            return None
        values = {key: value.value() for key, value in named.items()}
        return _of_numbers(tx, data, lambda numbers: function(numbers, **values), named)

    return handler


for _function in (torch.tensor, torch.as_tensor):
    for _kind in (SymNodeVariable, SequenceVariable):
        handles(_function, _kind)(_maker(_function))


@method(TensorVariable, "new_tensor")
def new_tensor(
    tx: Tracing, self: TensorVariable, data: VariableTracker, /, **kwargs: VariableTracker
) -> VariableTracker | None:
    """Create a tensor with this one's dtype and on its device, unless arguments say otherwise."""
    own = {"device": ConstantVariable(self.fake.device), "dtype": ConstantVariable(self.fake.dtype)}
    named = {**own, **{key: value for key, value in kwargs.items() if constant_or(value.realize()) is not None}}
    data = data.realize()
    if not isinstance(data, (SequenceVariable, SymNodeVariable)) or not _numbers(data):
        return None
    made = _maker(torch.tensor)(tx, data, **named)
    return made if made is not None else call_in_graph(tx, "call_function", torch.tensor, [data], named)


@method(TensorVariable, "new")
def new(
    tx: Tracing, self: TensorVariable, *args: VariableTracker, **kwargs: VariableTracker
) -> VariableTracker | None:
    """Create an empty tensor of these sizes. (A graph knows only plain tuples, which `new` treats as contents.)"""
    args = tuple(arg.realize() for arg in args)
    if len(args) == 1 and isinstance(args[0], SizeVariable):
        sizes: VariableTracker = args[0]
    elif args and all(type(constant_or(arg, None)) is int for arg in args):
        sizes = ListVariable(list(args))
    else:
        return None
    return call_in_graph(tx, "call_method", "new_empty", [self, sizes], kwargs)


def _legacy(cls: Any) -> Any:
    """Return a handler for `torch.LongTensor([1, 2])` and the like: of a sequence of numbers, or of sizes."""

    def handler(tx: Tracing, *args: VariableTracker) -> VariableTracker | None:
        if tx.output.settings.start and tx.output.settings.changed("default_dtype"):
            return None
        args = tuple(arg.realize() for arg in args)
        if len(args) == 1 and isinstance(args[0], SizeVariable):
            if not args[0].items:
                raise Unsupported("graph-argument", what=cls.__name__, argument="torch.Size([])")
            args = tuple(args[0].items)  # an empty tensor of that size; the graph knows only plain tuples
        if len(args) == 1 and isinstance(args[0], SequenceVariable):
            made = _of_numbers(tx, args[0], cls, {})
            if made is not None:
                return made
        numbers = [number for arg in args for number in _numbers(arg) or [arg]]
        if not all(isinstance(constant_or(number, None), (bool, int, float)) for number in numbers):
            return None
        return call_in_graph(tx, "call_function", cls, list(args), {})

    return handler


_LEGACY: tuple[Any, ...] = (
    torch.Tensor, torch.BoolTensor, torch.ByteTensor, torch.CharTensor, torch.ShortTensor, torch.IntTensor,
    torch.LongTensor, torch.HalfTensor, torch.FloatTensor, torch.DoubleTensor,
)  # fmt: skip
for _cls in _LEGACY:
    handles(_cls)(_legacy(_cls))


def _of_numbers(
    tx: Tracing, data: VariableTracker, factory: Callable[[Any], torch.Tensor], named: Kwargs
) -> VariableTracker | None:
    """Return a new tensor of nested lists of numbers, some of them in the graph; None for other arguments.

    Args:
        factory: the function to call, on constants.
        named: keyword arguments for the call in the graph.
    """
    numbers = _numbers(data)
    if numbers is None or not any(isinstance(number, InGraphVariable) for number in numbers):
        return None
    expected = _expected(factory, _filled(data, _stand_in))
    if expected.device.type != "cpu":
        return None
    if any(isinstance(number, TensorVariable) for number in numbers) or factory in _LEGACY:
        named = {**named, "dtype": ConstantVariable(expected.dtype)}
    parts = _filled(data, lambda number: _converted(tx, number, expected.dtype))
    made = call_in_graph(tx, "call_function", torch._refs.tensor, [_as_tracker(parts)], named)
    assert isinstance(made, TensorVariable)
    if made.fake.dtype is not expected.dtype or tuple(made.fake.shape) != tuple(expected.shape):
        raise Unsupported("data-dependent-op", what="tensor", error="its dtype depends on all of its items")
    return made


def _numbers(data: VariableTracker) -> list[VariableTracker] | None:
    """Return all numbers in nested lists and tuples; None where there is anything else."""
    data = data.realize()
    if isinstance(data, SequenceVariable) and data.python_type() in (list, tuple, torch.Size):
        found = [_numbers(item) for item in data.items]
        if any(each is None for each in found):
            return None
        return [number for each in found for number in each or ()]
    if isinstance(data, InGraphVariable):
        return [data]
    value = constant_or(data, None)
    return [data] if type(value) in (bool, int, float, complex) else None


def _filled(data: VariableTracker, fill: Any) -> Any:
    """Return `data` as lists, with `fill` applied to each number."""
    data = data.realize()
    return [_filled(item, fill) for item in data.items] if isinstance(data, SequenceVariable) else fill(data)


def _as_tracker(parts: Any) -> VariableTracker:
    return ListVariable([_as_tracker(part) for part in parts]) if isinstance(parts, list) else parts


def _stand_in(number: VariableTracker) -> Any:
    if isinstance(number, TensorVariable):
        fake = number.fake
        if fake.requires_grad or any(n != 1 for n in fake.shape) or fake.layout is not torch.strided:
            raise Unsupported("data-dependent-op", what="tensor", error="it reads a number from a tensor")
        return torch.ones(fake.shape, dtype=fake.dtype)
    return number.value() if isinstance(number, ConstantVariable) else _STAND_INS.get(number.python_type(), True)


def _expected(factory: Callable[[Any], torch.Tensor], data: Any) -> torch.Tensor:
    """Return torch's result for constants; if it raises, break, so that plain Python raises the same."""
    try:
        return factory(data)
    except Exception as error:  # noqa: BLE001
        text = f"{type(error).__name__}: {next(iter(str(error).splitlines()), '')}"
        raise Unsupported("operation-fails", what="tensor", error=text) from None


def _converted(tx: Tracing, number: VariableTracker, to: torch.dtype) -> VariableTracker:
    """Return a part of the new tensor, such that the graph converts it as torch does: integers become floats by way
    of double precision, and values out of range are refused."""
    fractional = to.is_floating_point or to.is_complex
    if isinstance(number, TensorVariable):
        given = number.fake.dtype
        if not torch.can_cast(given, to) or (not fractional and to is not torch.bool and _wider(given, to)):
            raise Unsupported("data-dependent-op", what="tensor", error=f"{given} may not fit into {to}")
        if fractional and given is torch.int64 and to is not torch.float64:
            return call_in_graph(tx, "call_method", "double", [number], {})
        return number
    if isinstance(number, SymNodeVariable):
        return _converted_symbol(tx, number, to, fractional)
    value = number.value()
    return ConstantVariable(float(value)) if fractional and type(value) is int else number


def _wider(given: torch.dtype, to: torch.dtype) -> bool:
    return given is not torch.bool and torch.promote_types(given, to) is not to


def _converted_symbol(tx: Tracing, number: SymNodeVariable, to: torch.dtype, fractional: bool) -> VariableTracker:
    if number.python_type() is int and to not in (torch.int64, torch.float64, torch.bool):
        least, most = (-_EXACT_IN_DOUBLE, _EXACT_IN_DOUBLE) if fractional else _bounds(to)
        if not _surely_within(tx, number, least, most):
            raise Unsupported("data-dependent-op", what="tensor", error=f"a number may not fit into {to}")
    return number


def _bounds(to: torch.dtype) -> tuple[int, int]:
    info = torch.iinfo(to)
    return info.min, info.max


def _surely_within(tx: Tracing, number: SymNodeVariable, least: int, most: int) -> bool:
    """Return whether a symbolic int lies in these bounds, which is guarded."""
    from torch.fx.experimental.symbolic_shapes import GuardOnDataDependentSymNode

    try:
        return bool(number.fake >= least) and bool(number.fake <= most)
    except GuardOnDataDependentSymNode:
        return False
