"""On which numbers arithmetic raises.

Nobody may take the result of `7 // n`, and a back end may then leave it out; but plain Python raises there when `n`
is 0. So the numbers on which it does not are guarded, where they can be told.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import torch
import torch.fx

_NEVER_RAISES = frozenset(
    {
        operator.add, operator.sub, operator.mul, operator.neg, operator.pos, operator.abs, operator.eq, operator.ne,
        operator.lt, operator.le, operator.gt, operator.ge, operator.and_, operator.or_, operator.xor,
        operator.invert, operator.getitem, torch.sym_float, torch.sym_ite, torch.sym_max, torch.sym_min,
        torch.sym_not, torch.sym_sum,
    }
)  # fmt: skip


def condition(node: torch.fx.Node) -> Any:
    """The condition, true or symbolic, on which `node`, arithmetic on numbers, does not raise. None: not known."""
    if node.op != "call_function" or node.target in _NEVER_RAISES or not node.all_input_nodes:
        return True
    known = _CONDITIONS.get(node.target)
    if known is None:
        return None
    return known(*(arg.meta["example_value"] if isinstance(arg, torch.fx.Node) else arg for arg in node.args))


def _power(base: Any, exponent: Any) -> Any:
    """Powers of floats overflow; those of whole numbers do not."""
    return exponent >= 0 if _is_whole(base) and _is_whole(exponent) else None


def _whole(number: Any) -> Any:
    """Infinity and NaN cannot be made a whole number."""
    return True if _is_whole(number) else None


def _is_whole(number: Any) -> bool:
    return isinstance(number, (int, torch.SymInt))


_CONDITIONS: dict[Any, Callable[..., Any]] = {
    operator.floordiv: lambda _, divisor: divisor != 0,
    operator.mod: lambda _, divisor: divisor != 0,
    operator.truediv: lambda _, divisor: divisor != 0,
    operator.lshift: lambda _, by: by >= 0,
    operator.rshift: lambda _, by: by >= 0,
    operator.pow: _power,
    pow: _power,
    torch.sym_int: _whole,
}
