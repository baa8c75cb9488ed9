"""The object that a weak reference leads to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tracer_core.bytecode import CallShape, Instruction, make
from tracer_core.sources.base import Const, Load, Scope, Step


@dataclass(frozen=True, eq=False)
class ReferentSource(Step):
    """What a `weakref.ref` gives when called."""

    @property
    def name(self) -> str:
        return f"{self.of.atom}()"

    def step(self, base: Any, scope: Scope) -> Any:
        return base()

    def expr(self, base: str, const: Const) -> str:
        return f"{base}()"

    def rebuild(self, load: Load) -> list[Instruction]:
        return [make("PUSH_NULL"), *load(self.of), make("CALL", CallShape(0))]
