"""Sources of items that an iterator has not returned yet."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from tracer_core.names.sentences import ordinal
from tracer_core.runtime.upcoming import Upcoming
from tracer_core.sources.base import Const, Scope, Source, SourceCode, Step


@dataclass(frozen=True, eq=False)
class UpcomingSource(Step):
    """The `index`-th item that an iterator has yet to return. It cannot be found once the iterator has advanced."""

    index: int

    @cached_property
    def base(self) -> Source:
        return AllUpcomingSource(self.of)

    @cached_property
    def name(self) -> str:
        which = "next item" if self.index == 0 else f"{ordinal(self.index + 1)} next item"
        return f"the {which} of {self.of.iterated}"

    @property
    def in_words(self) -> bool:
        return True

    @property
    def passed_by(self) -> str:
        return self.of.passed_by

    def step(self, base: Any, scope: Scope) -> Any:
        return base[self.index]

    def expr(self, base: str, const: Const) -> str:
        return f"{base}[{self.index}]"

    def rebuild(self, code: SourceCode) -> None:
        code.item(lambda: code.load_source(self.base), self.index)


@dataclass(frozen=True, eq=False)
class AllUpcomingSource(Step):
    """All items that an iterator has yet to return, as far as they are needed."""

    @cached_property
    def name(self) -> str:
        return f"the next items of {self.of.iterated}"

    @property
    def in_words(self) -> bool:
        return True

    @property
    def passed_by(self) -> str:
        return self.of.passed_by

    def step(self, base: Any, scope: Scope) -> Any:
        return Upcoming(base)

    def expr(self, base: str, const: Const) -> str:
        return f"{const(Upcoming)}({base})"

    def rebuild(self, code: SourceCode) -> None:
        code.call_const(Upcoming, lambda: code.load_source(self.of))
