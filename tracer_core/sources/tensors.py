"""What a tensor tells of itself: sizes, strides, its place in its storage, its gradient."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import torch

from tracer_core.sources.base import Const, Scope, Source, SourceCode, Step
from tracer_core.sources.parts import AttrSource


@dataclass(frozen=True, eq=False)
class _DimSource(Step):
    """The result of `method` for one dimension of a tensor."""

    dim: int

    method: ClassVar[str]

    @cached_property
    def name(self) -> str:
        return self.expr(self.of.atom, repr)

    @property
    def passed_by(self) -> str:
        return self.of.passed_by

    def step(self, base: Any, scope: Scope) -> Any:
        return getattr(base, self.method)(self.dim)

    def expr(self, base: str, const: Const) -> str:
        return f"{base}.{self.method}({self.dim})"

    def rebuild(self, code: SourceCode) -> None:
        code.call_method(lambda: code.load_source(self.of), self.method, lambda: code.const(self.dim))


class SizeSource(_DimSource):
    """One size of a tensor."""

    method = "size"


class StrideSource(_DimSource):
    """One stride of a tensor, in elements."""

    method = "stride"


@dataclass(frozen=True, eq=False)
class OffsetSource(Step):
    """The position in a tensor's storage where it starts, in elements."""

    @cached_property
    def name(self) -> str:
        return f"{self.of.atom}.storage_offset()"

    def step(self, base: Any, scope: Scope) -> Any:
        return base.storage_offset()

    def expr(self, base: str, const: Const) -> str:
        return f"{base}.storage_offset()"

    def rebuild(self, code: SourceCode) -> None:
        code.call_method(lambda: code.load_source(self.of), "storage_offset")


_WOULD_WARN = object()


def keeps_grad(tensor: torch.Tensor) -> bool:
    """Return whether torch returns the `.grad` of a tensor without a warning."""
    return tensor.is_leaf or tensor.retains_grad


def quiet_grad(tensor: torch.Tensor) -> Any:
    """Return the `.grad` of a tensor; where torch would warn, an object that no gradient is equal to."""
    return tensor.grad if keeps_grad(tensor) else _WOULD_WARN


class GradSource(AttrSource):
    """The `.grad` of a tensor for which torch does not warn. A guard on it fails for other tensors."""

    def __init__(self, of: Source) -> None:
        super().__init__(of, "grad")

    @cached_property
    def exact(self) -> str:
        return f"{self.of.exact}.grad"

    def step(self, base: Any, scope: Scope) -> Any:
        return quiet_grad(base)

    def expr(self, base: str, const: Const) -> str:
        return f"{const(quiet_grad)}({base})"
