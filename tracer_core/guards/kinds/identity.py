"""Guards on which object a value is, and on its class."""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from types import FunctionType
from typing import Any

from tracer_core.guards.describe import OBJECT, class_text, describe
from tracer_core.guards.guard import Const, Kind, kind
from tracer_core.guards.held import Held
from tracer_core.names.code import code_text


class _Holds(Kind):
    """Kinds whose `expected` is a `Held`."""

    def mortals(self, expected: Held) -> Sequence[weakref.ref[Any]]:
        return expected.mortals

    def expected_text(self, expected: Held) -> str:
        return expected.label


@kind("TYPE", rank=0)
class Type(_Holds):
    """`expected` holds the exact class."""

    def holds(self, value: Any, expected: Held) -> bool:
        return expected.is_(type(value))

    def condition(self, value: str, expected: Held, const: Const) -> str:
        return expected.condition(f"type({value})", const)

    def text(self, name: str, expected: Held) -> str:
        return f"type({name}) is {expected.label}"

    def expected_text(self, expected: Held) -> str:
        return f"of type {expected.label}"

    def seen_text(self, value: Any, expected: Held) -> str:
        seen = class_text(type(value))
        return f"of another type called {seen}" if seen == expected.label else f"of type {seen}"

    def advice(self, name: str, expected: Held, value: Any) -> str:
        return f"give {name} the same type at each call"


@kind("ID", rank=1)
class Identity(_Holds):
    """`expected` holds the object."""

    def holds(self, value: Any, expected: Held) -> bool:
        return expected.is_(value)

    def condition(self, value: str, expected: Held, const: Const) -> str:
        return expected.condition(value, const)

    def text(self, name: str, expected: Held) -> str:
        label = expected.label
        return f"{name} is {label if not label.startswith(OBJECT) else f'the same{label[2:]}'}"

    def seen_text(self, value: Any, expected: Held) -> str:
        seen = describe(value)
        if seen != expected.label:
            return seen
        return f"another {seen.removeprefix('an ')}"

    def advice(self, name: str, expected: Held, value: Any) -> str:
        return f"keep one object in {name}, instead of another one at each call"


@kind("FUNCTION_CODE", rank=2)
class FunctionCode(_Holds):
    """`expected` holds the code object of the function at the source. (Bound methods show that of their function.)"""

    def holds(self, value: Any, expected: Held) -> bool:
        return type(value) is FunctionType and expected.is_(value.__code__)

    def condition(self, value: str, expected: Held, const: Const) -> str:
        return f"type({value}) is {const(FunctionType)} and {expected.condition(f'{value}.__code__', const)}"

    def text(self, name: str, expected: Held) -> str:
        return f"{name}.__code__ is {expected.label}"

    def expected_text(self, expected: Held) -> str:
        return f"a function with {expected.label}"

    def seen_text(self, value: Any, expected: Held) -> str:
        if type(value) is not FunctionType:
            return describe(value)
        return f"a function with {code_text(value.__code__)}"

    def advice(self, name: str, expected: Held, value: Any) -> str:
        return f"let {name} be the same function at each call"


@kind("NONE", rank=0)
class IsNone(Kind):
    def holds(self, value: Any, expected: Any) -> bool:
        return value is None

    def condition(self, value: str, expected: Any, const: Const) -> str:
        return f"{value} is None"

    def text(self, name: str, expected: Any) -> str:
        return f"{name} is None"

    def expected_text(self, expected: Any) -> str:
        return "None"

    def seen_text(self, value: Any, expected: Any) -> str:
        return describe(value)

    def advice(self, name: str, expected: Any, value: Any) -> str:
        return f"compile a function of its own for calls where {name} is not None"


@kind("NOT_NONE", rank=0)
class IsNotNone(Kind):
    def holds(self, value: Any, expected: Any) -> bool:
        return value is not None

    def condition(self, value: str, expected: Any, const: Const) -> str:
        return f"{value} is not None"

    def text(self, name: str, expected: Any) -> str:
        return f"{name} is not None"

    def expected_text(self, expected: Any) -> str:
        return "not None"

    def seen_text(self, value: Any, expected: Any) -> str:
        return "None"

    def advice(self, name: str, expected: Any, value: Any) -> str:
        return f"compile a function of its own for calls where {name} is None"
