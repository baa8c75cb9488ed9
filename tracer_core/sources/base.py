"""`Source`: the interface that every source implements."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from functools import cached_property
from operator import attrgetter
from types import CellType
from typing import Any

from tracer_core.bytecode import CodeBuilder
from tracer_core.names.code import object_name

Const = Callable[[Any], str]
"""A function that returns a name for an object that generated code needs."""


class SourceCode(CodeBuilder):
    """Code that loads values from sources."""

    def load_source(self, source: Source) -> None:
        """Push what is at `source`, as it is now."""
        source.rebuild(self)


@dataclass(frozen=True, slots=True)
class Scope:
    """The namespaces that the roots are looked up in: a frame's locals and free variables by name, its globals, its
    builtins, and the cell objects of its closure by name."""

    locals: Mapping[str, Any]
    globals: Mapping[str, Any]
    builtins: Mapping[str, Any]
    cells: Mapping[str, CellType] = field(default_factory=dict)


class ById:
    """Holds an object and compares by its identity, for fields that may be unhashable or have their own `==`."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ById) and other.value is self.value

    def __hash__(self) -> int:
        return id(self.value)

    def __repr__(self) -> str:
        return f"<{type(self.value).__name__} at {id(self.value):#x}>"


class FoundById(ById):
    """A `ById` whose object `find` returns, while it lives, so that it is not kept alive."""

    __slots__ = ("_hash", "find")

    def __init__(self, value: Any, find: Callable[[], Any]) -> None:
        self._hash = id(value)
        self.find = find

    @property
    def value(self) -> Any:
        return self.find()

    def __hash__(self) -> int:
        return self._hash


def known_expr(known: ById, const: Const) -> str:
    """Return an expression for the object."""
    return f"{const(known.find)}()" if isinstance(known, FoundById) else const(known.value)


_readers: dict[type, Callable[[Any], Any]] = {}
"""A function that reads all fields by which sources of a class are compared."""


def _reader(cls: type[Source]) -> Callable[[Any], Any]:
    names = [field.name for field in fields(cls) if field.compare]
    reader = _readers[cls] = attrgetter(*names) if names else type
    return reader


@dataclass(frozen=True, eq=False)
class Source:
    """A place where a value can be found again. `base` is the source it is a part of, None for roots.

    Subclasses are `@dataclass(frozen=True, eq=False)`; two sources are equal when their class and their fields
    (those with `compare=True`) are. The hash is computed once, as sources are keys everywhere.
    """

    @property
    def base(self) -> Source | None:
        return None

    @property
    def owner(self) -> Source | None:
        """Return the source that its name is composed with: `self` for `self.conv`, whatever dicts are between."""
        return self.base

    @property
    def of_frame_globals(self) -> bool:
        """Return whether it is read from the globals of the frame itself."""
        return False

    @property
    def name(self) -> str:
        """Return what the program calls it, as seen from the frame: `x.size(0)`, `self.conv.weight`; or a phrase for
        a value that the program has no expression for."""
        raise NotImplementedError

    @cached_property
    def exact(self) -> str:
        """Return the expression by which it is found, over the roots of `expr`: `L['self']._modules['conv']`."""
        base = self.base
        return self.expr("" if base is None else base.exact, object_name)

    @property
    def in_words(self) -> bool:
        """Return whether its name is a phrase, not an expression."""
        return False

    @property
    def atom(self) -> str:
        """Return its name as a part of a longer one."""
        return f"({self.name})" if self.in_words else self.name

    @property
    def quoted(self) -> str:
        """Return its name as a part of a phrase."""
        return self.name if self.in_words or "`" in self.name else f"`{self.name}`"

    @property
    def passed_by(self) -> str:
        """Return a phrase for the break by which a function passes this value, which it computed, from one graph to
        the next; empty for all others."""
        return ""

    @property
    def given(self) -> Source:
        """Return the source of the program's own object, if this is a form of it that the engine introduced."""
        return self

    @property
    def iterated(self) -> str:
        """Return, for an iterator, the name of the value it iterates over, or its own, as a part of a phrase."""
        return self.quoted

    @property
    def item(self) -> str | None:
        """Return, for a cell, or a list that the engine introduced to hold one value, the name of that value."""
        return None

    @property
    def receiver(self) -> str | None:
        """Return, for a bound method that the engine put on the stack, the name of its object."""
        return None

    def step(self, base: Any, scope: Scope) -> Any:
        """Return the value here, given the value at `base` (None for roots). Raises the errors of the access."""
        raise NotImplementedError

    def expr(self, base: str, const: Const) -> str:
        """Return a Python expression for the value, given the expression of `base`. `const(obj)` gives a name for an
        object the expression needs. Roots use the names `L` (the frame's locals and free variables), `G` (its
        globals) and `B` (its builtins)."""
        raise NotImplementedError

    def rebuild(self, code: SourceCode) -> None:
        """Write code that pushes the value."""
        raise NotImplementedError

    def find(self, scope: Scope) -> Any:
        """Return the value now. Raises the errors of the accesses (AttributeError, KeyError, ...)."""
        base = self.base
        return self.step(base.find(scope) if base is not None else None, scope)

    def path(self) -> list[Source]:
        """Return the sources from the root to this one."""
        chain: list[Source] = []
        at: Source | None = self
        while at is not None:
            chain.append(at)
            at = at.base
        return chain[::-1]

    @property
    def root(self) -> Source:
        at = self
        while (base := at.base) is not None:
            at = base
        return at

    def __str__(self) -> str:
        return self.name

    def __hash__(self) -> int:
        known: int | None = self.__dict__.get("_hash")
        if known is None:
            cls = type(self)
            read = _readers.get(cls) or _reader(cls)
            known = self.__dict__["_hash"] = hash((cls, read(self)))
        return known

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if not isinstance(other, Source):
            return NotImplemented
        cls = type(self)
        if cls is not type(other) or hash(self) != hash(other):
            return False
        read = _readers[cls]
        return (read(self),) == (read(other),)


@dataclass(frozen=True, eq=False)
class Step(Source):
    """A source based on another, `of`."""

    of: Source

    @property
    def base(self) -> Source | None:
        return self.of

    @property
    def owner(self) -> Source:
        return self.of
