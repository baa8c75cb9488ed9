"""The table of rules that rebuild values: one per tracker class, under `@rebuilds`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from tracer_core.codegen.emit.emitter import Emitter

Rule = Callable[[Emitter, Any], None]
R = TypeVar("R", bound=Callable[..., None])
_rules: dict[type, Rule] = {}


def rebuilds(*kinds: type) -> Callable[[R], R]:
    """Register `rule(emitter, tracker)`, which pushes the value of trackers of these kinds."""

    def register(rule: R) -> R:
        for kind in kinds:
            _rules[kind] = rule
        return rule

    return register


def rule_for(kind: type) -> Rule | None:
    """Return the rule of the most specific class that has one."""
    return next((_rules[cls] for cls in kind.__mro__ if cls in _rules), None)
