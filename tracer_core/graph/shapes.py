"""Guards over sources for the facts that the shape environment learned about symbols."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import sympy
import torch
from sympy.printing.precedence import PRECEDENCE
from torch.utils._sympy import functions
from torch.utils._sympy.printers import PythonPrinter

from tracer_core.graph.fakes import Fakes, SymbolBinding
from tracer_core.guards import Guard, make
from tracer_core.guards.special_sizes import SPECIAL
from tracer_core.names.where import Where
from tracer_core.sources import SizeSource, Source, StrideSource


class _GuardList(list[Any]):
    """The environment's list of guards. `noted` is called with each one added, once all its bounds of symbols are
    known."""

    def __init__(self, noted: Callable[[Any], None]) -> None:
        super().__init__()
        self._noted = noted

    def append(self, guard: Any) -> None:
        super().append(guard)
        self._noted(guard)


class ShapeGuards:
    """Follow the environment's list of guards and, at the end, turn it into the simplest set.

    Args:
        where: returns the running code, which needs a guard.
    """

    def __init__(self, fakes: Fakes, where: Callable[[], Where]) -> None:
        self.fakes = fakes
        self._where = where
        self.needed_by: list[tuple[Any, Where]] = []
        fakes.shape_env.guards = _GuardList(self._note)

    def _note(self, guard: Any) -> None:
        """Note that a guard was added just now, with the changes of the ranges since the last one."""
        where = self._where()
        self.needed_by.append((guard.expr, where))
        for binding in self.fakes.symbols.values():
            binding.learn(self.fakes.shape_env, where)

    def close(self) -> None:
        """Stop noting guards: those added from now on (a back end may do so when the code runs) are not the
        trace's."""
        self.fakes.shape_env.guards = list(self.fakes.shape_env.guards)

    def finish(self) -> list[Guard]:
        """Return the guards that the generated code needs: sources of one symbol agree, ranges, and what relates
        several symbols. Inequalities that a symbol's range already implies are left out."""
        guards: list[Guard] = []
        for binding in self.fakes.symbols.values():
            first, *others = binding.sources
            for other in dict.fromkeys(others):
                if other != first:
                    guards.append(make.shape("{0} == {1}", [other, first]).installed_at(binding.where))
        for expr, where in self.needed_by:
            if len(expr.free_symbols) > 1 or not _is_bound(expr):
                guards.append(self._from_expr(expr, where))
        for binding in self.fakes.symbols.values():
            guards.extend(_range_guards(binding))
        guards.extend(self._stride_guards())
        unique: dict[Any, Guard] = {guard.key: guard for guard in reversed(guards)}
        return list(reversed(unique.values()))

    def _from_expr(self, expr: Any, where: Where) -> Guard:
        printer = _SourcePrinter(self.fakes.symbols)
        return make.shape(printer.doprint(expr), printer.sources).installed_at(where)

    def _stride_guards(self) -> list[Guard]:
        guards = []
        for tracked in self.fakes.inputs.values():
            for dim, stride in enumerate(tracked.strides):
                if isinstance(stride, torch.SymInt):
                    printer, own = _SourcePrinter(self.fakes.symbols), StrideSource(tracked.source, dim)
                    text, at = printer.doprint(stride.node.expr), len(printer.sources)
                    if (text, printer.sources) != ("{0}", [own]):
                        guard = make.shape(f"{{{at}}} == {text}", [*printer.sources, own])
                        guards.append(guard.installed_at(tracked.where))
        return guards


def _range_guards(binding: SymbolBinding) -> Iterator[Guard]:
    """Return a guard for each bound of a symbol that its type does not imply, at the place that needed the bound."""
    if isinstance(binding.value, torch.SymFloat) or binding.is_unbacked:
        return
    lower, upper, source = binding.range.lower, binding.range.upper, binding.sources[0]
    if lower == upper:
        yield make.shape(f"{{0}} == {lower}", [source]).installed_at(binding.fixed or binding.where)
        return
    low = int(lower) if lower.is_Integer else None
    if low is not None and (low > 0 or not _is_size(binding)):
        special = binding.lower is None and _is_size(binding)
        guard = make.shape(f"{low} <= {{0}}", [source], SPECIAL if special else "")
        yield guard.installed_at(binding.lower or binding.where)
    if upper.is_Integer and upper < 2**62:
        yield make.shape(f"{{0}} <= {upper}", [source]).installed_at(binding.upper or binding.where)


def _is_size(binding: SymbolBinding) -> bool:
    """Return whether the symbol is a size, whose value can never be negative."""
    return any(isinstance(source, (SizeSource, StrideSource)) for source in binding.sources)


def _is_bound(expr: Any) -> bool:
    """Return whether `expr` compares one bare integer symbol with a number (its range then implies the same)."""
    return (
        isinstance(expr, (sympy.Lt, sympy.Le, sympy.Gt, sympy.Ge))
        and any(side.is_Symbol and side.is_integer for side in expr.args)
        and any(side.is_number for side in expr.args)
    )


_BINDS: tuple[tuple[Any, float], ...] = (
    (sympy.core.relational.Relational, PRECEDENCE["Relational"]),
    (functions.FloatTrueDiv, PRECEDENCE["Mul"]),
    ((functions.ToFloat, functions.TruncToInt, functions.FloorToInt, functions.CeilToInt), PRECEDENCE["Atom"]),
)
"""The precedence, in Python, of expressions for which sympy's own differs."""


class _SourcePrinter(PythonPrinter):
    """Print an expression with `{0}`, `{1}`, ... for its symbols; `sources` has their sources."""

    def __init__(self, symbols: dict[str, SymbolBinding]) -> None:
        super().__init__()
        self._symbols = symbols
        self.sources: list[Source] = []

    def _print_Symbol(self, expr: Any) -> str:
        source = self._symbols[str(expr)].sources[0]
        if source not in self.sources:
            self.sources.append(source)
        return f"{{{self.sources.index(source)}}}"

    # torch's printer calls torch, for symbols; guards are checked on numbers.
    def _print_ToFloat(self, expr: Any) -> str:
        return f"float({self._print(expr.args[0])})"

    # Numbers, and parentheses, as Python has them.
    def _print_Float(self, expr: Any) -> str:
        return repr(float(expr))

    def _print_FloatTrueDiv(self, expr: Any) -> str:
        text: str = self.stringify(expr.args, " / ", PRECEDENCE["Atom"] - 0.5)
        return text

    def _print_Relational(self, expr: Any) -> str:
        text: str = self.stringify(expr.args, f" {expr.rel_op} ", PRECEDENCE["Relational"])
        return text

    def parenthesize(self, item: Any, level: float, strict: bool = False) -> str:
        binds = next((binds for classes, binds in _BINDS if isinstance(item, classes)), None)
        if binds is None:
            return str(super().parenthesize(item, level, strict))
        return f"({self._print(item)})" if binds <= level else str(self._print(item))

    def _helper_sqrt(self, expr: Any) -> str:
        return f"math.sqrt({self._print(expr)})"
