"""The operations of NumPy that torch computes with the same values, and the arguments for which it does not.

Types, shapes, memory and errors are NumPy's own answer on shadows; these tables are about values alone. They were
found by comparing the two on many arrays with special values among them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tracer_core.errors import Unsupported
from tracer_core.operator_table import BINARY, COMPARISONS, IN_PLACE, UNARY

FUNCTIONS = (
    "negative positive absolute abs fabs square floor ceil trunc rint isnan isinf isfinite signbit logical_not "
    "invert reciprocal deg2rad radians nan_to_num around round sign "
    "sum prod mean std var max min amax amin any all argmax argmin ptp median count_nonzero sort "
    "add subtract multiply divide true_divide floor_divide maximum minimum equal not_equal less less_equal greater "
    "greater_equal logical_and logical_or logical_xor bitwise_and bitwise_or bitwise_xor copysign "
    "remainder mod power matmul dot inner outer vdot where clip concatenate stack vstack hstack dstack column_stack "
    "reshape ravel transpose swapaxes moveaxis expand_dims squeeze tile repeat roll tril triu trace diagonal "
    "zeros_like ones_like full_like copy atleast_1d atleast_2d array asarray ascontiguousarray split array_split "
    "conj conjugate real imag broadcast_to take_along_axis"
).split()
"""Functions of NumPy's namespace that become nodes: exact on each element, or sums of any order."""

ROUNDED = (
    "sqrt exp exp2 expm1 log log2 log10 log1p sin cos tan arcsin arccos arctan sinh cosh tanh arcsinh arccosh "
    "arctanh rad2deg degrees arctan2 hypot cumsum cumprod"
).split()
"""Functions that round differently in the last place in torch. They become nodes for integers, and, by the option
`numpy_rounding`, for floats."""

KNOWN_ONLY = "zeros ones full eye identity arange linspace logspace geomspace dtype result_type promote_types".split()
"""Functions that are called while tracing, on constants."""

METHODS = (
    "sum prod mean std var max min any all argmax argmin cumsum cumprod reshape ravel flatten transpose swapaxes "
    "squeeze astype copy clip dot round repeat trace diagonal conj conjugate"
).split()

OPERATORS = [
    each.function
    for table in (BINARY, COMPARISONS, UNARY)
    for each in table.values()
    if each.symbol not in ("<<", ">>")
]
OPERATORS_IN_PLACE = [IN_PLACE[symbol].function for symbol in ("+=", "-=", "*=", "/=")]

ATTRIBUTES = ("T", "mT", "real", "imag")
"""Methods of arrays: views, or results that a node computes."""

WRITES = ("setitem", "fill", "put", "copyto", "fill_diagonal", "put_along_axis")
"""Functions that write values, their last argument, into an array."""

_MOVING = (
    "getitem setitem fill put copyto fill_diagonal put_along_axis take_along_axis "
    "broadcast_to reshape ravel flatten transpose swapaxes moveaxis "
    "expand_dims squeeze tile repeat roll concatenate stack vstack hstack dstack column_stack atleast_1d "
    "atleast_2d array asarray ascontiguousarray split array_split diagonal copy where zeros_like "
    "ones_like full_like astype T mT real imag neg pos negative positive isnan isinf isfinite eq ne equal "
    "not_equal"
).split()
_OF_HALVES = frozenset(
    (
        *_MOVING,
        *"add sub mul truediv subtract multiply divide true_divide iadd isub imul itruediv abs absolute fabs".split(),
        *"square floor ceil trunc rint signbit maximum minimum max min amax amin clip sort lt le gt ge".split(),
        *"less less_equal greater greater_equal any all argmax argmin copysign".split(),
    )
)
_OF_COMPLEX = frozenset((*_MOVING, *"add sub subtract iadd isub conj conjugate".split()))
"""Dtypes on which functions that do nothing or round once agree. (NumPy sums halves otherwise, and multiplies complex
numbers with one rounding less.)"""

_POWERS = ("power", "pow")
_REMAINDERS = ("remainder", "mod")
_OF_INTEGERS = ("cumsum", "cumprod")
_COMPARISONS = (
    *("less", "less_equal", "greater", "greater_equal", "equal", "not_equal"),
    *(each.function.__name__ for each in COMPARISONS.values()),
)


