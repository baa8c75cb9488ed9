"""Guards on what libraries are like: what modules and classes hold under a name, and what derives from what.

They hold nearly always and there are many of them: one check looks at all of them at once (see
`tracer_core.guards.unchanged`), and only where it finds a difference are they looked at one by one.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from types import CodeType, FunctionType, ModuleType
from typing import Any

from tracer_core.code_names import code_name, function_name
from tracer_core.guards.describe import class_text, describe
from tracer_core.guards.guard import Kind, kind
from tracer_core.guards.held import Held

ABSENT: Any = type("Absent", (), {"__repr__": lambda self: "nothing"})()
"""Stands for what a name had that was not there."""

_SHOWN = 4


@dataclass(frozen=True, slots=True)
class OfType:
    """Stands for any object of just this type: what a name has matters for how it is found, and is guarded itself
    where it is used."""

    cls: Held

    @staticmethod
    def of(value: Any) -> OfType:
        return OfType(Held(type(value), class_text(type(value))))

    def __repr__(self) -> str:
        return f"an object of type {self.cls.label}"


def _as_it_was(was: Any, now: Any) -> bool:
    return was.cls.is_(type(now)) if isinstance(was, OfType) else now is was


def names_of(owner: Any) -> Mapping[str, Any]:
    """The names in a module, a class (its own, not its bases'), or a module's globals."""
    return owner.__dict__ if isinstance(owner, (ModuleType, type)) else owner


@kind("NAMES", rank=2)
class Names(Kind):
    """The value is a module, class or globals; `expected` has the object (or ABSENT, or OfType) that names in it
    had."""

    def key(self, expected: dict[str, Any]) -> Hashable:
        return tuple((name, value if isinstance(value, OfType) else id(value)) for name, value in expected.items())

    def holds(self, value: Any, expected: dict[str, Any]) -> bool:
        return self._changed(value, expected) is None

    def _changed(self, value: Any, expected: dict[str, Any]) -> str | None:
        """The first name that has something else now."""
        names = names_of(value)
        return next((name for name, was in expected.items() if not _as_it_was(was, names.get(name, ABSENT))), None)

    verbs = ("had", "has")

    def text(self, name: str, expected: dict[str, Any]) -> str:
        first, more = list(expected)[:_SHOWN], len(expected) - _SHOWN
        return f"{name} keeps its {', '.join(first)}{f' and {more} more' if more > 0 else ''}"

    def expected_text(self, expected: dict[str, Any]) -> str:
        return "what it had"

    def expected_against(self, expected: dict[str, Any], value: Any) -> str:
        name = self._changed(value, expected)
        return self.expected_text(expected) if name is None else _has(name, expected[name])

    def seen_text(self, value: Any, expected: dict[str, Any]) -> str:
        name = self._changed(value, expected)
        return self.expected_text(expected) if name is None else _has(name, names_of(value).get(name, ABSENT))

    def advice(self, name: str, expected: dict[str, Any], value: Any) -> str:
        return f"change what {name} has before the first call"

    def mortals(self, expected: dict[str, Any]) -> Sequence[weakref.ref[Any]]:
        return [ref for was in expected.values() if isinstance(was, OfType) for ref in was.cls.mortals]


def _has(name: str, value: Any) -> str:
    if value is ABSENT:
        return f"no {name}"
    return f"{value if isinstance(value, OfType) else describe(value)} as its {name}"


@kind("BASES", rank=2)
class Bases(Kind):
    """The value is a class; `expected` is the order in which its bases are searched (each `Held`, itself first)."""

    def holds(self, value: Any, expected: tuple[Held, ...]) -> bool:
        now = value.__mro__
        return len(now) == len(expected) and all(map(Held.is_, expected, now))

    def text(self, name: str, expected: tuple[Held, ...]) -> str:
        return f"{name} derives from {_labels(expected)}"

    def expected_text(self, expected: tuple[Held, ...]) -> str:
        return f"derived from {_labels(expected)}"

    def seen_text(self, value: Any, expected: tuple[Held, ...]) -> str:
        return f"derived from {', '.join(map(class_text, value.__mro__[1:]))}"

    def advice(self, name: str, expected: tuple[Held, ...], value: Any) -> str:
        return f"keep the bases of {name}"

    def mortals(self, expected: tuple[Held, ...]) -> Sequence[weakref.ref[Any]]:
        return [ref for held in expected for ref in held.mortals]


def _labels(mro: tuple[Held, ...]) -> str:
    return ", ".join(held.label for held in mro[1:])


@dataclass(frozen=True, slots=True)
class Derived:
    """Whether `cls` counts as a subclass."""

    cls: Held
    answer: bool


@kind("SUBCLASS", rank=3)
class Subclass(Kind):
    """The value is an abstract class with which others may be registered; `expected` is a `Derived`."""

    def holds(self, value: Any, expected: Derived) -> bool:
        cls = expected.cls.get()
        return cls is not None and issubclass(cls, value) is expected.answer

    def text(self, name: str, expected: Derived) -> str:
        return f"issubclass({expected.cls.label}, {name}) is {expected.answer}"

    def expected_text(self, expected: Derived) -> str:
        return f"{'' if expected.answer else 'not '}a base of {expected.cls.label}"

    def seen_text(self, value: Any, expected: Derived) -> str:
        return f"{'not ' if expected.answer else ''}a base of {expected.cls.label}"

    def advice(self, name: str, expected: Derived, value: Any) -> str:
        return f"register {expected.cls.label} with {name} before the first call"

    def mortals(self, expected: Derived) -> Sequence[weakref.ref[Any]]:
        return expected.cls.mortals


@kind("LIBRARY_CODES", rank=3)
class LibraryCodes(Kind):
    """The value is a tuple of functions; `expected` has the code of each."""

    def holds(self, value: tuple[FunctionType, ...], expected: tuple[CodeType, ...]) -> bool:
        return tuple(map(code_of, value)) == expected

    def _replaced(self, value: tuple[FunctionType, ...], expected: tuple[CodeType, ...]) -> str:
        return next(
            (function_name(f) or "one" for f, code in zip(value, expected, strict=True) if f.__code__ != code), "none"
        )

    def text(self, name: str, expected: tuple[CodeType, ...]) -> str:
        shown = ", ".join(code_name(code) for code in expected[:_SHOWN])
        more = len(expected) - _SHOWN
        return f"the code of {shown}{f' and {more} more' if more > 0 else ''} is what it was"

    def expected_text(self, expected: tuple[CodeType, ...]) -> str:
        return "what they were"

    def seen_text(self, value: tuple[FunctionType, ...], expected: tuple[CodeType, ...]) -> str:
        return f"other ones: {self._replaced(value, expected)} has new code"

    def advice(self, name: str, expected: tuple[CodeType, ...], value: tuple[FunctionType, ...]) -> str:
        return f"replace {self._replaced(value, expected)} before the first call"


code_of: Callable[[FunctionType], CodeType] = attrgetter("__code__")
