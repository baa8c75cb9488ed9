"""`functools.partial` objects."""

from __future__ import annotations

import functools
import gc
from typing import Any

from tracer_core.sources import Source
from tracer_core.variables.containers.dicts import ConstDictVariable
from tracer_core.variables.containers.sequences import TupleVariable
from tracer_core.variables.core.base import ByIdentity, VariableTracker
from tracer_core.variables.core.constant import DELETED
from tracer_core.variables.core.tracing import Tracing


class FunctoolsPartialVariable(VariableTracker):
    """A `functools.partial`."""

    __slots__ = ("args", "attributes", "function", "keywords")
    kind = "partial"
    mutable = True

    def __init__(
        self,
        function: VariableTracker,
        args: list[VariableTracker],
        keywords: dict[str, VariableTracker],
        source: Source | None = None,
    ) -> None:
        super().__init__(source)
        self.function = function
        self.args = args
        self.keywords = keywords
        self.attributes: dict[str, VariableTracker] = {}

    def python_type(self) -> type:
        return functools.partial

    def key(self, tx: Tracing | None) -> Any:
        return ByIdentity(self)

    def set_attribute(self, tx: Tracing, name: str, value: VariableTracker) -> bool:
        if value is DELETED or hasattr(functools.partial, name):
            return False
        tx.trace.side_effects.changes(self, "attributes", f"attribute {name} is set")
        self.attributes[name] = value
        return True

    def has_dict(self, tx: Tracing) -> bool:
        """Return whether it has attributes: then a partial of it does not merge with it."""
        if self.source is None or self.attributes:
            return bool(self.attributes)
        # (Reading its `__dict__` would create one.)
        real = tx.trace.real_value(self)
        known = (id(real.func), id(real.args), id(real.keywords), id(type(real)))
        return any(type(held) is dict and id(held) not in known for held in gc.get_referents(real))

    def describe(self) -> str:
        return f"partial of {self.function.describe()}"

    def parts(self) -> list[tuple[str, VariableTracker]]:
        positional = [(f"argument {i}", arg) for i, arg in enumerate(self.args)]
        return [("function", self.function), *positional, *self.keywords.items()]

    def value(self) -> Any:
        args = [arg.realize().value() for arg in self.args]
        return functools.partial(
            self.function.realize().value(), *args, **{k: v.realize().value() for k, v in self.keywords.items()}
        )

    def attribute(self, tx: Tracing, name: str) -> VariableTracker | None:
        if name == "func":
            return self.function
        if name == "args":
            return TupleVariable(list(self.args))
        if name == "keywords":
            return ConstDictVariable([(tx.constant(key), value) for key, value in self.keywords.items()])
        return self.attributes.get(name)

    def call(self, tx: Tracing, args: list[VariableTracker], kwargs: dict[str, VariableTracker]) -> VariableTracker:
        return tx.call(self.function, [*self.args, *args], {**self.keywords, **kwargs})
