"""Provide the words that the sentences about steps share, and the table of verbs for each operation.

`VERBS` maps each canonical operation to a function that returns the verbs for a step (`operation_verbs.py`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from tracer_core.names.sentences import a
from tracer_core.operator_table import BINARY, COMPARISONS, IN_PLACE
from tracer_core.recording import schema
from tracer_core.recording.happened import Called, Described
from tracer_core.recording.words import count, listed, quoted


class Verbs(NamedTuple):
    """The verbs of a sentence: `first` and `second` precede the additions to the graph, `last` follows them."""

    first: str
    last: str = ""
    second: str = ""


FindVerbs = Callable[[Described], Verbs]
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


def show(called: Called | None) -> str:
    """Return a value as a sentence shows it: "Tensor f32[4, 8] (`x`)", "the function `f`", "a tuple of 4"."""
    if called is None:
        return "an unknown value"
    value, name = called
    if name and "`" not in name and value.text in _BARE:
        return f"the {value.text} `{name}`"
    text = value.text if len(value.text) <= 80 else f"{value.text[:79]}…"
    if value.kind == "tensor" and value.fake is not None and value.fake.type not in text:
        text = f"{value.fake.type} {text}"
    if _COUNTED.match(text):
        text = a(text)
    elif _NAMED.match(text):
        text = f"the {text}"
    if not name or _says(text, name):
        return text
    return f"{text} ({quoted(name)})"


_BARE = frozenset({"function", "module", "class", "method", "builtin"})
"""Texts of values that say only of what kind they are."""
_COUNTED = re.compile(r"(?:tuple|list|dict|set|frozenset|deque|iterator|generator) (?:of|at) \d")
_NAMED = re.compile(r"(?:torch function|function|method|module|builtin|class|code) \S")
"""Texts of values that need an article in a sentence."""


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


def operands(step: Described) -> list[Called]:
    """Return the values that the instruction pops or reads, lowest on the stack first."""
    return step.before(step.instruction.takes)


def operand(step: Described, from_top: int) -> Called | None:
    """Return the item `from_top` (1: the top) of the stack before the step."""
    return step.item(from_top)


def results(step: Described) -> list[Called]:
    """Return the values that the instruction left on top of the stack."""
    return step.after(step.instruction.leaves)


def result(step: Described) -> str:
    """Return the text of the top of the stack after the step."""
    top = step.after(1)
    return show(top[0]) if top else "nothing"


def pushed(step: Described) -> str:
    """Return `pushed ...` with the values that the instruction left."""
    shown = show_all(results(step))
    return f"pushed {shown}" if shown else ""


def took_and_pushed(step: Described) -> Verbs:
    """Describe a step by its operands and results alone, which is right for every operation."""
    taken = show_all(operands(step))
    return Verbs(f"took {taken}" if taken else "", pushed(step))


def jumped(step: Described) -> bool | None:
    """Return whether a jump was taken; None if it was the last recorded step of its frame."""
    if step.following is None:
        return None
    return step._index.steps.instruction[step.following] == step.instruction.target


def goal(step: Described) -> str:
    """Return the target of a jump in words."""
    target = step.instruction.target
    line = None if target is None else step.code.instructions[target].line
    return "its target" if line is None else f"line {line}"
