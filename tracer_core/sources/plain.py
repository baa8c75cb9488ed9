"""The builtin value inside an instance of a class that inherits from a builtin value."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from tracer_core.runtime.numbers import PLAIN
from tracer_core.sources.base import Const, Scope, SourceCode, Step


@dataclass(frozen=True, eq=False)
class PlainValueSource(Step):
    """The object at `of` as the builtin type `base` that its class inherits from."""

    base_type: type

    @cached_property
    def name(self) -> str:
        return f"{self.base_type.__name__}({self.of.name})"

    def step(self, base: Any, scope: Scope) -> Any:
        return PLAIN[self.base_type](base)

    def expr(self, base: str, const: Const) -> str:
        return f"{const(PLAIN[self.base_type])}({base})"

    def rebuild(self, code: SourceCode) -> None:
        code.call_const(PLAIN[self.base_type], lambda: code.load_source(self.of))
