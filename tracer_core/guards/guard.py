"""One guard, and the table of kinds of guards."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any

from tracer_core.host.signals import is_external_error
from tracer_core.names.where import Where
from tracer_core.sources import Scope, Source

Const = Callable[[Any], str]


class Kind:
    """One kind of guard: its check, its compiled form, and its explanation. Subclasses register under `@kind(name,
    rank)`.

    `rank` orders the guards of one source: cheap ones, and those that others rely on, first. `sees` is what a
    check looks at: the value at the guard's source, or for relations the values at `Guard.sources`.
    """

    name = ""
    rank = 0
    verbs = ("was", "is")
    """The verbs before `expected_text` and before `seen_text`."""

    def key(self, expected: Any) -> Hashable:
        """Return the key that distinguishes two guards of this kind on one source."""
        return expected  # type: ignore[no-any-return]

    def holds(self, value: Any, expected: Any) -> bool:
        """Return whether `value` passes. May raise the error of reading the value: that counts as failing."""
        raise NotImplementedError

    def condition(self, value: str, expected: Any, const: Const) -> str:
        """Return a Python expression, true where `holds` is. `value` may be mentioned several times, but its first
        mention must always be evaluated."""
        return f"{const(self.holds)}({value}, {const(expected)})"

    def text(self, name: str, expected: Any) -> str:
        """Return the guard as a user reads it; `name` is that of its source."""
        raise NotImplementedError

    def expected_text(self, expected: Any) -> str:
        """Return the value at compile time, to follow the first of `verbs`."""
        raise NotImplementedError

    def expected_against(self, expected: Any, value: Any) -> str:
        """Return `expected_text`, with the facts that matter for this `value`."""
        return self.expected_text(expected)

    def seen_text(self, value: Any, expected: Any) -> str:
        """Return the present value, to follow the second of `verbs`."""
        raise NotImplementedError

    def now(self, seen: str) -> str:
        """Return the present value as a clause that follows the guard's text."""
        return f"it {self.verbs[1]} {seen}"

    def difference(self, name: str, was: str, now: str) -> str:
        """Return the expected and the present value (`now` follows a verb), as a clause."""
        return f"{name} {self.verbs[0]} {was} at compile time and {now} now"

    def advice(self, name: str, expected: Any, value: Any) -> str:
        """Return how to avoid the failure, to follow `To avoid this, `; `name` is that of its source, in quotes."""
        raise NotImplementedError

    def remedies(self, source: Source, expected: Any, value: Any) -> Sequence[str]:
        """Return ways to avoid the failure, each to follow `To avoid this, `; the one that helps most often first."""
        return (self.advice(source.given.quoted, expected, value),)

    def remedies_in_module(self, source: Source, expected: Any, value: Any) -> Sequence[str]:
        """Return what takes the place of `advice` and `remedies` if the value is reached through an `nn.Module`;
        nothing, if they hold there, too."""
        return ()

    def mortals(self, expected: Any) -> Sequence[weakref.ref[Any]]:
        """Return the objects without which the guard can never hold again."""
        return ()


class Relation(Kind):
    """A kind whose `expected` names more sources: `value` is the tuple of all their values."""

    rank = 90

    def sources(self, source: Source, expected: Any) -> tuple[Source, ...]:
        raise NotImplementedError

    def relation(self, values: Sequence[str], expected: Any, const: Const) -> str:
        """Return `condition` over one expression for each source. Any of them may be left unevaluated."""
        raise NotImplementedError


KINDS: dict[str, Kind] = {}


def kind(name: str, rank: int) -> Callable[[type[Kind]], type[Kind]]:
    def register(cls: type[Kind]) -> type[Kind]:
        if name in KINDS:
            raise ValueError(f"two kinds of guards are called {name}")
        instance = cls()
        instance.name = name
        instance.rank = rank
        KINDS[name] = instance
        return cls

    return register


@dataclass(slots=True, eq=False)
class Guard:
    """A condition on `source` that must hold for the compiled code to be reused.

    Two guards are equal when they check the same of the same source; `where` they were needed does not count.
    """

    source: Source
    kind: str
    expected: Any = None
    where: Where | None = None

    def installed_at(self, where: Where) -> Guard:
        """Return a copy of the guard, installed at that place."""
        self.where = where
        return self

    @property
    def rule(self) -> Kind:
        return KINDS[self.kind]

    @property
    def sources(self) -> tuple[Source, ...]:
        """Return all sources that it reads."""
        rule = self.rule
        return rule.sources(self.source, self.expected) if isinstance(rule, Relation) else (self.source,)

    @property
    def text(self) -> str:
        name = self.source.atom
        text = self.rule.text(name, self.expected)
        return text.replace(f"({name})", name) if self.source.in_words else text

    @property
    def key(self) -> tuple[Source, str, Hashable]:
        return (self.source, self.kind, self.rule.key(self.expected))

    def look(self, scope: Scope) -> Any:
        """Return the present value of the property that the guard checks. Raises the exceptions of the accesses."""
        if isinstance(self.rule, Relation):
            return tuple(source.find(scope) for source in self.sources)
        return self.source.find(scope)

    def holds(self, scope: Scope) -> bool:
        """Return whether it holds now, checked in plain Python. A value that cannot be reached does not hold."""
        try:
            return self.rule.holds(self.look(scope), self.expected)
        except Exception as error:
            if is_external_error(error):
                raise
            return False

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Guard):
            return NotImplemented
        return self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)

    def __str__(self) -> str:
        return self.text
