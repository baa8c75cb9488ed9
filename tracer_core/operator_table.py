"""Python's operators in one table: symbol, function and special methods of each.

The tracer, the listing of generated code and the sentences of a recording take what they need of operators from here.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Operator:
    """One operator.

    Attributes:
        symbol: the operator as it is written: `+`, `+=`, `<`.
        function: the function that applies it: `operator.add`, `operator.iadd`, `operator.lt`.
        method: the special method of the (left) operand: `__add__`, `__iadd__`, `__lt__`.
        reflected: the special method of the right operand: `__radd__`; for a comparison, the one of the comparison
            with its sides exchanged: `__gt__`. Empty where Python does not try one.
    """

    symbol: str
    function: Callable[..., Any]
    method: str
    reflected: str = ""


_BINARY = (
    ("**", "pow"), ("*", "mul"), ("@", "matmul"), ("/", "truediv"), ("//", "floordiv"), ("%", "mod"), ("+", "add"),
    ("-", "sub"), ("<<", "lshift"), (">>", "rshift"), ("&", "and"), ("^", "xor"), ("|", "or"),
)  # fmt: skip
_COMPARISONS = (
    ("<", "lt", "gt"), ("<=", "le", "ge"), ("==", "eq", "eq"),
    ("!=", "ne", "ne"), (">", "gt", "lt"), (">=", "ge", "le"),
)  # fmt: skip
_UNARY = (("UNARY_NEGATIVE", "-", "neg"), ("UNARY_POSITIVE", "+", "pos"), ("UNARY_INVERT", "~", "invert"))


def _operator(symbol: str, name: str, reflected: str = "") -> Operator:
    method = f"__{name}__"
    return Operator(symbol, getattr(operator, method), method, reflected and f"__{reflected}__")


BINARY: dict[str, Operator] = {symbol: _operator(symbol, name, f"r{name}") for symbol, name in _BINARY}
IN_PLACE: dict[str, Operator] = {f"{symbol}=": _operator(f"{symbol}=", f"i{name}") for symbol, name in _BINARY}
COMPARISONS: dict[str, Operator] = {
    symbol: _operator(symbol, name, reflected) for symbol, name, reflected in _COMPARISONS
}
ORDERINGS: dict[str, Operator] = {symbol: COMPARISONS[symbol] for symbol in ("<", "<=", ">", ">=")}
UNARY: dict[str, Operator] = {instruction: _operator(symbol, name) for instruction, symbol, name in _UNARY}
"""By the canonical instruction: `-` and `+` are binary operators as well."""

WRITTEN: dict[Any, str] = {
    **{
        each.function: f"the operator {each.symbol}"
        for table in (BINARY, IN_PLACE, COMPARISONS, UNARY)
        for each in table.values()
    },
    operator.abs: "abs()",
    operator.contains: "the operator in",
    operator.getitem: "indexing",
    operator.setitem: "assigning to an index",
    operator.delitem: "deleting an index",
}
"""The words for these Python functions in sentences."""

DIVMOD = Operator("divmod()", divmod, "__divmod__", "__rdivmod__")
"""A builtin function that Python resolves as it does a binary operator."""
