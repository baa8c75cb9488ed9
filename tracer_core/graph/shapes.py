"""What the shape environment learnt about symbols, as guards over sources."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import sympy
import torch
from torch.utils._sympy.printers import PythonPrinter

from tracer_core.graph.fakes import Fakes, SymbolBinding
from tracer_core.guards import Guard, make
from tracer_core.sources import SizeSource, Source, StrideSource

if TYPE_CHECKING:
    from tracer_core.graph.output import Where


class ShapeGuards:
    """Follows the environment's list of guards and, at the end, turns it into the simplest set."""

    def __init__(self, fakes: Fakes) -> None:
        self.fakes = fakes
        self._seen = 0
        self._asked_by: list[tuple[Any, Where]] = []

    def learnt_more(self) -> bool:
        return len(self.fakes.shape_env.guards) > self._seen

    def note(self, where: Where) -> None:
        """Everything learnt since last time was asked for by `where`."""
        for guard in self.fakes.shape_env.guards[self._seen :]:
            self._asked_by.append((guard.expr, where))
        self._seen = len(self.fakes.shape_env.guards)

    def finish(self) -> list[Guard]:
        """The guards that the generated code needs: sources of one symbol agree, ranges, and what relates several
        symbols. Inequalities that a symbol's range already says are left out."""
        env = self.fakes.shape_env
        guards: list[Guard] = []
        for binding in self.fakes.symbols.values():
            first, *others = binding.sources
            for other in dict.fromkeys(others):
                if other != first:
                    guards.append(_shape_guard("{0} == {1}", [other, first]))
        for expr, where in self._asked_by:
            if len(expr.free_symbols) > 1 or isinstance(expr, (sympy.Eq, sympy.Ne)):
                guards.append(self._from_expr(expr, where))
            elif not _is_bound(expr):
                guards.append(self._from_expr(expr, where))
        for binding in self.fakes.symbols.values():
            guard = self._range_guard(binding, _range_of(env, binding))
            if guard is not None:
                guards.append(guard)
        guards.extend(self._stride_guards())
        unique: dict[Any, Guard] = {guard.key: guard for guard in reversed(guards)}
        return list(reversed(unique.values()))

    def _range_guard(self, binding: SymbolBinding, range_: Any) -> Guard | None:
        if isinstance(binding.value, torch.SymFloat):
            return None
        low = int(range_.lower) if range_.lower.is_Integer else binding.least
        if low is not None and binding.least is not None:
            low = max(low, binding.least)
        high = int(range_.upper) if range_.upper.is_Integer else None
        text = "{0}"
        if low is not None and (low > 0 or not _is_size(binding)):
            text = f"{low} <= {text}"
        if high is not None and high < 2**62:
            text = f"{text} <= {high}"
        if text == "{0}":
            return None
        guard = _shape_guard(text, [binding.sources[0]])
        for expr, where in reversed(self._asked_by):
            if binding.name in {str(symbol) for symbol in expr.free_symbols}:
                guard.step, guard.code, guard.line = where.step, where.code, where.line
                break
        return guard

    def _from_expr(self, expr: Any, where: Where) -> Guard:
        printer = _SourcePrinter(self.fakes.symbols)
        guard = _shape_guard(printer.doprint(expr), printer.sources)
        guard.step, guard.code, guard.line = where.step, where.code, where.line
        return guard

    def _stride_guards(self) -> list[Guard]:
        guards = []
        for tracked in self.fakes.tracked:
            for dim, stride in enumerate(tracked.strides):
                if isinstance(stride, torch.SymInt):
                    printer, own = _SourcePrinter(self.fakes.symbols), StrideSource(tracked.source, dim)
                    text, at = printer.doprint(stride.node.expr), len(printer.sources)
                    if (text, printer.sources) != ("{0}", [own]):
                        guards.append(_shape_guard(f"{{{at}}} == {text}", [*printer.sources, own]))
        return guards


def _is_size(binding: SymbolBinding) -> bool:
    """Whether its value can never be negative."""
    return any(isinstance(source, (SizeSource, StrideSource)) for source in binding.sources)


def _range_of(env: Any, binding: SymbolBinding) -> Any:
    symbol = next(s for s in env.var_to_range if str(s) == binding.name)
    return env.var_to_range[symbol]


def _is_bound(expr: Any) -> bool:
    """Whether `expr` compares one bare integer symbol with a number (its range then says the same)."""
    return (
        isinstance(expr, (sympy.Lt, sympy.Le, sympy.Gt, sympy.Ge))
        and any(side.is_Symbol and side.is_integer for side in expr.args)
        and any(side.is_number for side in expr.args)
    )


def _shape_guard(text: str, sources: list[Source]) -> Guard:
    return make.shape(text, sources)


class _SourcePrinter(PythonPrinter):
    """Prints an expression with `{0}`, `{1}`, ... for its symbols; `sources` says what they stand for."""

    def __init__(self, symbols: dict[str, SymbolBinding]) -> None:
        super().__init__()
        self._symbols = symbols
        self.sources: list[Source] = []

    def _print_Symbol(self, expr: Any) -> str:
        source = self._symbols[str(expr)].sources[0]
        if source not in self.sources:
            self.sources.append(source)
        return f"{{{self.sources.index(source)}}}"

    # torch's printer asks torch, for symbols; guards are checked on numbers.
    def _print_ToFloat(self, expr: Any) -> str:
        return f"float({self._print(expr.args[0])})"

    def _helper_sqrt(self, expr: Any) -> str:
        return f"math.sqrt({self._print(expr)})"
