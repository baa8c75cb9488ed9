"""The calls of NumPy that may give a RuntimeWarning, and the check for it in their nodes."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tracer_core.errors import Unsupported
from tracer_core.graph.numpy_warnings import Check, cast, elementwise, gathering, of_integers
from tracer_core.guards import make
from tracer_core.sources import ById, ConstantSource, ConvertedSource
from tracer_core.variables.core.tracing import Tracing
from tracer_core.variables.numpy.rules import ROUNDED, WRITES

_ELEMENTWISE = frozenset(
    (
        *"add subtract multiply divide true_divide floor_divide square reciprocal deg2rad radians around".split(),
        *"round remainder mod power sub mul truediv floordiv pow".split(),
        *(name for name in ROUNDED if name not in ("cumsum", "cumprod")),
    )
)
_GATHERING = frozenset(
    (
        *"sum prod mean std var ptp median matmul dot inner outer vdot trace cumsum cumprod".split(),
        *"iadd isub imul itruediv full_like".split(),
    )
)
_CONVERTING = frozenset(("astype", "array", "asarray", "ascontiguousarray"))
_OF_INTEGERS = frozenset("add sub mul neg abs subtract multiply negative absolute square".split())
_LARGEST_SINGLE = float(np.finfo(np.float32).max)

REFUSED, WATCHED, IGNORED = "refused", "watched", "ignored"


def error_handling(numpy: Any) -> str:
    """Return how NumPy is configured to handle divisions by zero, overflows and invalid operations: nothing,
    something that plain Python has to do, or something about underflows, which graphs do not detect."""
    set_to = numpy.geterr()
    if set_to.pop("under") != "ignore":
        return REFUSED
    return IGNORED if set(set_to.values()) == {"ignore"} else WATCHED


def guard_error_handling(tx: Tracing) -> bool:
    """Guard whether NumPy handles floating-point errors at all; the code generated here is right while that stays so.

    Raises:
        Unsupported: the program configures it to report underflows.
    """
    now = error_handling(np)
    if now == REFUSED:
        raise Unsupported("numpy-function", name="operations that report underflows (numpy.errstate)")
    source = ConvertedSource(ConstantSource.of_object(np, "numpy"), ById(error_handling), "error_handling")
    tx.guard(make.constant(source, now))
    return now == WATCHED


def check_for(name: str, shadows: list[Any], named: dict[str, Any], result: Any) -> Check | None:
    """Return the check by which a node of this call detects that NumPy warns; None if it never does.

    Raises:
        Unsupported: no check can find it.
    """
    first = shadows[0] if shadows else None
    if _too_large(shadows):
        raise Unsupported("numpy-function", name=name)
    if name in WRITES:
        written = shadows[-1]
        return gathering if _kind(first) == "f" and _kind(written) == "f" and _narrower(first, written) else None
    if _all_integer_scalars(shadows, result):
        if name in ("pow", "power") or (name in _OF_INTEGERS and _kind(result) == "u"):
            raise Unsupported("numpy-function", name=name)
        return of_integers if name in _OF_INTEGERS else None
    if name in _CONVERTING or "dtype" in named:
        return _of_conversion(name, first, result)
    if _kind(result) == "c":
        return gathering if name in _ELEMENTWISE or name in _GATHERING else None
    if _kind(result) != "f":
        return None
    return elementwise if name in _ELEMENTWISE else gathering if name in _GATHERING else None


def _of_conversion(name: str, first: Any, result: Any) -> Check | None:
    kinds = _kind(first) + _kind(result)
    if name in _CONVERTING:
        return cast if kinds in ("fi", "fu") or (kinds == "ff" and _narrower(result, first)) else None
    if kinds in ("fi", "fu"):
        raise Unsupported("numpy-function", name=name)
    return gathering if kinds.endswith(("f", "c")) else None


def _kind(value: Any) -> str:
    if isinstance(value, (np.ndarray, np.generic)):
        return str(value.dtype.kind)
    return "f" if type(value) is float else "-"


def _narrower(one: Any, other: Any) -> bool:
    return bool(np.asarray(one).dtype.itemsize < np.asarray(other).dtype.itemsize)


def _too_large(shadows: list[Any]) -> bool:
    """Return whether a Python float is converted to single precision, in which it is infinite."""
    single = any(getattr(value, "dtype", None) in (np.float32, np.complex64) for value in shadows)
    floats = (value for value in shadows if type(value) is float)
    return single and any(math.isfinite(value) and abs(value) > _LARGEST_SINGLE for value in floats)


def _all_integer_scalars(shadows: list[Any], result: Any) -> bool:
    if not isinstance(result, np.integer):
        return False
    return bool(shadows) and all(isinstance(value, (np.integer, np.bool_, int)) for value in shadows)
