"""Sources of numbers as tensors: a number that is unknown at trace time enters a graph as a tensor, so that back ends
that take only tensors can compile it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

from tracer_core.runtime.numbers import float_tensor, int_tensor
from tracer_core.sources.base import Const, Scope, Source, SourceCode, Step


@dataclass(frozen=True, eq=False)
class NumberTensorSource(Step):
    """The Python number at `of` as a tensor; subclasses set the type."""

    convert: ClassVar[Callable[..., Any]]

    @cached_property
    def name(self) -> str:
        return f"torch.tensor({self.of.name})"

    @property
    def given(self) -> Source:
        return self.of.given

    def step(self, base: Any, scope: Scope) -> Any:
        return type(self).convert(base)

    def expr(self, base: str, const: Const) -> str:
        return f"{const(type(self).convert)}({base})"

    def rebuild(self, code: SourceCode) -> None:
        code.call_const(type(self).convert, lambda: code.load_source(self.of))


@dataclass(frozen=True, eq=False)
class FloatTensorSource(NumberTensorSource):
    """The Python float at `of` as a tensor."""

    convert: ClassVar[Callable[..., Any]] = staticmethod(float_tensor)


@dataclass(frozen=True, eq=False)
class IntTensorSource(NumberTensorSource):
    """The Python int at `of`, which fits in 64 bits, as a tensor."""

    convert: ClassVar[Callable[..., Any]] = staticmethod(int_tensor)
