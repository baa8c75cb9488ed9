"""Functions created in the trace: `def` and `lambda` inside it."""

from __future__ import annotations

from types import CodeType, FunctionType, NoneType
from typing import Any

from tracer_core.variables.containers.dicts import ConstDictVariable
from tracer_core.variables.containers.instance_dicts import InstanceDictVariable
from tracer_core.variables.containers.slots import raise_not_there
from tracer_core.variables.core.base import VariableTracker
from tracer_core.variables.core.constant import DELETED
from tracer_core.variables.core.tracing import Tracing
from tracer_core.variables.functions.cells import CellVariable
from tracer_core.variables.functions.functions import BaseUserFunctionVariable, InlineTarget
from tracer_core.variables.functions.methods import BoundBuiltinMethodVariable

# Attributes that a function stores outside its `__dict__`, and the types that they accept.
_FIXED_ATTRIBUTES = {
    "__annotations__": dict,
    "__doc__": object,
    "__module__": object,
    "__name__": str,
    "__qualname__": str,
}
_WRITABLE: dict[str, Any] = {
    **_FIXED_ATTRIBUTES,
    "__defaults__": (tuple, NoneType),
    "__kwdefaults__": (dict, NoneType),
}


class NestedUserFunctionVariable(BaseUserFunctionVariable):
    """A function created in the trace (`def` or `lambda` inside it)."""

    __slots__ = ("annotations", "attributes", "closure", "code", "defaults", "globals", "kwdefaults", "qualname")
    kind = "inner function"

    def __init__(
        self,
        code: CodeType,
        globals: dict[str, Any],
        closure: list[CellVariable],
        defaults: VariableTracker | None,
        kwdefaults: VariableTracker | None,
        annotations: VariableTracker | None,
    ) -> None:
        super().__init__()
        self.code = code
        self.qualname = code.co_qualname
        self.globals = globals
        self.closure = closure
        self.defaults = defaults
        self.kwdefaults = kwdefaults
        self.annotations = annotations
        self.attributes: dict[str, VariableTracker] = {}

    def python_type(self) -> type:
        return FunctionType

    def describe(self) -> str:
        return f"function {self.qualname}"

    def parts(self) -> list[tuple[str, VariableTracker]]:
        return [(name, cell) for name, cell in zip(self.code.co_freevars, self.closure, strict=True)]

    def target(self, tx: Tracing) -> InlineTarget:
        defaults = items_of(tx, self.defaults)
        kwdefaults: dict[str, VariableTracker] = {}
        if self.kwdefaults is not None:
            given = self.kwdefaults.realize()
            if isinstance(given, ConstDictVariable):
                kwdefaults = {key.realize().value(): value for key, value in given.entries(tx)}
        return InlineTarget(self.code, self.globals, self.closure, defaults, kwdefaults, self.qualname)

    def names(self, tx: Tracing) -> tuple[VariableTracker | None, ...]:
        return self.attributes.get("__name__"), self.attributes.get("__qualname__")

    def attribute(self, tx: Tracing, name: str) -> VariableTracker | None:
        if name in self.attributes:
            return self.attributes[name]
        simple = {
            "__name__": self.code.co_name,
            "__qualname__": self.qualname,
            "__module__": self.globals.get("__name__"),
            "__code__": self.code,
        }
        if name in simple:
            return tx.constant(simple[name])
        if name == "__doc__":
            consts = self.code.co_consts
            return tx.constant(consts[0] if consts and isinstance(consts[0], str) else None)
        parts = {"__defaults__": self.defaults, "__kwdefaults__": self.kwdefaults}
        if name in parts:
            return parts[name] or tx.constant(None)
        if name in ("__get__", "__call__"):
            return BoundBuiltinMethodVariable(self, name)
        if name == "__dict__":
            return InstanceDictVariable(self, self)
        if name == "__annotations__":
            flat = items_of(tx, self.annotations)
            tx.trace.journal.save(self)
            self.attributes[name] = ConstDictVariable(list(zip(flat[::2], flat[1::2], strict=True)))
            self.annotations = None
            return self.attributes[name]
        return None

    def set_attribute(self, tx: Tracing, name: str, value: VariableTracker) -> bool:
        if name in vars(FunctionType) or name == "__class__":
            taken = _WRITABLE.get(name)
            if value is DELETED or taken is None or not issubclass(value.realize().python_type(), taken):
                return False
        elif value is DELETED and name not in self.attributes:
            raise_not_there(tx, self, name)
        tx.trace.side_effects.changes(self, "attributes", f"attribute {name} is set")
        if value is DELETED:
            del self.attributes[name]
        elif name == "__defaults__":
            self.defaults = value
        elif name == "__kwdefaults__":
            self.kwdefaults = value
        else:
            if name == "__annotations__":
                self.annotations = None
            self.attributes[name] = value
        return True

    def stored(self, tx: Tracing, name: str) -> VariableTracker | None:
        return None if name in _FIXED_ATTRIBUTES else self.attributes.get(name)

    def dict_store(self, tx: Tracing, name: str, value: VariableTracker) -> None:
        self.set_attribute(tx, name, value)

    def dict_entries(self, tx: Tracing) -> dict[str, VariableTracker]:
        return {name: value for name, value in self.attributes.items() if name not in _FIXED_ATTRIBUTES}


def items_of(tx: Tracing, tracker: VariableTracker | None) -> list[VariableTracker]:
    """Return the items of a tuple that may be missing or None."""
    return [] if tracker is None else tracker.realize().items_or_none(tx) or []
