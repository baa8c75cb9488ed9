"""Python functions and methods: from outside, and made by the trace."""

from __future__ import annotations

import functools
import types
from dataclasses import dataclass, field
from types import CodeType, FunctionType
from typing import Any

from tracer_core.errors import Unsupported
from tracer_core.guards import make
from tracer_core.polyfills import stand_in_for
from tracer_core.polyfills.registry import WALKED_THROUGH, wrapped_in_cell
from tracer_core.sources import (
    AttrSource,
    CellContentsSource,
    ClosureSource,
    ConstSource,
    DefaultsSource,
    KwDefaultsSource,
    Source,
)
from tracer_core.variables.base import Tracing, VariableTracker
from tracer_core.variables.constant import DELETED


class CellVariable(VariableTracker):
    """A closure cell. `contents` is None while it is empty. `real` is the cell object, where there is one."""

    __slots__ = ("contents", "real")
    kind = "cell"
    mutable = True

    def __init__(
        self, contents: VariableTracker | None = None, source: Source | None = None, real: Any = None
    ) -> None:
        super().__init__(source)
        self.contents = contents
        self.real = real

    def python_type(self) -> type:
        return types.CellType

    def describe(self) -> str:
        return "empty cell" if self.contents is None else f"cell of {self.contents.realize().describe()}"

    def parts(self) -> list[tuple[str, VariableTracker]]:
        return [] if self.contents is None else [("contents", self.contents)]

    def store(self, tx: Tracing, value: VariableTracker | None) -> None:
        tx.output.side_effects.changes(self, "cell", "a closed-over variable is set")
        self.contents = value

    def attribute(self, tx: Tracing, name: str) -> VariableTracker | None:
        if name == "cell_contents":
            if self.contents is None:
                tx.raise_(ValueError, "Cell is empty")
            return self.contents
        return None


@dataclass(slots=True)
class InlineTarget:
    """What is needed to walk a function's code symbolically."""

    code: CodeType
    globals: dict[str, Any]
    closure: list[CellVariable]
    defaults: list[VariableTracker]
    kwdefaults: dict[str, VariableTracker]
    name: str
    source: Source | None = None
    function: Any = field(default=None)


class FunctionVariable(VariableTracker):
    """Anything with Python code that can be walked."""

    __slots__ = ()
    kind = "function"
    mutable = True

    def target(self, tx: Tracing) -> InlineTarget:
        raise NotImplementedError


class UserFunctionVariable(FunctionVariable):
    """A function that exists outside the trace."""

    __slots__ = ("attributes", "function")

    def __init__(self, function: FunctionType, source: Source | None) -> None:
        super().__init__(source)
        self.function = function
        self.attributes: dict[str, VariableTracker] = {}

    def python_type(self) -> type:
        return FunctionType

    def describe(self) -> str:
        return f"function {self.function.__qualname__}"

    def value(self) -> Any:
        return self.function

    def truth(self, tx: Tracing) -> bool:
        return True

    def origin(self) -> Source:
        """Where its defaults and cells are found."""
        return self.source if self.source is not None else ConstSource.of_object(self.function)

    def target(self, tx: Tracing) -> InlineTarget:
        function, source = self.function, self.origin()
        stand_in = stand_in_for(function)
        if stand_in is not None:
            function, source = stand_in, ConstSource.of_object(stand_in)
        elif function.__code__ in WALKED_THROUGH:
            function, source = function.__wrapped__, AttrSource(source, "__wrapped__")  # type: ignore[attr-defined]
        elif (wrapped := wrapped_in_cell(function)) is not None:
            index, function = wrapped
            source = CellContentsSource(ClosureSource(source, index))
        defaults = [tx.lazy(value, DefaultsSource(source, i)) for i, value in enumerate(function.__defaults__ or ())]
        kwdefaults = {
            name: tx.lazy(value, KwDefaultsSource(source, name))
            for name, value in (function.__kwdefaults__ or {}).items()
        }
        closure = [
            cell_from_outside(tx, cell, ClosureSource(source, i)) for i, cell in enumerate(function.__closure__ or ())
        ]
        return InlineTarget(
            function.__code__,
            function.__globals__,
            closure,
            defaults,
            kwdefaults,
            function.__qualname__,
            source,
            function,
        )

    def attribute(self, tx: Tracing, name: str) -> VariableTracker | None:
        if name in self.attributes:
            value = self.attributes[name]
            return None if value is DELETED else value
        if name in ("__closure__", "__globals__", "__builtins__"):
            return None
        if name in ("__get__", "__call__"):
            return BuiltinMethodVariable(self, name)
        try:
            value = getattr(self.function, name)
        except AttributeError:
            tx.guard(make.lacks_attr(self.origin(), name))
            return None
        return tx.build(value, AttrSource(self.origin(), name))

    def set_attribute(self, tx: Tracing, name: str, value: VariableTracker) -> bool:
        if name.startswith("__"):
            return False
        tx.output.side_effects.changes(self, "attributes", f"attribute {name} is set")
        self.attributes[name] = value
        return True


