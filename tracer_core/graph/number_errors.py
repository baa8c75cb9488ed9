"""Guard the numbers on which arithmetic raises.

Nobody may take the result of `7 // n`, and a back end may then leave it out; but plain Python raises there when `n`
is 0. So a guard excludes the numbers on which it raises, where these are known.
"""

from __future__ import annotations

import math
import operator
import sys
from collections.abc import Callable, Set
from typing import Any

import sympy
import torch
import torch.fx
from torch.fx.experimental.symbolic_shapes import statically_known_true

_LARGEST = sys.float_info.max
_NO_OVERFLOW = 1e300
"""Powers and the like below it do not overflow. The exact limit depends on rounding."""

Conditions = tuple[Any, ...]
"""Conditions, each true or symbolic; if all hold, nothing is raised."""


def _of_math(*names: str) -> tuple[Any, ...]:
    """Return torch's functions that replace those of `math` in graphs."""
    return tuple(getattr(torch, f"_sym_{name}") for name in names)


_NEVER_RAISES = frozenset(
    {
        operator.add, operator.sub, operator.mul, operator.neg, operator.pos, operator.abs, operator.eq, operator.ne,
        operator.lt, operator.le, operator.gt, operator.ge, operator.and_, operator.or_, operator.xor,
        operator.invert, operator.not_, operator.getitem, torch.sym_float, torch.sym_ite, torch.sym_max,
        torch.sym_min, torch.sym_not, torch.sym_sum, *_of_math("atan", "tanh"),
    }
)  # fmt: skip


def conditions(node: torch.fx.Node) -> Conditions | None:
    """Return the conditions on which `node`, arithmetic on numbers, does not raise; None if they are not known."""
    if node.op != "call_function" or not node.all_input_nodes:
        return ()
    args = [arg.meta["example_value"] if isinstance(arg, torch.fx.Node) else arg for arg in node.args]
    known = _CONDITIONS.get(node.target)
    own = None if known is None else known(*args)
    if own is None or not isinstance(node.meta["example_value"], (float, torch.SymFloat)):
        return own
    return (*own, *_become_floats(args))


def may_raise(node: torch.fx.Node, unknowns: Set[Any]) -> bool:
    """Return whether `node`, which computes a number, may raise on other numbers; that it does not is guarded where
    possible. Symbols in `unknowns`, whose values only the running program knows, cannot be guarded."""
    needed = conditions(node)
    if needed is None or any(_is_of(unknowns, each) for each in needed):
        return True
    return not all(statically_known_true(each) or bool(each) for each in needed)


def _is_of(unknowns: Set[Any], condition: Any) -> bool:
    return isinstance(condition, torch.SymBool) and not unknowns.isdisjoint(condition.node.expr.free_symbols)


def _become_floats(args: list[Any]) -> Conditions:
    """Return the conditions on which arguments can be converted to floats: integers that are not too large, which
    products of graph inputs never are."""
    return tuple(c for arg in args if may_be_huge(arg) for c in _within(arg, _LARGEST))


def may_be_huge(number: Any) -> bool:
    """Return whether `number` is an integer that results from a power or a shift by a number that is not constant."""
    if not isinstance(number, torch.SymInt):
        return isinstance(number, int) and abs(number) > _LARGEST
    parts = sympy.preorder_traversal(number.node.expr)
    powers = (part for part in parts if type(part).__name__ in ("Pow", "PowByNatural", "LShift"))
    return any(bool(power.args[1].free_symbols) for power in powers)


def _within(number: Any, limit: float) -> Conditions:
    return number <= limit, number >= -limit


def _power(base: Any, exponent: Any) -> Conditions | None:
    """Return the conditions of a power. Powers of whole numbers do not overflow, those of floats do. Roots of
    negative numbers are complex."""
    if _is_whole(base) and _is_whole(exponent) and not (isinstance(exponent, int) and exponent < 0):
        return (exponent >= 0,)
    if isinstance(exponent, (int, float)):
        sign = () if _is_whole(exponent) else (base >= 0,)
        if exponent < 0:
            return (
                *sign,
                base >= (1 if _is_whole(base) else max(_NO_OVERFLOW ** (1 / exponent), sys.float_info.min)),
            )
        return (*sign, *_within(base, _NO_OVERFLOW ** (1 / max(exponent, 1))))
    if isinstance(base, (int, float)) and base >= 1:
        return (exponent <= math.log(_NO_OVERFLOW, max(base, 1.5)),)
    return None


def _finite(number: Any) -> Conditions:
    return _within(number, _LARGEST)


def _whole(number: Any) -> Conditions:
    """Return the conditions of a conversion to an integer, which infinity and NaN do not have."""
    return () if _is_whole(number) else _finite(number)


def _is_whole(number: Any) -> bool:
    return isinstance(number, (int, torch.SymInt))


_BY_NONZERO = (operator.floordiv, operator.mod, operator.truediv)
_BY_NATURAL = (operator.lshift, operator.rshift)
_TO_WHOLE = (torch.sym_int, math.floor, math.ceil, math.trunc)

_CONDITIONS: dict[Any, Callable[..., Conditions | None]] = {
    **dict.fromkeys(_NEVER_RAISES, lambda *_: ()),
    **dict.fromkeys(_BY_NONZERO, lambda _, divisor: (divisor != 0,)),
    **dict.fromkeys(_BY_NATURAL, lambda _, by: (by >= 0,)),
    **dict.fromkeys(_TO_WHOLE, _whole),
    **dict.fromkeys(_of_math("sin", "cos", "tan"), _finite),
    **dict.fromkeys(_of_math("asin", "acos"), lambda number: _within(number, 1)),
    **dict.fromkeys(_of_math("sinh", "cosh"), lambda number: _within(number, math.acosh(_NO_OVERFLOW))),
    **dict.fromkeys(_of_math("sqrt"), lambda number: (number >= 0,)),
    **dict.fromkeys(_of_math("log2"), lambda number: (number > 0,)),
    operator.pow: _power,
    pow: _power,
}

ARITHMETIC = frozenset(_CONDITIONS)
"""Functions of Python, and of torch for symbols, that return the same for the same numbers, without side effects."""
