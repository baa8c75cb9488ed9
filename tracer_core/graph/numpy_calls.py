"""NumPy in a graph: each call is a node whose function takes and returns tensors, through torch's own NumPy."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from tracer_core.graph.numpy_warnings import Check, checked
from tracer_core.operator_table import WRITTEN

DTYPES: dict[np.dtype[Any], torch.dtype] = {
    np.dtype(name): getattr(torch, name)
    for name in (
        *("bool", "uint8", "int8", "int16", "int32", "int64"),
        *("float16", "float32", "float64", "complex64", "complex128"),
    )
}
"""The dtypes that NumPy and torch have in common."""


def _making(name: str) -> Callable[..., Any]:
    def from_values(values: Any, shape: tuple[int, ...], dtype: torch.dtype) -> torch.Tensor:
        return torch.tensor(values, dtype=dtype, device="cpu").reshape(shape)

    return from_values


def _on_tensors(name: str) -> Callable[..., Any]:
    function: Callable[..., Any] = getattr(operator, name)

    def call(*args: Any) -> Any:
        return function(*args)

    return call


def _by_parts(name: str) -> Callable[..., Any]:
    """Return an operator on the real and imaginary parts: torch's own loses signs of zeros, and infinities."""
    function: Callable[..., Any] = getattr(operator, PARTS[name])

    def call(*args: Any) -> Any:
        dtype = torch.result_type(*args) if len(args) > 1 else args[0].dtype
        parts = [torch.view_as_real(torch.as_tensor(arg).to(dtype).resolve_conj()) for arg in args]
        result = torch.view_as_complex(function(*parts))
        return args[0] if PARTS[name].startswith("i") else result

    return call


def _stacking(name: str) -> Callable[..., Any]:
    def stacked(values: Any, dtype: torch.dtype) -> torch.Tensor:
        if isinstance(values, (list, tuple)):
            return torch.stack([stacked(value, dtype) for value in values])
        return torch.as_tensor(values, device="cpu").to(dtype)

    return stacked


def _along_an_axis(name: str) -> Callable[..., Any]:
    def put(array: torch.Tensor, indices: torch.Tensor, axis: int, value: Any) -> torch.Tensor:
        sizes = list(array.shape)
        sizes[axis] = indices.shape[axis]
        return array.scatter_(axis, indices.expand(sizes), value)

    return put


PARTS = {
    **{name: name for name in ("add", "sub", "neg", "iadd", "isub")},
    "subtract": "sub",
    "negative": "neg",
}
"""Operations that apply to complex numbers part by part, and the name of Python's operator for each."""

_BY_KIND = {
    "values": _making,
    "tensors": _on_tensors,
    "parts": _by_parts,
    "stack": _stacking,
    "along": _along_an_axis,
}


@functools.cache
def numpy_call(
    kind: str,
    name: str,
    check: Check | None = None,
    order: tuple[int, ...] | None = None,
    out: bool = False,
    backwards: tuple[int, ...] = (),
) -> Callable[..., Any]:
    """Return the function of a node.

    Args:
        kind: `function` of NumPy's namespace (`linalg.norm`), `method` of an array, `operator` of Python, `attribute`
            of an array (its name is the second argument), `tensors`: an operator of Python on tensors and numbers as
            they are, `parts`: one on complex numbers, `values`: a new array of flat values, a shape and a dtype,
            `stack`: one of nested lists of arrays and numbers, and a dtype, or `along`: the places of an array that
            others name along an axis are given one value.
        name: its name.
        check: finds in a result that NumPy would warn; such a function has the attribute `may_warn`.
        order: the dimensions of the result, a new array, in the order in which they lie in memory.
        out: the first argument is the array that the result is written into.
        backwards: the dimensions in which the array that is written into runs backwards; the graph has its memory.
    """
    function = _BY_KIND[kind](name) if kind in _BY_KIND else _through_numpy(_find(kind, name))
    if order is not None:
        function = _laid_out(function, order)
    if out:
        function = _written_into(function, backwards)
    if check is not None:
        function = checked(function, check)
    if backwards and not out:
        function = _changing_reversed(function, backwards)
    if check is not None:
        function.may_warn = True  # type: ignore[attr-defined]
    if kind == "values":
        function.of_constants = True  # type: ignore[attr-defined]
    called = "numpy_attr_wrapper" if kind == "attribute" else f"wrapped_{name.rpartition('.')[2].strip('_')}"
    function.__name__ = function.__qualname__ = called
    function.__module__ = __name__
    NAMES_OF_NUMPY[function] = numpy_name(kind, name)
    return function


NAMES_OF_NUMPY: dict[Any, str] = {}
"""The names by which people call what the functions of nodes compute."""


def numpy_name(kind: str, name: str) -> str:
    """Return the name by which people call an operation of NumPy's (see `numpy_call` for kind and name)."""
    if kind in ("method", "attribute"):
        return f"numpy.ndarray.{name}"
    written = WRITTEN.get(getattr(operator, name, None)) if kind in ("operator", "tensors", "parts") else None
    return written or f"numpy.{name}"


def _find(kind: str, name: str) -> Callable[..., Any]:
    if kind == "method":
        return _Method(name)
    if kind == "attribute":
        return getattr
    return operator.attrgetter(name)(_namespace() if kind == "function" else operator)  # type: ignore[no-any-return]


class _Method:
    """Call a method by name on its first argument."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __call__(self, array: Any, *args: Any, **kwargs: Any) -> Any:
        return getattr(array, self.name)(*args, **kwargs)


def _namespace() -> Any:
    import torch._numpy

    return torch._numpy


def _through_numpy(function: Callable[..., Any]) -> Callable[..., Any]:
    def call(*args: Any, **kwargs: Any) -> Any:
        return _as_tensors(function(*(_as_arrays(arg) for arg in args), **kwargs))

    return call


def _laid_out(function: Callable[..., Any], order: tuple[int, ...]) -> Callable[..., Any]:
    back = tuple(order.index(dim) for dim in range(len(order)))

    def call(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs).permute(order).contiguous().permute(back)

    return call


def _written_into(function: Callable[..., Any], dims: tuple[int, ...]) -> Callable[..., Any]:
    def call(out: torch.Tensor, *args: Any, **kwargs: Any) -> torch.Tensor:
        return out.copy_(_flipped(function(*args, **kwargs), dims))

    return call


def _changing_reversed(function: Callable[..., Any], dims: tuple[int, ...]) -> Callable[..., Any]:
    """Return `function`, which changes its first argument, for the memory of an array that runs backwards: it changes
    a copy that runs forwards."""

    def call(memory: torch.Tensor, *args: Any, **kwargs: Any) -> torch.Tensor:
        values = memory.flip(dims)
        function(values, *args, **kwargs)
        return memory.copy_(values.flip(dims))

    return call


def _flipped(tensor: torch.Tensor, dims: tuple[int, ...]) -> torch.Tensor:
    return tensor.flip(dims) if dims else tensor


def _as_arrays(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return _namespace().ndarray(value)
    return type(value)(_as_arrays(item) for item in value) if type(value) in (list, tuple) else value


def _as_tensors(value: Any) -> Any:
    if isinstance(value, _namespace().ndarray):
        return value.tensor.resolve_conj().resolve_neg()
    return type(value)(_as_tensors(item) for item in value) if type(value) in (list, tuple) else value
