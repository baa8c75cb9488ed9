"""The referent of a weak reference."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from tracer_core.sources.base import Const, Scope, SourceCode, Step


@dataclass(frozen=True, eq=False)
class ReferentSource(Step):
    """The result of calling a `weakref.ref`."""

    @cached_property
    def name(self) -> str:
        return f"{self.of.atom}()"

    def step(self, base: Any, scope: Scope) -> Any:
        return base()

    def expr(self, base: str, const: Const) -> str:
        return f"{base}()"

    def rebuild(self, code: SourceCode) -> None:
        code.call(lambda: code.load_source(self.of))
