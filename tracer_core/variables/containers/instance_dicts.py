"""The `__dict__` of objects, functions, exceptions and modules: a view on the attributes in their trackers."""

from __future__ import annotations

from collections.abc import Container
from typing import Protocol

from tracer_core.variables.core.base import VariableTracker
from tracer_core.variables.core.tracing import Tracing


def with_changes(
    entries: dict[str, VariableTracker], attributes: dict[str, VariableTracker], deleted: Container[str]
) -> dict[str, VariableTracker]:
    """Return `entries` without those that the trace deleted, followed by those that it set, as in Python."""
    return {name: value for name, value in entries.items() if name not in deleted} | attributes


class HasDict(Protocol):
    """A tracker of a value with a `__dict__`. `dict_store` takes `DELETED` to delete."""

    def describe(self) -> str: ...
    def parts(self) -> list[tuple[str, VariableTracker]]: ...
    def stored(self, tx: Tracing, name: str) -> VariableTracker | None: ...
    def dict_store(self, tx: Tracing, name: str, value: VariableTracker) -> None: ...
    def dict_entries(self, tx: Tracing) -> dict[str, VariableTracker]: ...


class InstanceDictVariable(VariableTracker):
    """`obj.__dict__`: reads and writes bypass descriptors and reach the object's attributes."""

    __slots__ = ("of", "owner")
    kind = "instance dict"
    mutable = True

    def __init__(self, owner: VariableTracker, of: HasDict) -> None:
        super().__init__()
        self.owner = owner
        self.of = of

    def python_type(self) -> type:
        return dict

    def describe(self) -> str:
        return f"__dict__ of {self.of.describe()}"

    def parts(self) -> list[tuple[str, VariableTracker]]:
        return self.of.parts()

    def items_or_none(self, tx: Tracing) -> list[VariableTracker] | None:
        return [tx.constant(name) for name in self.of.dict_entries(tx)]

    def entries(self, tx: Tracing) -> list[tuple[VariableTracker, VariableTracker]]:
        return [(tx.constant(name), value) for name, value in self.of.dict_entries(tx).items()]

    def truth(self, tx: Tracing) -> bool:
        return bool(self.of.dict_entries(tx))