def check(name: str, shadows: list[Any], named: dict[str, Any], rounding: bool) -> None:
    """Break for arguments for which the values differ, or may; with `rounding` they may differ in the last place.

    Raises:
        Unsupported: they are among these.
    """
    kinds = {_kind(value) for value in shadows}
    first: Any = shadows[0] if shadows else None
    exponent: Any = shadows[1] if len(shadows) > 1 else None
    refused = (
        (not rounding and not _exact_for(name, shadows))
        or bool({"out", "where", "casting", "order", "subok", "like"} & set(named))
        or (name in _POWERS and (_kind(first) != "i" or type(exponent) is not int or exponent not in (1, 2, 3)))
        or (name in ROUNDED and not rounding and not (name in _OF_INTEGERS and kinds <= {"i", "-"}))
        or (name in _REMAINDERS and "f" in kinds)
        or (name == "sign" and kinds != {"i"})
        or (name in (*_COMPARISONS, "clip") and not _fits(shadows))
        or (name == "astype" and _narrows(first, shadows, named))
        or (name == "getitem" and not _gives_known_size(exponent))
        or (name == "put" and not _names_each_place_once(exponent, shadows[2]))
        or (name == "fill_diagonal" and (first.ndim != 2 or np.ndim(exponent) != 0))
    )
    if refused:
        raise Unsupported("numpy-function", name=name)


def _fits(shadows: list[Any]) -> bool:
    """Return whether the Python ints among these fit into the integer dtypes among these."""
    dtypes = {value.dtype for value in shadows if _kind(value) in "iu" and hasattr(value, "dtype")}
    bounds = [np.iinfo(dtype) for dtype in dtypes]
    return all(bound.min <= value <= bound.max for bound in bounds for value in shadows if type(value) is int)


def _exact_for(name: str, shadows: list[Any]) -> bool:
    """Return whether NumPy and torch compute the same on the dtypes among these, where they often differ."""
    dtypes = {part.dtype for value in shadows for part in _parts(value) if hasattr(part, "dtype")}
    if np.dtype(np.float16) in dtypes:
        numbers = [part for value in shadows for part in _parts(value) if type(part) in (int, float)]
        if name not in _OF_HALVES or not all(_is_half(number) for number in numbers):
            return False
    return name in _OF_COMPLEX or not any(dtype.kind == "c" for dtype in dtypes)


def _parts(value: Any) -> list[Any]:
    return [part for item in value for part in _parts(item)] if isinstance(value, (list, tuple)) else [value]


def _is_half(number: float) -> bool:
    """Return whether the number is exact in half precision, so that it does not matter when it is converted."""
    with np.errstate(all="ignore"):
        return abs(number) <= 65504 and float(np.float16(number)) == number


def _kind(value: Any) -> str:
    if isinstance(value, (np.ndarray, np.generic)):
        return value.dtype.kind
    return {bool: "b", int: "i", float: "f"}.get(type(value), "-")


def _narrows(array: Any, shadows: list[Any], named: dict[str, Any]) -> bool:
    """Return whether floats are converted to integers so small that values out of range differ between platforms."""
    try:
        to = np.dtype(shadows[1] if len(shadows) > 1 else named.get("dtype"))
    except TypeError:
        return True
    if to == np.float16:
        return bool(array.dtype == np.float64)  # torch rounds twice
    return array.dtype.kind == "f" and to.kind in "iu" and to.itemsize < 4


def _gives_known_size(index: Any) -> bool:
    """Return whether the shape of the result does not depend on data: only masks select by their data."""
    parts = index if isinstance(index, tuple) else (index,)
    return all(_is_plain_index(part) or _is_list_of_places(part) for part in parts)


def _names_each_place_once(indices: Any, values: Any) -> bool:
    """Return whether each of these positions gets one value, or all of them the same, so that the order does not
    matter."""
    places = indices if isinstance(indices, list) else [indices]
    known = all(type(place) is int and place >= 0 for place in places) and len(set(places)) == len(places)
    return known and np.size(values) in (1, len(places))


def _is_plain_index(part: Any) -> bool:
    return part is None or part is ... or (isinstance(part, (slice, int)) and not isinstance(part, bool))


def _is_list_of_places(part: Any) -> bool:
    return isinstance(part, (list, np.ndarray)) and np.asarray(part).dtype.kind == "i"
