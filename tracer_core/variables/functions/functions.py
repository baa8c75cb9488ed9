"""Functions that exist before the trace: inlined, or called as plain Python."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import CodeType, FunctionType
from typing import Any

from tracer_core.errors import Unsupported
from tracer_core.guards import make
from tracer_core.names.code import function_name
from tracer_core.names.public import name_of
from tracer_core.polyfills import stand_in_for
from tracer_core.polyfills.registry import wrapped_in_cell
from tracer_core.sources import (
    AttrSource,
    CellContentsSource,
    ClosureSource,
    ConstantSource,
    DefaultsSource,
    InstanceDictSource,
    KwDefaultsSource,
    Source,
)
from tracer_core.variables.containers.instance_dicts import InstanceDictVariable, with_changes
from tracer_core.variables.containers.slots import raise_not_there
from tracer_core.variables.core.base import Args, Kwargs, VariableTracker, all_constant
from tracer_core.variables.core.constant import DELETED, ConstantVariable
from tracer_core.variables.core.plain_packages import ignores_graph_break
from tracer_core.variables.core.tracing import Tracing
from tracer_core.variables.exceptions.exceptions import raise_real
from tracer_core.variables.functions.cells import CellVariable, external_cell
from tracer_core.variables.functions.methods import BoundBuiltinMethodVariable
from tracer_core.variables.functions.replayed_calls import is_not_logged, replay_skipped


@dataclass(slots=True)
class InlineTarget:
    """The parts of a function that inlining it needs."""

    code: CodeType
    globals: dict[str, Any]
    closure: list[CellVariable]
    defaults: list[VariableTracker]
    kwdefaults: dict[str, VariableTracker]
    name: str
    source: Source | None = None
    function: Any = field(default=None)


class BaseUserFunctionVariable(VariableTracker):
    """A value with Python code that can be inlined."""

    __slots__ = ()
    kind = "function"
    mutable = True

    def target(self, tx: Tracing) -> InlineTarget:
        raise NotImplementedError

    def names(self, tx: Tracing) -> tuple[VariableTracker | None, ...]:
        """Return `__name__` and `__qualname__`, which its generators inherit; None if they are those of its code."""
        raise NotImplementedError


class UserFunctionVariable(BaseUserFunctionVariable):
    """A function that was created before the trace."""

    __slots__ = ("attributes", "deleted", "function")

    def __init__(self, function: FunctionType, source: Source | None) -> None:
        super().__init__(source)
        self.function = function
        self.attributes: dict[str, VariableTracker] = {}
        self.deleted: dict[str, None] = {}

    def python_type(self) -> type:
        return FunctionType

    def describe(self) -> str:
        return f"function {function_name(self.function)}"

    def value(self) -> Any:
        return self.function

    def origin(self) -> Source:
        """Return the source of its defaults and cells."""
        return self.source if self.source is not None else ConstantSource.of_object(self.function)

    def target(self, tx: Tracing) -> InlineTarget:
        function, source = self.function, self.origin()
        stand_in = stand_in_for(function)
        if stand_in is not None:
            function, source = stand_in, ConstantSource.of_object(stand_in)
        elif (wrapped := wrapped_in_cell(function)) is not None:
            index, inner = wrapped
            source = CellContentsSource(ClosureSource.of_function(source, function, index))
            function = inner
        tx.trace.libraries.inlined(function)
        # By their positions from the end, as Python counts them: others may be inserted before them.
        held = function.__defaults__ or ()
        defaults = [
            tx.lazy(value, DefaultsSource.of_function(source, function, at - len(held)))
            for at, value in enumerate(held)
        ]
        kwdefaults = {
            name: tx.lazy(value, KwDefaultsSource(source, name, name))
            for name, value in (function.__kwdefaults__ or {}).items()
        }
        closure = [
            external_cell(tx, cell, ClosureSource.of_function(source, function, i))
            for i, cell in enumerate(function.__closure__ or ())
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

    def names(self, tx: Tracing) -> tuple[VariableTracker | None, ...]:
        function, code = self.function, self.function.__code__
        own = (function.__name__, code.co_name), (function.__qualname__, code.co_qualname)
        places = (AttrSource(self.origin(), name) for name in ("__name__", "__qualname__"))
        return tuple(None if a == b else tx.lazy(a, at) for (a, b), at in zip(own, places, strict=True))

    def attribute(self, tx: Tracing, name: str) -> VariableTracker | None:
        if name in self.attributes or name in self.deleted:
            return self.attributes.get(name)
        if name in ("__closure__", "__globals__", "__builtins__"):
            return None
        if name in ("__get__", "__call__"):
            return BoundBuiltinMethodVariable(self, name)
        if name == "__dict__":
            return InstanceDictVariable(self, self)
        try:
            value = getattr(self.function, name)
        except AttributeError:
            tx.guard(make.lacks_attr(self.origin(), name))
            return None
        return tx.build(value, AttrSource(self.origin(), name))

    def set_attribute(self, tx: Tracing, name: str, value: VariableTracker) -> bool:
        if name.startswith("__"):
            return False
        if value is DELETED and self.stored(tx, name) is None:
            raise_not_there(tx, self, name)
        self.dict_store(tx, name, value)
        return True

    def stored(self, tx: Tracing, name: str) -> VariableTracker | None:
        """Return the contents of the function's `__dict__`, guarded; None if nothing."""
        if name in self.attributes or name in self.deleted:
            return self.attributes.get(name)
        if name in self.function.__dict__:
            return tx.build(self.function.__dict__[name], AttrSource(self.origin(), name))
        tx.guard(make.lacks(InstanceDictSource(self.origin()), name))
        return None

    def dict_store(self, tx: Tracing, name: str, value: VariableTracker) -> None:
        """`f.__dict__[name] = value`, or its deletion."""
        tx.trace.side_effects.changes(self, "attributes", f"attribute {name} is set")
        if value is DELETED:
            self.attributes.pop(name, None)
            self.deleted[name] = None
        else:
            self.attributes[name] = value

    def dict_entries(self, tx: Tracing) -> dict[str, VariableTracker]:
        """Return all of the function's `__dict__`, guarded on its keys."""
        held = self.function.__dict__
        tx.guard(make.dict_keys_are(InstanceDictSource(self.origin()), held))
        entries = {name: tx.lazy(value, AttrSource(self.origin(), name)) for name, value in held.items()}
        return with_changes(entries, self.attributes, self.deleted)


