"""Guards on torch's settings."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from tracer_core.guards.describe import describe
from tracer_core.guards.guard import Const, Kind, kind
from tracer_core.host.global_state import PROPERTIES


@kind("GLOBAL_STATE", rank=0)
class GlobalState(Kind):
    """A setting at a `GlobalStateSource` has the value it had. `expected` is the pair (setting, value)."""

    def key(self, expected: tuple[str, Any]) -> Hashable:
        return expected

    def holds(self, value: Any, expected: tuple[str, Any]) -> bool:
        return bool(value == expected[1])

    def condition(self, value: str, expected: tuple[str, Any], const: Const) -> str:
        wanted = expected[1]
        if wanted is True or wanted is False:
            return f"{value} is {wanted}"
        return f"{value} == {const(wanted)}"

    def text(self, name: str, expected: tuple[str, Any]) -> str:
        return f"{name} == {describe(expected[1])}"

    def expected_text(self, expected: tuple[str, Any]) -> str:
        return describe(expected[1])

    def seen_text(self, value: Any, expected: tuple[str, Any]) -> str:
        return describe(value)

    def advice(self, name: str, expected: tuple[str, Any], value: Any) -> str:
        return PROPERTIES[expected[0]].advice
