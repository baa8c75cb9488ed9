"""Constant folding: functions called while tracing, where all arguments are known."""

from __future__ import annotations

import enum
import operator
from typing import Any

from tracer_core.errors import Unsupported
from tracer_core.variables.core.base import Args, Kwargs, VariableTracker, all_constant
from tracer_core.variables.core.tracing import Tracing
from tracer_core.variables.exceptions.exceptions import raise_real
from tracer_core.variables.objects.enum_members import note_read


def fold(tx: Tracing, function: Any, args: Args, kwargs: Kwargs) -> VariableTracker | None:
    """Call `function` now, if all arguments are constants; its exceptions are raised in the traced program."""
    if not all_constant(args) or not all_constant(list(kwargs.values())):
        return None
    values = [arg.value() for arg in args]
    if any(isinstance(value, enum.Enum) for value in values) and function is not hash:
        note_read(tx, args)
    named = {name: value.value() for name, value in kwargs.items()}
    _refuse_huge(function, values)
    try:
        result = function(*values, **named)
    except Exception as error:  # noqa: BLE001
        raise_real(tx, error)
    return tx.constant(result)


_MAX_FOLDED = 1 << 20


def _refuse_huge(function: Any, values: list[Any]) -> None:
    """Break for results that are too large to compute while tracing."""
    if function in (operator.mul, operator.imul) and len(values) == 2:
        lengths = [len(v) for v in values if isinstance(v, (str, bytes, list, tuple))]
        counts = [v for v in values if isinstance(v, int)]
        if lengths and counts and lengths[0] * counts[0] > _MAX_FOLDED:
            raise Unsupported("huge-constant", what=f"{lengths[0]} times {counts[0]} items")
    if (
        function in (operator.pow, operator.ipow, operator.lshift, operator.ilshift, pow)
        and len(values) >= 2
        and all(isinstance(v, int) for v in values[:2])
    ):
        base, exponent = values[:2]
        bits = exponent if function in (operator.lshift, operator.ilshift) else abs(base).bit_length() * exponent
        if bits > _MAX_FOLDED and len(values) == 2:
            raise Unsupported("huge-constant", what=f"an integer of {bits} bits")
