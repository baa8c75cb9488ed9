"""`LazyVariableTracker`: a value that no operation has needed yet."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
import torch.fx

from tracer_core.guards.describe import dtype_text, shape_text
from tracer_core.names.code import class_name
from tracer_core.sources import Source
from tracer_core.variables.core.base import VariableTracker


class LazyVariableTracker(VariableTracker):
    """A placeholder for an external value until an operation needs it; only then is it tracked and guarded."""

    __slots__ = ("_look_at", "real", "realized")
    kind = "lazy value"

    def __init__(self, real: Any, source: Source, look_at: Callable[[LazyVariableTracker], VariableTracker]) -> None:
        super().__init__(source)
        self.real = real
        self._look_at = look_at
        self.realized: VariableTracker | None = None

    def realize(self) -> VariableTracker:
        if self.realized is None:
            self.realized = self._look_at(self)
        return self.realized

    def python_type(self) -> type:
        return type(self.real) if self.realized is None else self.realized.python_type()

    def describe(self) -> str:
        if self.realized is not None:
            return self.realized.describe()
        name = class_name(self.python_type(), "__name__")
        if type(self.real) in (torch.Tensor, torch.nn.Parameter) and self.real.layout is torch.strided:
            return f"{name} {dtype_text(self.real.dtype)}{shape_text(self.real)}"
        return name

    def parts(self) -> list[tuple[str, VariableTracker]]:
        return [] if self.realized is None else [("realized", self.realized)]

    @property
    def node(self) -> torch.fx.Node | None:
        return None if self.realized is None else self.realized.node

    @property
    def fake(self) -> Any:
        return None if self.realized is None else self.realized.fake

    def value(self) -> Any:
        return self.realize().value()
