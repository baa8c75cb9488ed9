"""The table of rules that write an instruction as Python text: one per canonical instruction, under `@writes`."""

from __future__ import annotations

from collections.abc import Callable

from tracer_core.bytecode import Instruction
from tracer_core.listing.state import State

Rule = Callable[[State, Instruction], None]
RULES: dict[str, Rule] = {}


def writes(*ops: str) -> Callable[[Rule], Rule]:
    """Register the rule of these instructions."""

    def register(rule: Rule) -> Rule:
        RULES.update(dict.fromkeys(ops, rule))
        return rule

    return register
