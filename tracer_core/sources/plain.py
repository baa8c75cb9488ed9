"""The builtin value inside an instance of a class that inherits from a builtin value."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from tracer_core.runtime.numbers import PLAIN
from tracer_core.sources.base import Source
from tracer_core.sources.results import ResultSource


@dataclass(frozen=True, eq=False)
class PlainValueSource(ResultSource):
    """The object at `of` as the builtin type `base` that its class inherits from."""

    base_type: type

    @cached_property
    def name(self) -> str:
        return f"{self.base_type.__name__}({self.of.name})"

    @property
    def given(self) -> Source:
        return self.of.given

    @property
    def function(self) -> Callable[[Any], Any]:
        return PLAIN[self.base_type]
