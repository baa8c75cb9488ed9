"""NumPy in a graph: each call is a node whose function takes and gives tensors, through torch's own NumPy."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Collection
from typing import Any

import numpy as np
import torch

from tracer_core.graph.numpy_warnings import Check, checked

DTYPES: dict[np.dtype[Any], torch.dtype] = {
    np.dtype(name): getattr(torch, name)
    for name in (
        *("bool", "uint8", "int8", "int16", "int32", "int64"),
        *("float16", "float32", "float64", "complex64", "complex128"),
    )
}
"""The dtypes that both have."""


def tensor_of(array: Any) -> torch.Tensor:
    """The memory of `array` as a tensor, also where the array may not be written to (nor is its tensor, then: what
    writes to it is refused on its shadow). Not a copy: others may write to that memory through tensors and arrays of
    their own, before the graph reads it.

    Raises:
        TypeError, ValueError: torch has no tensors like it.
    """
    return torch.from_numpy(array if array.flags.writeable else np.asarray(_AsWriteable(array)))


@functools.cache
def tensor_of_reversed(dims: tuple[int, ...]) -> Callable[[Any], torch.Tensor]:
    """`tensor_of` for arrays that run backwards in these dimensions and no others: their memory, forwards."""
    if not dims:
        return tensor_of

    def tensor_of_memory(array: Any) -> torch.Tensor:
        if any((step < 0) is not (dim in dims) for dim, step in enumerate(array.strides)):
            raise ValueError("other strides are negative")
        return tensor_of(turned(array, dims))

    return tensor_of_memory


def turned(array: Any, dims: Collection[int]) -> Any:
    """A view of `array` in which these dimensions run the other way."""
    return array[turning(array.ndim, dims)]


def turning(ndim: int, dims: Collection[int]) -> tuple[slice, ...]:
    """The subscript by which these of the dimensions run the other way."""
    return tuple(slice(None, None, -1 if dim in dims else 1) for dim in range(ndim))


class _AsWriteable:
    """An array's memory as one that may be written to: of any other, torch warns."""

    def __init__(self, array: Any) -> None:
        start, _ = array.__array_interface__["data"]
        self.array = array
        self.__array_interface__ = {**array.__array_interface__, "data": (start, False), "strides": array.strides}


def array_of(tensor: torch.Tensor) -> Any:
    """The memory of `tensor` as an array."""
    return tensor.numpy()


def owned_array_of(tensor: torch.Tensor) -> Any:
    """An array with the values and the layout of `tensor` that owns its memory, as those that NumPy creates do: it
    has no base, and can be resized."""
    return tensor.numpy().copy(order="K")


def based_array_of(tensor: torch.Tensor) -> Any:
    """The same as a view of an array that nobody else has, as NumPy gives where it reshapes a copy."""
    return owned_array_of(tensor)[...]


def known_array(values: Any, dtype: str, shape: tuple[int, ...]) -> Any:
    """A new array of these values."""
    return np.array(values, dtype).reshape(shape).copy()


def view_of(
    owner: Any,
    memory: torch.Tensor,
    tensor: torch.Tensor,
    backwards: Collection[int] = (),
    ones: Collection[int] = (),
) -> Any:
    """A view of the array `owner`, in which its items lie as those of `tensor` lie in `memory`.

    Args:
        memory: that of `owner`, from the item that comes first there.
        backwards: the dimensions in which the view runs backwards.
        ones: the dimensions of one item that have the stride 0.
    """
    view, root = tensor.numpy(), owner
    while isinstance(root.base, np.ndarray):
        root = root.base
    flat = root.transpose(sorted(range(root.ndim), key=lambda dim: -root.strides[dim]))
    if flat.flags.c_contiguous:  # else it is memory of others, which `owner` and `tensor` share
        start = start_of(owner) - start_of(root) + tensor.data_ptr() - memory.data_ptr() if view.size else 0
        strides = [0 if dim in ones else step for dim, step in enumerate(view.strides)]
        view = np.ndarray(view.shape, view.dtype, flat, start, strides)
    return turned(view, backwards) if backwards else view


def start_of(array: Any) -> int:
    """The address of the item that comes first in memory."""
    back = sum((n - 1) * step for n, step in zip(array.shape, array.strides, strict=True) if step < 0)
    return int(array.__array_interface__["data"][0]) + (back if array.size else 0)


def locked(array: Any) -> Any:
    """`array`, which may not be written to any more."""
    array.flags.writeable = False
    return array


def scalar_of(tensor: torch.Tensor) -> Any:
    """The one value of `tensor` as a NumPy scalar."""
    return tensor.numpy()[()]


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
    """An operator on the real and imaginary parts: torch's own loses signs of zeros, and infinities."""
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
"""What is done to complex numbers part by part, and how Python's operator for it is called."""

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
    """The function of a node.

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
    return function


def _find(kind: str, name: str) -> Callable[..., Any]:
    if kind == "method":
        return _Method(name)
    if kind == "attribute":
        return getattr
    return operator.attrgetter(name)(_namespace() if kind == "function" else operator)  # type: ignore[no-any-return]


class _Method:
    """Calls a method by name on its first argument."""

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
    """`function`, which changes its first argument, for the memory of an array that runs backwards: it changes a copy
    that runs forwards."""

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
