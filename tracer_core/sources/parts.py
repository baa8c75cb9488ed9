"""Parts of objects: attributes, items, contents of cells, attributes of functions."""

from __future__ import annotations

import keyword
from dataclasses import dataclass, field
from functools import cached_property
from types import FunctionType
from typing import Any

from tracer_core.names.code import Label, object_name
from tracer_core.sources.base import Const, Scope, Source, SourceCode, Step


def _is_literal(key: Any) -> bool:
    if type(key) is tuple:
        return all(_is_literal(part) for part in key)
    return type(key) in (int, str, bool, bytes, type(None))


@dataclass(frozen=True, eq=False)
class AttrSource(Step):
    """`of.attr` as Python reads it: may run descriptors and `__getattr__`."""

    attr: str

    @cached_property
    def name(self) -> str:
        return self._receiver or f"{self.of.atom}.{self.attr}"

    @property
    def in_words(self) -> bool:
        return self._receiver is not None

    @property
    def _receiver(self) -> str | None:
        return self.of.receiver if self.attr == "__self__" else None

    def step(self, base: Any, scope: Scope) -> Any:
        return getattr(base, self.attr)

    def expr(self, base: str, const: Const) -> str:
        written = self.attr.isidentifier() and not keyword.iskeyword(self.attr)
        return f"{base}.{self.attr}" if written else f"getattr({base}, {self.attr!r})"

    def rebuild(self, code: SourceCode) -> None:
        code.attribute(lambda: code.load_source(self.of), self.attr)


def instance_dict(obj: Any) -> dict[str, Any] | None:
    """Return an object's `__dict__`, read past a `__getattribute__` of its class; None if it has none."""
    try:
        held = object.__getattribute__(obj, "__dict__")
    except AttributeError:
        return None
    return held if issubclass(type(held), dict) else None


@dataclass(frozen=True, eq=False)
class InstanceDictSource(Step):
    """The `__dict__` of an object."""

    @cached_property
    def name(self) -> str:
        return f"{self.of.atom}.__dict__"

    def step(self, base: Any, scope: Scope) -> Any:
        return object.__getattribute__(base, "__dict__")

    def expr(self, base: str, const: Const) -> str:
        return f"{base}.__dict__"

    def rebuild(self, code: SourceCode) -> None:
        code.attribute(lambda: code.load_source(self.of), "__dict__")


@dataclass(frozen=True, eq=False)
class ObjectAttrSource(Step):
    """An attribute stored in the instance's `__dict__`, read there without running descriptors or `__getattr__`."""

    attr: str

    @cached_property
    def base(self) -> Source:
        return InstanceDictSource(self.of)

    @cached_property
    def name(self) -> str:
        return f"{self.of.atom}.{self.attr}"

    @cached_property
    def exact(self) -> str:
        return f"{self.of.exact}.{self.attr}"

    def step(self, base: Any, scope: Scope) -> Any:
        return base[self.attr]

    def expr(self, base: str, const: Const) -> str:
        return f"{base}[{self.attr!r}]"

    def rebuild(self, code: SourceCode) -> None:
        code.item(lambda: code.load_source(self.base), self.attr)


@dataclass(frozen=True, eq=False)
class MemberSource(Step):
    """A parameter, buffer or submodule of an `nn.Module`, read from the dict that holds it: `table` is
    `_parameters`, `_buffers` or `_modules`. Its name is that of the attribute, or of the item in a container."""

    table: str
    member: str

    @cached_property
    def base(self) -> Source:
        return ObjectAttrSource(self.of, self.table)

    @cached_property
    def name(self) -> str:
        return f"{self.of.atom}[{self.member}]" if self.member.isdigit() else f"{self.of.atom}.{self.member}"

    def step(self, base: Any, scope: Scope) -> Any:
        return base[self.member]

    def expr(self, base: str, const: Const) -> str:
        return f"{base}[{self.member!r}]"

    def rebuild(self, code: SourceCode) -> None:
        code.item(lambda: code.load_source(self.base), self.member)


