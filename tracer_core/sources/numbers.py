"""Numbers as tensors: how a float that varies between calls enters a graph."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tracer_core.bytecode import CallShape, Instruction, make
from tracer_core.sources.base import Const, Load, Scope, Step


def float_tensor(value: float) -> Any:
    """`value` as a tensor without dimensions, in double precision, on the CPU whatever the default device is."""
    import torch

    return torch.tensor(value, dtype=torch.float64, device="cpu")


@dataclass(frozen=True, eq=False)
class FloatTensorSource(Step):
    """The Python float at `of` as a tensor."""

    @property
    def name(self) -> str:
        return f"torch.tensor({self.of.name})"

    def step(self, base: Any, scope: Scope) -> Any:
        return float_tensor(base)

    def expr(self, base: str, const: Const) -> str:
        return f"{const(float_tensor)}({base})"

    def rebuild(self, load: Load) -> list[Instruction]:
        return [make("PUSH_NULL"), make("LOAD_CONST", float_tensor), *load(self.of), make("CALL", CallShape(1))]
