"""Guards that read several sources at once."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any

from tracer_core.guards.guard import Const, Relation, kind
from tracer_core.guards.special_sizes import SPECIAL, special_remedies
from tracer_core.runtime.upcoming import apart
from tracer_core.sources import SizeSource, Source

EXPRESSION_NAMES: dict[str, Any] = {"math": math}
"""Names that shape expressions may use besides Python's builtins."""


@dataclass(frozen=True, slots=True)
class ShapeExpression:
    """`expression` is Python with `{0}`, `{1}`, ... for the values at `sources`; true where the guard holds. `why` is
    for people."""

    expression: str
    sources: tuple[Source, ...]
    why: str = field(default="", compare=False)

    @property
    def text(self) -> str:
        text = self.expression.format(*(source.atom for source in self.sources))
        return f"{text} ({self.why})" if self.why else text

    def value(self, values: Sequence[Any]) -> Any:
        names = [f"v{i}" for i in range(len(values))]
        return eval(self.expression.format(*names), dict(EXPRESSION_NAMES), dict(zip(names, values, strict=True)))


ONE_OBJECT = "pass different objects, or a clone of one of them, at each call"
"""The advice where two things were different objects and are one now."""


@kind("SHAPE", rank=91)
class Shape(Relation):
    """`expected` is a `ShapeExpression`."""

    verbs = ("", "")

    def key(self, expected: ShapeExpression) -> Hashable:
        return expected

    def sources(self, source: Source, expected: ShapeExpression) -> tuple[Source, ...]:
        return expected.sources

    def holds(self, value: Sequence[Any], expected: ShapeExpression) -> bool:
        return bool(expected.value(value))

    def relation(self, values: Sequence[str], expected: ShapeExpression, const: Const) -> str:
        return f"({expected.expression.format(*values)})"

    def text(self, name: str, expected: ShapeExpression) -> str:
        return expected.text

    def expected_text(self, expected: ShapeExpression) -> str:
        return expected.text

    def now(self, seen: str) -> str:
        return seen

    def difference(self, name: str, was: str, now: str) -> str:
        return f"it was compiled for {was}, and now {now}"

    def seen_text(self, value: Sequence[Any], expected: ShapeExpression) -> str:
        return ", ".join(f"{source.atom} == {seen}" for source, seen in zip(expected.sources, value, strict=True))

    def advice(self, name: str, expected: ShapeExpression, value: Sequence[Any]) -> str:
        return "keep to sizes for which this holds, or accept one more compilation for the others"

    def remedies(self, source: Source, expected: ShapeExpression, value: Sequence[Any]) -> Sequence[str]:
        if expected.why == SPECIAL and isinstance(source, SizeSource):
            return special_remedies(source.of)
        return super().remedies(source, expected, value)


@kind("DUPLICATE", rank=90)
class Duplicate(Relation):
    """Two sources have the same object: `expected` is the other source."""

    def sources(self, source: Source, expected: Source) -> tuple[Source, ...]:
        return (source, expected)

    def holds(self, value: Sequence[Any], expected: Source) -> bool:
        return value[0] is value[1]

    def relation(self, values: Sequence[str], expected: Source, const: Const) -> str:
        return f"{values[0]} is {values[1]}"

    def text(self, name: str, expected: Source) -> str:
        return f"{name} is {expected.atom}"

    def expected_text(self, expected: Source) -> str:
        return f"the same object as {expected.atom}"

    def seen_text(self, value: Sequence[Any], expected: Source) -> str:
        return f"another object than {expected.atom}"

    def advice(self, name: str, expected: Source, value: Sequence[Any]) -> str:
        return f"let {name} and {expected.quoted} be one object at each call"


@kind("NOT_DUPLICATE", rank=90)
class NotDuplicate(Relation):
    """No two of several sources have the same object: `expected` is the tuple of the other sources."""

    def sources(self, source: Source, expected: tuple[Source, ...]) -> tuple[Source, ...]:
        return (source, *expected)

    def holds(self, value: Sequence[Any], expected: tuple[Source, ...]) -> bool:
        return len(set(map(id, value))) == len(value)

    def relation(self, values: Sequence[str], expected: tuple[Source, ...], const: Const) -> str:
        if len(values) == 2:
            return f"{values[0]} is not {values[1]}"
        return f"len({{{', '.join(f'id({value})' for value in values)}}}) == {len(values)}"

    def text(self, name: str, expected: tuple[Source, ...]) -> str:
        if len(expected) == 1:
            return f"{name} is not {expected[0].atom}"
        return f"no two of {name}, {', '.join(source.atom for source in expected)} are one object"

    def expected_text(self, expected: tuple[Source, ...]) -> str:
        return "a set of different objects" if len(expected) > 1 else f"another object than {expected[0].atom}"

    def seen_text(self, value: Sequence[Any], expected: tuple[Source, ...]) -> str:
        if len(expected) == 1:
            return f"the same object as {expected[0].atom}"
        seen: dict[int, int] = {}
        for position, part in enumerate(value):
            first = seen.setdefault(id(part), position)
            if first != position:
                names = ["the first", *(source.atom for source in expected)]
                return f"one object in both {names[first]} and {names[position]}"
        return "a set of different objects"

    def advice(self, name: str, expected: tuple[Source, ...], value: Sequence[Any]) -> str:
        return ONE_OBJECT


@kind("APART", rank=92)
class Apart(Relation):
    """An iterator shares nothing with the values at other sources: `expected` is the tuple of these."""

    def sources(self, source: Source, expected: tuple[Source, ...]) -> tuple[Source, ...]:
        return (source, *expected)

    def holds(self, value: Sequence[Any], expected: tuple[Source, ...]) -> bool:
        return apart(*value)

    def relation(self, values: Sequence[str], expected: tuple[Source, ...], const: Const) -> str:
        return f"{const(apart)}({', '.join(values)})"

    def text(self, name: str, expected: tuple[Source, ...]) -> str:
        return f"{name} shares no items with {', '.join(source.atom for source in expected)}"

    def expected_text(self, expected: tuple[Source, ...]) -> str:
        return "an iterator of its own"

    def seen_text(self, value: Sequence[Any], expected: tuple[Source, ...]) -> str:
        others = zip(expected, value[1:], strict=True)
        shared = [source.atom for source, other in others if not apart(value[0], other)]
        return f"one that shares its items with {', '.join(shared)}"

    def advice(self, name: str, expected: tuple[Source, ...], value: Sequence[Any]) -> str:
        return f"let {name} iterate over a container of its own at each call"
