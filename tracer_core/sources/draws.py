"""Values that the generated code draws from a random generator before it calls the graph."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from tracer_core.sources.base import Const, Scope, Source, SourceCode


@dataclass(frozen=True, eq=False)
class DrawnSource(Source):
    """The result of draw number `index` of the frame. It exists only in the generated code, so nothing can be guarded
    on it. `label` is the call as people read it."""

    index: int
    label: str = field(compare=False)

    @property
    def variable(self) -> str:
        """Return the temporary of the generated code that holds it."""
        return f"___drawn{self.index}"

    @cached_property
    def name(self) -> str:
        return f"{self.label} [draw {self.index}]"

    @cached_property
    def exact(self) -> str:
        return self.name

    def step(self, base: Any, scope: Scope) -> Any:
        raise TypeError(f"{self.name} is drawn when the generated code runs: it has no value before")

    def expr(self, base: str, const: Const) -> str:
        raise TypeError(f"{self.name} is drawn after the guards are checked: it cannot be guarded")

    def rebuild(self, code: SourceCode) -> None:
        code.load_local(self.variable)
