"""Values known at trace time: literals, and the torch enumerations that behave like them."""

from __future__ import annotations

import enum
import re
from typing import Any

import numpy as np
import torch

from tracer_core.sources import Source
from tracer_core.variables.core.base import NotConstant, VariableTracker, constant_or
from tracer_core.variables.core.tracing import Tracing

LITERAL_TYPES: tuple[type, ...] = (
    int,
    float,
    bool,
    str,
    bytes,
    complex,
    type(None),
    type(...),
    type(NotImplemented),
    torch.dtype,
    torch.device,
    torch.layout,
    torch.memory_format,
    torch.qscheme,
)


# Enumerations of torch that are written in C.
C_ENUMS: tuple[type, ...] = (torch._C._SDPBackend,)
if torch.distributed.is_available():
    C_ENUMS += (torch.distributed.ReduceOp.RedOpType,)


_VALUE_CLASSES = (enum.Enum, re.Pattern, re.Match, np.generic, np.dtype, *C_ENUMS)


_MAX_SHOWN_BITS = 1024
_WITH_KEYS = frozenset((int, bool, str, type(None)))
"""Types of which equal values are described alike."""


class ConstantVariable(VariableTracker):
    """A literal, an enum member, or a frozenset of such."""

    __slots__ = ("_value",)
    kind = "constant"

    def __init__(self, value: Any, source: Source | None = None) -> None:
        super().__init__(source)
        self._value = value

    @staticmethod
    def holds(value: Any) -> bool:
        """Return whether this kind of tracker can hold `value`."""
        return type(value) in LITERAL_TYPES or isinstance(value, _VALUE_CLASSES)

    def python_type(self) -> type:
        return type(self._value)

    def describe(self) -> str:
        if type(self._value) is int and self._value.bit_length() > _MAX_SHOWN_BITS:
            return f"int of {self._value.bit_length()} bits"  # Python refuses to write some of them in decimal
        text = repr(self._value) if type(self._value) in LITERAL_TYPES else f"{self.python_type_name()} constant"
        return text if len(text) <= 80 else text[:77] + "..."

    @property
    def literal(self) -> Any:
        kind = type(self._value)
        return (type(self), kind, self._value) if self.source is None and kind in _WITH_KEYS else None

    def value(self) -> Any:
        return self._value

    def truth(self, tx: Tracing) -> bool | None:
        return bool(self._value)

    def items_or_none(self, tx: Tracing) -> list[VariableTracker] | None:
        if isinstance(self._value, (str, bytes)):
            return [ConstantVariable(item) for item in self._value]
        return None


class NullVariable(VariableTracker):
    """The empty stack slot that CPython puts below some callables."""

    __slots__ = ()
    kind = "empty slot"

    def python_type(self) -> type:
        return object

    def python_type_name(self) -> str:
        return "NULL"

    def describe(self) -> str:
        return "NULL"


class DeletedVariable(VariableTracker):
    """An attribute, element or variable that the trace deleted."""

    __slots__ = ()
    kind = "deleted"

    def python_type(self) -> type:
        raise NotConstant("deleted")

    def python_type_name(self) -> str:
        return "deleted"

    def describe(self) -> str:
        return "deleted"


NULL = NullVariable()
DELETED = DeletedVariable()


NONE = ConstantVariable(None)
FALSE = ConstantVariable(False)


def is_none(tracker: VariableTracker) -> bool:
    return constant_or(tracker.realize(), 0) is None
