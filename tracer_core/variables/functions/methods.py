"""Methods bound to an object: those with Python code, and those of builtin types."""

from __future__ import annotations

import types
from typing import Any

from tracer_core.sources import Source
from tracer_core.variables.core.base import ByParts, VariableTracker
from tracer_core.variables.core.keys import identity_key, key_of
from tracer_core.variables.core.tracing import Tracing

# Attributes of the method itself; all others are its function's.
_OF_METHODS = frozenset(dir(types.MethodType)) - {"__doc__"}


class UserMethodVariable(VariableTracker):
    """A Python function bound to an object."""

    __slots__ = ("function", "self_")
    kind = "method"

    def __init__(self, function: VariableTracker, self_: VariableTracker, source: Source | None = None) -> None:
        super().__init__(source)
        self.function = function
        self.self_ = self_

    def python_type(self) -> type:
        return types.MethodType

    def describe(self) -> str:
        return f"method {self.function.describe().removeprefix('function ')}"

    def parts(self) -> list[tuple[str, VariableTracker]]:
        return [("self", self.self_), ("function", self.function)]

    def key(self, tx: Tracing | None) -> Any:
        return ByParts(self, identity_key(self.self_), key_of(tx, self.function))

    def attribute(self, tx: Tracing, name: str) -> VariableTracker | None:
        if name == "__self__":
            return self.self_
        if name == "__func__":
            return self.function
        return None if name in _OF_METHODS else self.function.attribute(tx, name)

    def call(self, tx: Tracing, args: list[VariableTracker], kwargs: dict[str, VariableTracker]) -> VariableTracker:
        return tx.call(self.function, [self.self_, *args], kwargs)


class BoundBuiltinMethodVariable(VariableTracker):
    """A method of a builtin type bound to a tracked value: `items.append`."""

    __slots__ = ("name", "self_")
    kind = "builtin method"

    def __init__(self, self_: VariableTracker, name: str, source: Source | None = None) -> None:
        super().__init__(source)
        self.self_ = self_
        self.name = name

    def python_type(self) -> type:
        return types.BuiltinMethodType

    def describe(self) -> str:
        return f"method {self.self_.python_type_name()}.{self.name}"

    def parts(self) -> list[tuple[str, VariableTracker]]:
        return [("self", self.self_)]

    def value(self) -> Any:
        return getattr(self.self_.value(), self.name)

    def key(self, tx: Tracing | None) -> Any:
        return ByParts(self, identity_key(self.self_), self.name) if self.self_.mutable else super().key(tx)

    def attribute(self, tx: Tracing, name: str) -> VariableTracker | None:
        if name == "__self__":
            return self.self_
        return tx.constant(self.name) if name == "__name__" else None
