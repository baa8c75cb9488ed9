"""Find out which stack items are known to be unchanged after the instruction that ended a graph has run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tracer_core.bytecode import Instruction, call_items, pops, stack_effect
from tracer_core.interpreter.ops.exceptions import HandledMark
from tracer_core.variables.core.base import VariableTracker
from tracer_core.variables.core.constant import NULL
from tracer_core.variables.exceptions.exceptions import ExceptionVariable

Items = list[VariableTracker | None]
_rules: dict[str, Callable[[Items, Any], Items]] = {
    "COPY": lambda items, depth: [*items, items[-depth]],
    "SWAP": lambda items, depth: [*items[:-depth], items[-1], *items[1 - depth : -1], items[-depth]],
    "PUSH_NULL": lambda items, _: [*items, NULL],
    # Whether it leaves an empty slot is decided at run time; the generated code ensures that it does.
    "LOAD_METHOD": lambda items, _: [*items[:-1], *call_items(None, NULL)],
    "LOAD_GLOBAL_NULL": lambda items, _: [*items, *call_items(None, NULL)],
    "WITH_EXCEPT_START": lambda items, _: [*items, None],
    "PUSH_EXC_INFO": lambda items, _: [*items[:-1], _mark(items[-1]), items[-1]],
    "POP_EXCEPT": lambda items, _: [None if item is items[-1] else item for item in items[:-1]],
}
"""Instructions that move items, keep items that they read, or leave items of which something is known."""

_LEAVES_TOP = frozenset({"FOR_ITER"})
"""Instructions that take the top item only when they jump."""


def stack_after(stack: list[VariableTracker], broken: Instruction, jumped: bool) -> Items:
    """Return the items on the stack after `broken`; None for those that it creates."""
    rule = _rules.get(broken.op)
    if rule is not None:
        return rule(list(stack), broken.arg)
    depth = len(stack) + stack_effect(broken, jumped)
    taken = 0 if broken.op in _LEAVES_TOP and not jumped else pops(broken)
    kept: Items = list(stack[: len(stack) - taken])
    return [*kept, *[None] * (depth - len(kept))]


def _mark(exception: VariableTracker | None) -> HandledMark:
    assert isinstance(exception, ExceptionVariable)
    return HandledMark(exception)
