"""Decide what is a constant, and when two constants are the same for a program that reads them."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch

_ATOMS = (int, str, bytes, bool, type(None), type(...), type(NotImplemented))


def _same_float(a: float, b: float) -> bool:
    return (a == b and math.copysign(1.0, a) == math.copysign(1.0, b)) or (a != a and b != b)


def _same_complex(a: complex, b: complex) -> bool:
    return _same_float(a.real, b.real) and _same_float(a.imag, b.imag)


def _same_items(a: Any, b: Any) -> bool:
    return len(a) == len(b) and all(map(same_constant, a, b))


def _same_set(a: frozenset[Any], b: frozenset[Any]) -> bool:
    return a == b and all(any(same_constant(x, y) for y in b) for x in a)


def _same_range(a: Any, b: Any) -> bool:
    return all(same_constant(getattr(a, name), getattr(b, name)) for name in ("start", "stop", "step"))


def _equal(a: Any, b: Any) -> bool:
    return bool(a == b)


_SAME: dict[type, Callable[[Any, Any], bool]] = {
    **dict.fromkeys(_ATOMS, _equal),
    float: _same_float,
    complex: _same_complex,
    tuple: _same_items,
    torch.Size: _same_items,
    frozenset: _same_set,
    range: _same_range,
    slice: _same_range,
    **dict.fromkeys((torch.dtype, torch.device, torch.layout, torch.memory_format, torch.qscheme), _equal),
}


def is_constant(value: Any) -> bool:
    """Return whether a CONSTANT guard can be created for `value`."""
    cls = type(value)
    if cls in (tuple, frozenset, torch.Size):
        return all(map(is_constant, value))
    if cls is slice:
        return is_constant(value.start) and is_constant(value.stop) and is_constant(value.step)
    return cls in _SAME


def same_constant(a: Any, b: Any) -> bool:
    """Return whether both have the same type and the same value, also inside: 1 is not True, -0.0 is not 0.0, nan is
    nan."""
    if a is b:
        return True
    cls = type(a)
    return cls is type(b) and cls in _SAME and _SAME[cls](a, b)


def constant_key(value: Any) -> Any:
    """Return a hashable key, equal for two values exactly when `same_constant` holds."""
    cls = type(value)
    if cls in (tuple, torch.Size):
        return (cls, *map(constant_key, value))
    if cls is frozenset:
        return (cls, frozenset(map(constant_key, value)))
    if cls is slice or cls is range:
        return (cls, *map(constant_key, (value.start, value.stop, value.step)))
    if cls is float:
        return (cls, "nan" if value != value else value.hex())
    if cls is complex:
        return (cls, constant_key(value.real), constant_key(value.imag))
    return (cls, value)
