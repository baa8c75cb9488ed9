"""Sources without a base: a frame's variables, its globals and builtins, and constant objects."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from tracer_core.host import global_state
from tracer_core.names.code import Label, object_name
from tracer_core.sources.base import ById, Const, Scope, Source, SourceCode, known_expr


@dataclass(frozen=True, eq=False)
class LocalSource(Source):
    """A local of the frame, or the content of a free variable (`free=True`): the hook gives both by name. `label` is
    the name people know, if the engine introduced the variable."""

    local: str
    free: bool = field(default=False, compare=False)
    label: Label | None = field(default=None, compare=False)
    passed_by: str = field(default="", compare=False)

    @cached_property
    def name(self) -> str:
        return self.local if self.label is None else self.label.text

    @property
    def in_words(self) -> bool:
        return self.label is not None

    @property
    def iterated(self) -> str:
        return self.quoted if self.label is None else self.label.origin

    @property
    def item(self) -> str | None:
        return self.label.text if self.label is not None and self.label.box else None

    @property
    def receiver(self) -> str | None:
        return None if self.label is None or self.label.receiver is None else self.label.receiver.text

    def step(self, base: Any, scope: Scope) -> Any:
        return scope.locals[self.local]

    def expr(self, base: str, const: Const) -> str:
        return f"L[{self.local!r}]"

    def rebuild(self, code: SourceCode) -> None:
        code.emit("LOAD_DEREF" if self.free else "LOAD_FAST", self.local)


@dataclass(frozen=True, eq=False)
class GlobalSource(Source):
    """A global variable: of the root frame, or, with `module`, of another function's globals (see `of_function`)."""

    variable: str
    module: ById | None = None

    @staticmethod
    def of_function(variable: str, function_globals: dict[str, Any], frame_globals: dict[str, Any]) -> GlobalSource:
        """Return the global as code with `function_globals` sees it, inlined into a frame with `frame_globals`."""
        return GlobalSource(variable, None if function_globals is frame_globals else ById(function_globals))

    @property
    def of_frame_globals(self) -> bool:
        return self.module is None

    @cached_property
    def name(self) -> str:
        module = "__main__" if self.module is None else self.module.value.get("__name__", "?")
        return self.variable if module == "__main__" else f"{module}.{self.variable}"

    @cached_property
    def exact(self) -> str:
        module = "" if self.module is None else f"({self.module.value.get('__name__', '?')})"
        return f"G{module}[{self.variable!r}]"

    def step(self, base: Any, scope: Scope) -> Any:
        return (scope.globals if self.module is None else self.module.value)[self.variable]

    def expr(self, base: str, const: Const) -> str:
        return f"{'G' if self.module is None else known_expr(self.module, const)}[{self.variable!r}]"

    def rebuild(self, code: SourceCode) -> None:
        module = self.module
        if module is None:
            code.emit("LOAD_GLOBAL", self.variable)
        else:
            code.item(lambda: code.const(module.value), self.variable)


@dataclass(frozen=True, eq=False)
class FrameGlobalsSource(Source):
    """The dict of the frame's globals as a whole, to guard which names are absent; `module` is its name."""

    module: str = field(compare=False)

    @property
    def of_frame_globals(self) -> bool:
        return True

    @cached_property
    def name(self) -> str:
        return f"globals of {self.module}"

    @cached_property
    def exact(self) -> str:
        return self.name

    def step(self, base: Any, scope: Scope) -> Any:
        return scope.globals

    def expr(self, base: str, const: Const) -> str:
        return "G"

    def rebuild(self, code: SourceCode) -> None:
        raise TypeError(f"{self.name} are only guarded, never rebuilt")


@dataclass(frozen=True, eq=False)
class FrameLocalsSource(Source):
    """The frame's locals and free variables by name, to guard which of its cells are empty."""

    @cached_property
    def name(self) -> str:
        return "variables of the frame"

    @cached_property
    def exact(self) -> str:
        return self.name

    def step(self, base: Any, scope: Scope) -> Any:
        return scope.locals

    def expr(self, base: str, const: Const) -> str:
        return "L"

    def rebuild(self, code: SourceCode) -> None:
        raise TypeError(f"{self.name} are only guarded, never rebuilt")


@dataclass(frozen=True, eq=False)
class BuiltinSource(Source):
    """A builtin that no global of the frame hides."""

    builtin: str

    @cached_property
    def name(self) -> str:
        return f"builtins.{self.builtin}"

    def step(self, base: Any, scope: Scope) -> Any:
        return scope.builtins[self.builtin]

    def expr(self, base: str, const: Const) -> str:
        return f"B[{self.builtin!r}]"

    def rebuild(self, code: SourceCode) -> None:
        code.emit("LOAD_GLOBAL", self.builtin)


@dataclass(frozen=True, eq=False)
class CellSource(Source):
    """The cell object of a variable of the frame itself. It cannot be guarded (guards see contents, through
    `LocalSource`), only rebuilt and written through."""

    cell: str

    @cached_property
    def name(self) -> str:
        return f"the cell of `{self.cell}`"

    @property
    def in_words(self) -> bool:
        return True

    @cached_property
    def exact(self) -> str:
        return f"cell({self.cell})"

    def step(self, base: Any, scope: Scope) -> Any:
        return scope.cells[self.cell]

    def rebuild(self, code: SourceCode) -> None:
        code.emit("LOAD_CLOSURE", self.cell)


@dataclass(frozen=True, eq=False)
class ConstantSource(Source):
    """A constant object (a class, module or function met while tracing), embedded in the generated code."""

    value: ById
    label: str = field(compare=False)

    @staticmethod
    def of_object(value: Any, label: str | None = None) -> ConstantSource:
        return ConstantSource(ById(value), label or object_name(value))

    @cached_property
    def name(self) -> str:
        return self.label

    @cached_property
    def exact(self) -> str:
        return self.label

    def step(self, base: Any, scope: Scope) -> Any:
        return self.value.value

    def expr(self, base: str, const: Const) -> str:
        return known_expr(self.value, const)

    def rebuild(self, code: SourceCode) -> None:
        code.const(self.value.value)


@dataclass(frozen=True, eq=False)
class GlobalStateSource(Source):
    """A setting of torch: a key of `tracer_core.host.global_state.PROPERTIES`."""

    setting: str

    @cached_property
    def name(self) -> str:
        return global_state.PROPERTIES[self.setting].text

    @cached_property
    def exact(self) -> str:
        return self.name

    def step(self, base: Any, scope: Scope) -> Any:
        return global_state.PROPERTIES[self.setting].read()

    def expr(self, base: str, const: Const) -> str:
        return f"{const(global_state.PROPERTIES[self.setting].read)}()"

    def rebuild(self, code: SourceCode) -> None:
        raise TypeError(f"{self.name} is a setting, not a value of the program: it cannot be rebuilt")