class ConstantFunctionVariable(VariableTracker):
    """A function marked with `torch.compiler.assume_constant_result`: for known arguments it is called once, while
    tracing. `plain` is the function without the mark."""

    __slots__ = ("plain",)
    kind = "function with a constant result"

    def __init__(self, plain: UserFunctionVariable) -> None:
        super().__init__(plain.source)
        self.plain = plain

    def python_type(self) -> type:
        return FunctionType

    def describe(self) -> str:
        return self.plain.describe()

    def value(self) -> Any:
        return self.plain.function

    def truth(self, tx: Tracing) -> bool:
        return True

    def attribute(self, tx: Tracing, name: str) -> VariableTracker | None:
        return self.plain.attribute(tx, name)

    def call(self, tx: Tracing, args: Args, kwargs: Kwargs) -> VariableTracker:
        known = [arg.realize() for arg in args]
        named = {name: arg.realize() for name, arg in kwargs.items()}
        if not all_constant([*known, *named.values()]):
            return tx.call(self.plain, args, kwargs)
        function = self.plain.function
        try:
            result = function(*[arg.value() for arg in known], **{name: arg.value() for name, arg in named.items()})
        except Exception as error:  # noqa: BLE001 - raised in the traced program
            raise_real(tx, error)
        # The result is kept as the same object.
        return tx.build(result, ConstantSource.of_object(result, f"{function.__qualname__}()"))


class SkipFunctionVariable(VariableTracker):
    """A function that is not inlined: calling it breaks the graph, with the reason."""

    __slots__ = ("function", "why")
    kind = "function run as plain Python"

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

    def call(self, tx: Tracing, args: list[VariableTracker], kwargs: dict[str, VariableTracker]) -> VariableTracker:
        if is_not_logged(tx, self.function, args):
            return ConstantVariable(None)
        replayed = replay_skipped(tx, self.function, args, kwargs)
        if replayed is not None:
            return replayed
        if ignores_graph_break(tx, self.function):
            return ConstantVariable(None)
        raise Unsupported("skipped-function", what=name_of(self.function), why=self.why)

    def attribute(self, tx: Tracing, name: str) -> VariableTracker | None:
        try:
            value = getattr(self.function, name)
        except AttributeError:
            return None
        return tx.build(value, AttrSource(self.source or ConstantSource.of_object(self.function), name))
