"""Values converted by a function without side effects: an array as a tensor, a NumPy scalar as a number."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from tracer_core.sources.base import ById, Source
from tracer_core.sources.results import ResultSource


@dataclass(frozen=True, eq=False)
class ConvertedSource(ResultSource):
    """`convert(of)`, under the name by which people know that function."""

    convert: ById
    label: str = field(compare=False)

    @cached_property
    def name(self) -> str:
        return f"{self.label}({self.of.name})"

    @property
    def given(self) -> Source:
        return self.of.given

    @property
    def function(self) -> Callable[[Any], Any]:
        return self.convert.value  # type: ignore[no-any-return]
