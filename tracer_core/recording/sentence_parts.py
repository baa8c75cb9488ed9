"""Provide the words that the sentences about steps share, and the table of verbs for each operation.

`VERBS` maps each canonical operation to a function that returns the verbs for a step (`operation_verbs.py`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from tracer_core.operator_table import BINARY, COMPARISONS, IN_PLACE
from tracer_core.recording import schema
from tracer_core.recording.words import count, listed

if TYPE_CHECKING:
    from tracer_core.recording.steps import Step, Value


class Verbs(NamedTuple):
    """The verbs of a sentence: `first` and `second` precede the additions to the graph, `last` follows them."""

    first: str
    last: str = ""
    second: str = ""


FindVerbs = Callable[["Step"], Verbs]
VERBS: dict[str, FindVerbs] = {}
MOST = 3
"""How many nodes, guards or arguments are listed one by one."""


def describes(*ops: str) -> Callable[[FindVerbs], FindVerbs]:
    """Register a function as the one that describes `ops`."""

    def register(function: FindVerbs) -> FindVerbs:
        VERBS.update(dict.fromkeys(ops, function))
        return function

    return register


def some(noun: str, texts: Sequence[str]) -> str:
    """Return `node a`, `nodes a and b`, or `9 nodes (a, b, c, ...)`."""
    if len(texts) > MOST:
        return f"{count(len(texts), noun)} ({', '.join(texts[:MOST])}, ...)"
    return f"{noun}{'s' if len(texts) > 1 else ''} {listed(texts)}"


_INFIX = {
    f"operator.{each.function.__name__}": plain for plain in BINARY for each in (BINARY[plain], IN_PLACE[f"{plain}="])
} | {f"operator.{each.function.__name__}": each.symbol for each in COMPARISONS.values()}


def node_text(node: schema.Node) -> str:
    """Return a node as a line of Python: `add = x + 1`, `view = y.view(4, 2)`."""
    if node.op == "placeholder":
        return f"{node.name} = input {node.label or node.target}"
    if node.op == "get_attr":
        return f"{node.name} = self.{node.target}"
    if node.op == "output":
        return f"return {node.args}"
    args = node.args.split(", ")
    if node.target in _INFIX and len(args) == 2:
        return f"{node.name} = {args[0]} {_INFIX[node.target]} {args[1]}"
    if node.op == "call_method":
        owner, _, rest = node.args.partition(", ")
        return f"{node.name} = {owner}.{node.target}({rest})"
    return f"{node.name} = {node.target}({node.args})"


def closed(text: str) -> str:
    """Return the text with a full stop."""
    return text if text.endswith((".", "!", "?")) else f"{text}."


class Called(NamedTuple):
    """A value, and what a sentence calls it."""

    value: Value
    name: str


def show(called: Called | None) -> str:
    """Return a value as a sentence shows it: "Tensor f32[4, 8] (`x`)"."""
    if called is None:
        return "an unknown value"
    value, name = called
    text = value.text if len(value.text) <= 80 else f"{value.text[:79]}…"
    if value.kind == "tensor" and value.fake is not None and value.fake.type not in text:
        text = f"{value.fake.type} {text}"
    if not name or _says(text, name):
        return text
    return f"{text} ({name})" if "`" in name else f"{text} (`{name}`)"


def _says(text: str, name: str) -> bool:
    """Return whether a text has the name in it, as a word."""
    return name in text and re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text) is not None


def show_all(values: Sequence[Called]) -> str:
    """Return several values in one text: NULLs are left out, and of many values the later ones are only counted."""
    shown = [show(called) for called in values if not is_null(called)]
    if len(shown) > MOST:
        return listed([*shown[:MOST], f"{len(shown) - MOST} more"])
    return listed(shown)


def is_null(called: Called) -> bool:
    """Return whether it is the NULL that CPython pushes before a callable."""
    return called.value.cls == "NullVariable"


def _called(step: Step, value: Value) -> Called:
    """Return the value with its source, the variable of the frame that is bound to it (if the instruction does not
    name that), or what created it; the place where this was is left out on the same line."""
    if value.source is not None:
        return Called(value, value.name)
    maker = value.maker
    if maker is None or value.made_by == step.index:
        return Called(value, "")
    bound = next((name for name, one in (*step.locals.items(), *step.cells.items()) if one.id == value.id), None)
    if bound is not None and "`" not in bound and bound != step.instruction.arg:
        return Called(value, bound)
    here = (step.code.id, step.line) == (maker.code, maker.line)
    return Called(value, maker.phrase if here else maker.text)


def operands(step: Step) -> list[Called]:
    """Return the values that the instruction pops or reads, lowest on the stack first."""
    takes = step.instruction.takes
    return [_called(step, value) for value in step.stack[-takes:]] if takes else []


def operand(step: Step, from_top: int) -> Called | None:
    """Return the item `from_top` (1: the top) of the stack before the step."""
    return _called(step, step.stack[-from_top]) if from_top <= len(step.stack) else None


def results(step: Step) -> list[Called]:
    """Return the values that the instruction left on top of the stack."""
    leaves = step.instruction.leaves
    return [_called(step, value) for value in step.after.stack[-leaves:]] if step.after is not None and leaves else []


def result(step: Step) -> str:
    """Return the text of the top of the stack after the step."""
    stack = step.after.stack if step.after is not None else []
    return show(_called(step, stack[-1])) if stack else "nothing"


def pushed(step: Step) -> str:
    """Return `pushed ...` with the values that the instruction left."""
    shown = show_all(results(step))
    return f"pushed {shown}" if shown else ""


def took_and_pushed(step: Step) -> Verbs:
    """Describe a step by its operands and results alone, which is right for every operation."""
    taken = show_all(operands(step))
    return Verbs(f"took {taken}" if taken else "", pushed(step))


def jumped(step: Step) -> bool | None:
    """Return whether a jump was taken; None if it was the last recorded step of its frame."""
    following = step._index.steps.next_own(step.index)
    if following is None:
        return None
    return step._index.steps.instruction[following] == step.instruction.target


def goal(step: Step) -> str:
    """Return the target of a jump in words."""
    target = step.instruction.target
    line = None if target is None else step.code.instructions[target].line
    return "its target" if line is None else f"line {line}"