def cell_from_outside(tx: Tracing, cell: Any, source: Source) -> CellVariable:
    """The tracker of an existing cell; the same cell met twice gives the same tracker."""
    known = tx.output.trackers_by_object.get(id(cell))
    if isinstance(known, CellVariable):
        return known
    try:
        contents = tx.lazy(cell.cell_contents, CellContentsSource(source))
    except ValueError:
        tx.guard(make.cell_empty(source))
        contents = None
    tracker = CellVariable(contents, source, cell)
    tx.output.trackers_by_object[id(cell)] = tracker
    tx.output.kept_alive.append(cell)
    return tracker


# What a function keeps beside its `__dict__`.
_FIXED_ATTRIBUTES = ("__annotations__", "__doc__", "__module__", "__name__", "__qualname__")


class NestedFunctionVariable(FunctionVariable):
    """A function that the trace made (`def` or `lambda` inside it)."""

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

    def truth(self, tx: Tracing) -> bool:
        return True

    def target(self, tx: Tracing) -> InlineTarget:
        from tracer_core.variables.dicts import DictVariable

        defaults = items_of(tx, self.defaults)
        kwdefaults: dict[str, VariableTracker] = {}
        if self.kwdefaults is not None:
            given = self.kwdefaults.realize()
            if isinstance(given, DictVariable):
                kwdefaults = {key.realize().value(): value for key, value in given.entries(tx)}
        return InlineTarget(self.code, self.globals, self.closure, defaults, kwdefaults, self.qualname)

    def attribute(self, tx: Tracing, name: str) -> VariableTracker | None:
        if name in self.attributes:
            return self.attributes[name]
        simple = {
            "__name__": self.code.co_name,
            "__qualname__": self.qualname,
            "__module__": self.globals.get("__name__"),
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
            return BuiltinMethodVariable(self, name)
        from tracer_core.variables.dicts import DictVariable

        if name == "__dict__":
            own = [(tx.constant(key), v) for key, v in self.attributes.items() if key not in _FIXED_ATTRIBUTES]
            return DictVariable(own)
        if name == "__annotations__":
            flat = items_of(tx, self.annotations)
            self.attributes[name] = DictVariable(list(zip(flat[::2], flat[1::2], strict=True)))
            self.annotations = None
            return self.attributes[name]
        return None

    def set_attribute(self, tx: Tracing, name: str, value: VariableTracker) -> bool:
        if name in ("__closure__", "__code__", "__globals__"):
            return False
        tx.output.side_effects.changes(self, "attributes", f"attribute {name} is set")
        if name == "__defaults__":
            self.defaults = value
        elif name == "__kwdefaults__":
            self.kwdefaults = value
        else:
            self.attributes[name] = value
        return True


class MethodVariable(VariableTracker):
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

    def truth(self, tx: Tracing) -> bool:
        return True

    def attribute(self, tx: Tracing, name: str) -> VariableTracker | None:
        if name == "__self__":
            return self.self_
        if name == "__func__":
            return self.function
        return self.function.attribute(tx, name)

    def call(self, tx: Tracing, args: list[VariableTracker], kwargs: dict[str, VariableTracker]) -> VariableTracker:
        return tx.call(self.function, [self.self_, *args], kwargs)


class BuiltinMethodVariable(VariableTracker):
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

    def truth(self, tx: Tracing) -> bool:
        return True

    def value(self) -> Any:
        return getattr(self.self_.value(), self.name)

    def attribute(self, tx: Tracing, name: str) -> VariableTracker | None:
        if name == "__self__":
            return self.self_
        return tx.constant(self.name) if name == "__name__" else None


class SkippedFunctionVariable(VariableTracker):
    """A function that is not walked: calling it breaks the graph and says why."""

    __slots__ = ("function", "why")
    kind = "function left to Python"

    def __init__(self, function: Any, why: str, source: Source | None) -> None:
        super().__init__(source)
        self.function = function
        self.why = why

    def python_type(self) -> type:
        return type(self.function)

    def describe(self) -> str:
        return f"function {name_of(self.function)}"

    def value(self) -> Any:
        return self.function

    def truth(self, tx: Tracing) -> bool:
        return True

    def call(self, tx: Tracing, args: list[VariableTracker], kwargs: dict[str, VariableTracker]) -> VariableTracker:
        from tracer_core.variables.replayed import replay_skipped

        replayed = replay_skipped(tx, self.function, args, kwargs)
        if replayed is not None:
            return replayed
        raise Unsupported("skipped-function", what=name_of(self.function), why=self.why)

    def attribute(self, tx: Tracing, name: str) -> VariableTracker | None:
        try:
            value = getattr(self.function, name)
        except AttributeError:
            return None
        return tx.build(value, AttrSource(self.source or ConstSource.of_object(self.function), name))


class PartialVariable(VariableTracker):
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

    def set_attribute(self, tx: Tracing, name: str, value: VariableTracker) -> bool:
        if name in ("func", "args", "keywords") or value is DELETED:
            return False
        tx.output.side_effects.changes(self, "attributes", f"attribute {name} is set")
        self.attributes[name] = value
        return True

    def describe(self) -> str:
        return f"partial of {self.function.realize().describe()}"

    def parts(self) -> list[tuple[str, VariableTracker]]:
        positional = [(f"argument {i}", arg) for i, arg in enumerate(self.args)]
        return [("function", self.function), *positional, *self.keywords.items()]

    def truth(self, tx: Tracing) -> bool:
        return True

    def value(self) -> Any:
        args = [arg.realize().value() for arg in self.args]
        return functools.partial(
            self.function.realize().value(), *args, **{k: v.realize().value() for k, v in self.keywords.items()}
        )

    def attribute(self, tx: Tracing, name: str) -> VariableTracker | None:
        from tracer_core.variables.dicts import DictVariable
        from tracer_core.variables.sequences import TupleVariable

        if name == "func":
            return self.function
        if name == "args":
            return TupleVariable(list(self.args))
        if name == "keywords":
            return DictVariable([(tx.constant(key), value) for key, value in self.keywords.items()])
        return self.attributes.get(name)

    def call(self, tx: Tracing, args: list[VariableTracker], kwargs: dict[str, VariableTracker]) -> VariableTracker:
        return tx.call(self.function, [*self.args, *args], {**self.keywords, **kwargs})


def items_of(tx: Tracing, tracker: VariableTracker | None) -> list[VariableTracker]:
    """The items of a tuple that may be missing or None."""
    return [] if tracker is None else tracker.realize().items_or_none(tx) or []


def name_of(function: Any) -> str:
    """`module.qualname` of anything callable, as far as it has one."""
    module = getattr(function, "__module__", None)
    name = getattr(function, "__qualname__", None) or getattr(function, "__name__", None) or type(function).__name__
    return name if module in (None, "builtins", "__main__") else f"{module}.{name}"
