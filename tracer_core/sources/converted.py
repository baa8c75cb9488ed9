"""Values converted by a function without side effects: an array as a tensor, a NumPy scalar as a number."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from tracer_core.sources.base import ById, Const, Scope, SourceCode, Step


@dataclass(frozen=True, eq=False)
class ConvertedSource(Step):
    """`convert(of)`, under the name by which people know that function."""

    convert: ById
    label: str = field(compare=False)

    @cached_property
    def name(self) -> str:
        return f"{self.label}({self.of.name})"

    def step(self, base: Any, scope: Scope) -> Any:
        return self.convert.value(base)

    def expr(self, base: str, const: Const) -> str:
        return f"{const(self.convert.value)}({base})"

    def rebuild(self, code: SourceCode) -> None:
        code.call_const(self.convert.value, lambda: code.load_source(self.of))