@dataclass(frozen=True, eq=False)
class GetItemSource(Step):
    """`of[key]`, for sequences and for dicts whose key is hashable. On a dict that creates missing values
    (`defaultdict`), guard that the key is there first: reading it would add it."""

    key: Any
    label: Label | None = field(default=None, compare=False)

    @cached_property
    def name(self) -> str:
        if self.label is not None:
            return self.label.text
        return self.of.item or f"{self.of.atom}[{repr(self.key) if _is_literal(self.key) else object_name(self.key)}]"

    @property
    def in_words(self) -> bool:
        return self.label is not None or self.of.item is not None

    @property
    def iterated(self) -> str:
        return self.quoted if self.label is None else self.label.origin

    @property
    def passed_by(self) -> str:
        return self.of.passed_by

    def step(self, base: Any, scope: Scope) -> Any:
        return base[self.key]

    def expr(self, base: str, const: Const) -> str:
        return f"{base}[{repr(self.key) if _is_literal(self.key) else const(self.key)}]"

    def rebuild(self, code: SourceCode) -> None:
        code.item(lambda: code.load_source(self.of), self.key)


class CellContentsSource(AttrSource):
    """The contents of a cell object. Finding it in an empty cell raises ValueError."""

    def __init__(self, of: Source) -> None:
        super().__init__(of, "cell_contents")

    @cached_property
    def name(self) -> str:
        return self.of.item or f"{self.of.atom}.cell_contents"

    @property
    def in_words(self) -> bool:
        return self.of.item is not None


@dataclass(frozen=True, eq=False)
class FunctionPartSource(Step):
    """An item of the function attribute `carrier`. `variable` is the parameter or free variable that it is for, if
    that is known."""

    key: int | str
    variable: str = field(default="", compare=False)

    carrier = ""

    @cached_property
    def base(self) -> Source:
        return AttrSource(self.of, self.carrier)

    @cached_property
    def name(self) -> str:
        return self.phrase if self.variable else f"{self.of.atom}.{self.carrier}[{self.key!r}]"

    @property
    def in_words(self) -> bool:
        return bool(self.variable)

    @property
    def phrase(self) -> str:
        """Return its name for people, by its variable."""
        return f"default of `{self.variable}` in {self.of.quoted}"

    def step(self, base: Any, scope: Scope) -> Any:
        return base[self.key]

    def expr(self, base: str, const: Const) -> str:
        return f"{base}[{self.key!r}]"

    def rebuild(self, code: SourceCode) -> None:
        code.item(lambda: code.load_source(self.base), self.key)


class DefaultsSource(FunctionPartSource):
    """The `key`-th positional default of a function."""

    carrier = "__defaults__"

    @staticmethod
    def of_function(of: Source, function: FunctionType, key: int) -> DefaultsSource:
        """Return the default, with its parameter. `function` is what `of` finds."""
        code, from_end = function.__code__, key - len(function.__defaults__ or ()) if key >= 0 else key
        parameters = code.co_varnames[: code.co_argcount]
        return DefaultsSource(of, key, parameters[from_end] if -from_end <= len(parameters) else "")


class KwDefaultsSource(FunctionPartSource):
    """The default of the keyword-only parameter named `key`."""

    carrier = "__kwdefaults__"


class ClosureSource(FunctionPartSource):
    """The `key`-th cell of a function's closure (the cell object; see `CellContentsSource`)."""

    carrier = "__closure__"

    @staticmethod
    def of_function(of: Source, function: FunctionType, key: int) -> ClosureSource:
        """Return the cell, with its variable. `function` is what `of` finds."""
        return ClosureSource(of, key, function.__code__.co_freevars[key])

    @property
    def phrase(self) -> str:
        return f"the cell of {self.item}"

    @property
    def item(self) -> str | None:
        return f"`{self.variable}` in {self.of.quoted}" if self.variable else None
