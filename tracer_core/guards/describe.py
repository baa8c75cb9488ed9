"""Describe values in guards and their failures in short texts."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from enum import Enum
from reprlib import Repr
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType
from typing import Any

import torch

from tracer_core.guards.constants import is_constant
from tracer_core.names.code import class_name, code_text, function_name

OBJECT = "an object"
"""Beginnings of descriptions that add nothing to the class."""

# Python refuses to write longer numbers in decimal.
WRITTEN_BITS = 4000


class _Short(Repr):
    """A `Repr` for numbers of any length."""

    def repr_int(self, x: int, level: int) -> str:
        return f"an int of {x.bit_length()} bits" if x.bit_length() > WRITTEN_BITS else super().repr_int(x, level)


_repr = _Short()
_repr.maxstring = _repr.maxother = 60
_repr.maxtuple = _repr.maxlist = _repr.maxdict = 8

_DTYPES = {
    torch.float32: "f32",
    torch.float64: "f64",
    torch.float16: "f16",
    torch.bfloat16: "bf16",
    torch.int8: "i8",
    torch.int16: "i16",
    torch.int32: "i32",
    torch.int64: "i64",
    torch.uint8: "u8",
    torch.bool: "b8",
    torch.complex64: "c64",
    torch.complex128: "c128",
}


def dtype_text(dtype: torch.dtype) -> str:
    return _DTYPES.get(dtype, str(dtype).removeprefix("torch."))


def sizes_text(sizes: Iterable[int | None]) -> str:
    """Return `[4, *]`: a star where any size is accepted."""
    return "[" + ", ".join("*" if size is None else str(size) for size in sizes) + "]"


def shape_text(tensor: torch.Tensor) -> str:
    """Return `[4, 8]`; `[nested]` if a tensor holds tensors of several shapes and has none itself."""
    return "[nested]" if tensor.is_nested and tensor.layout is torch.strided else sizes_text(tensor.shape)


def module_name(module: ModuleType) -> Any:
    """Return a module's `__name__`; None if it has none. (A module may compute any attribute by code of its own.)"""
    return _NAMESPACE(module).get("__name__")


_NAMESPACE: Callable[[ModuleType], dict[str, Any]] = vars(ModuleType)["__dict__"].__get__


def class_text(cls: type) -> str:
    """Return `int`, `torch.nn.Linear`: the shortest unambiguous name."""
    if cls.__module__ in ("builtins", "__main__", "pybind11_builtins"):
        return class_name(cls)
    if cls is torch.Tensor:
        return "Tensor"
    return f"{cls.__module__}.{cls.__qualname__}"


def _tensor(value: torch.Tensor) -> str:
    return f"{class_text(type(value))} {dtype_text(value.dtype)}{shape_text(value)}"


def _named(what: str) -> Callable[[Any], str]:
    return lambda value: f"{what} {function_name(value) or value.__name__}"


_BY_TYPE: list[tuple[type | tuple[type, ...], Callable[[Any], str]]] = [
    (torch.Tensor, _tensor),
    (type, lambda value: f"class {class_text(value)}"),
    (ModuleType, lambda value: f"module {module_name(value)}"),
    (FunctionType, _named("function")),
    (BuiltinFunctionType, _named("builtin function")),
    ((int, float, complex, str, bytes, type(None), type(...), torch.dtype, torch.device), _repr.repr),
]


def describe(value: Any) -> str:
    """Describe any value in one short line. Runs no `__repr__` of the user's."""
    for types, text in _BY_TYPE:
        if issubclass(type(value), types):
            return text(value)
    if is_constant(value):
        return _repr.repr(value)
    if type(value) in (tuple, list, set, frozenset, dict):
        if len(value) <= 8 and all(type(part) in (int, float, str, bool, type(None)) for part in value):
            return _repr.repr(value) if type(value) is not dict else f"dict with keys {_repr.repr(list(value))}"
        return f"{type(value).__name__} of {len(value)}"
    if issubclass(type(value), Enum):
        return f"{class_text(type(value))}.{object.__getattribute__(value, '__dict__').get('_name_')}"
    if type(value) is CodeType:
        return code_text(value)
    return f"{OBJECT} of {class_text(type(value))}"
