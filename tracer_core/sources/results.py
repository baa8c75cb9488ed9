"""Results of functions without side effects: the class of a value, its length, the keys and values of a dict."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

from tracer_core.runtime.containers import dict_behind, dict_keys, dict_values
from tracer_core.sources.base import Const, Scope, Source, SourceCode, Step


@dataclass(frozen=True, eq=False)
class ResultSource(Step):
    """The result of `function` for a value."""

    @property
    def function(self) -> Callable[[Any], Any]:
        raise NotImplementedError

    @property
    def passed_by(self) -> str:
        return self.of.passed_by

    def step(self, base: Any, scope: Scope) -> Any:
        return self.function(base)

    def expr(self, base: str, const: Const) -> str:
        return f"{const(self.function)}({base})"

    def rebuild(self, code: SourceCode) -> None:
        code.call_const(self.function, lambda: code.load_source(self.of))


class TypeSource(ResultSource):
    """The class of a value."""

    function = staticmethod(type)

    @cached_property
    def name(self) -> str:
        return f"type({self.of.name})"


class LenSource(ResultSource):
    """The length of a container."""

    function = staticmethod(len)

    @cached_property
    def name(self) -> str:
        return f"len({self.of.name})"


@dataclass(frozen=True, eq=False)
class DictKeysSource(ResultSource):
    """The list of a dict's keys."""

    function = staticmethod(dict_keys)

    @cached_property
    def name(self) -> str:
        return f"list({self.of.name})"


@dataclass(frozen=True, eq=False)
class DictValuesSource(ResultSource):
    """The list of a dict's values."""

    function = staticmethod(dict_values)

    @cached_property
    def name(self) -> str:
        return f"list({self.of.atom}.values())"


class BehindSource(ResultSource):
    """The dict of a view or a read-only proxy."""

    function = staticmethod(dict_behind)

    @cached_property
    def name(self) -> str:
        return f"{self.of.atom}.mapping"


@dataclass(frozen=True, eq=False)
class _DictPartSource(Step):
    """The `index`-th item of `parts`, for a key that is not a literal."""

    index: int

    parts: ClassVar[type[ResultSource]]

    @cached_property
    def base(self) -> Source:
        return type(self).parts(self.of)

    @cached_property
    def name(self) -> str:
        return f"{self.base.atom}[{self.index}]"

    def step(self, base: Any, scope: Scope) -> Any:
        return base[self.index]

    def expr(self, base: str, const: Const) -> str:
        return f"{base}[{self.index}]"

    def rebuild(self, code: SourceCode) -> None:
        code.item(lambda: code.load_source(self.base), self.index)


class DictKeySource(_DictPartSource):
    """The `index`-th key of a dict, where the key is not a literal."""

    parts = DictKeysSource


class DictValueSource(_DictPartSource):
    """The value at the `index`-th key of a dict, where the key is not a literal."""

    parts = DictValuesSource
