"""A step in one sentence: the instruction, what it took, what it added to the graph, what it left.

`SAYINGS` has, for each canonical operation, a function from a step to its verbs; nodes, guards, breaks and exceptions
are the same for all operations and are put in between here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from tracer_core.operator_table import BINARY, COMPARISONS, IN_PLACE
from tracer_core.recording import schema
from tracer_core.recording.steps import Step, Value
from tracer_core.recording.summary import count
from tracer_core.symbol_names import said, symbols_in


class Said(NamedTuple):
    """The verbs of a sentence: those before what was added to the graph, and the one after it."""

    first: str
    last: str = ""
    second: str = ""


Saying = Callable[[Step], Said]
SAYINGS: dict[str, Saying] = {}
MOST = 3
"""How many nodes, guards or arguments are told one by one."""


def says(*ops: str) -> Callable[[Saying], Saying]:
    """Make a function the one that tells of `ops`."""

    def register(function: Saying) -> Saying:
        SAYINGS.update(dict.fromkeys(ops, function))
        return function

    return register


def sentence(step: Step) -> str:
    """What the step did, for people."""
    text = _without_symbols(step)
    meanings = step._index.symbol_meanings(step.index)
    names = [
        name for name in symbols_in(text, meanings) if f"{name} = " not in text and f"symbol {name} " not in text
    ]
    return f"{text} Here {said(names, meanings)}." if names else text


def _without_symbols(step: Step) -> str:
    """The same, without what symbols stand for."""
    import tracer_core.recording.sayings  # noqa: F401  fills SAYINGS

    instruction = step.instruction
    saying = SAYINGS.get(instruction.op, took_and_pushed)(step)
    name = f"{instruction.opname} {instruction.arg}".strip()
    verbs = [verb for verb in (saying.first, saying.second, *_graph_verbs(step)) if verb]
    raised, broken = step.raised, step.break_
    if step.ended:
        verbs += [saying.last] if saying.last else []
        if broken is not None:
            return f"{name} {listed(verbs)}. The graph ends after this: {closed(broken.message)}"
    elif broken is not None:
        return f"{name} {listed(verbs) or 'was reached'}. The graph breaks here: {closed(broken.message)}"
    elif raised is not None:
        verbs.append(f"raised {raised.text}")
    elif any(lost.attempt == step.attempt.id for lost in step._index.data.lost):
        verbs.append("was not recorded to its end")
    else:
        verbs.append("did not end, because the walk stopped here")
    return f"{name} {listed(verbs) or 'did its work'}."


def _graph_verbs(step: Step) -> list[str]:
    verbs = []
    if step.nodes:
        verbs.append(f"added {_some('node', [f'`{node_text(node)}`' for node in step.nodes])}")
    if step.symbols:
        verbs.append(
            f"made {_some('symbol', [f'{one.name} ({one.source}, now {one.hint})' for one in step.symbols])}"
        )
    if step.guards:
        verbs.append(f"asked for {_some('guard', [f'`{guard.text}`' for guard in step.guards])}")
    if step.side_effects:
        verbs.append(f"noted {_some('side effect', [effect.message for effect in step.side_effects])}")
    return verbs


def _some(noun: str, texts: Sequence[str]) -> str:
    """`node a`, `nodes a and b`, `9 nodes (a, b, c, ...)`."""
    if len(texts) > MOST:
        return f"{count(len(texts), noun)} ({', '.join(texts[:MOST])}, ...)"
    return f"{noun}{'s' if len(texts) > 1 else ''} {listed(texts)}"


_INFIX = {
    f"operator.{each.function.__name__}": plain for plain in BINARY for each in (BINARY[plain], IN_PLACE[f"{plain}="])
} | {f"operator.{each.function.__name__}": each.symbol for each in COMPARISONS.values()}


def node_text(node: schema.Node) -> str:
    """A node as a line of Python: `add = x + 1`, `view = y.view(4, 2)`."""
    if node.op == "placeholder":
        return f"{node.name} = input {node.source or node.target}"
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


def listed(texts: Sequence[str]) -> str:
    """`a`, `a and b`, `a, b, and c`."""
    if len(texts) < 3:
        return " and ".join(texts)
    return f"{', '.join(texts[:-1])}, and {texts[-1]}"


def closed(text: str) -> str:
    """The text with a full stop."""
    return text if text.endswith((".", "!", "?")) else f"{text}."


def show(value: Value | None) -> str:
    """A value in a sentence: `Tensor f32[4, 8] (L['x'])`."""
    if value is None:
        return "something unknown"
    text = value.text if len(value.text) <= 80 else f"{value.text[:79]}…"
    if value.kind == "tensor" and value.fake is not None and value.fake.type not in text:
        text = f"{value.fake.type} {text}"
    return f"{text} ({value.source})" if value.source and value.source not in text else text


def show_all(values: Sequence[Value]) -> str:
    """Several values, NULLs left out, the later ones of many only counted."""
    shown = [show(value) for value in values if not is_null(value)]
    if len(shown) > MOST:
        return listed([*shown[:MOST], f"{len(shown) - MOST} more"])
    return listed(shown)


def is_null(value: Value) -> bool:
    """Whether it is the null that CPython keeps below a callable."""
    return value.text == "NULL" or value.cls in ("NullVariable", "PlainNull")


def operands(step: Step) -> list[Value]:
    """What the instruction takes or looks at, lowest on the stack first."""
    takes = step.instruction.takes
    return step.stack[-takes:] if takes else []


def operand(step: Step, from_top: int) -> Value | None:
    """The item `from_top` (1: the top) of the stack before the step."""
    return step.stack[-from_top] if from_top <= len(step.stack) else None


def results(step: Step) -> list[Value]:
    """What the instruction left on top of the stack."""
    leaves = step.instruction.leaves
    return step.after.stack[-leaves:] if step.after is not None and leaves else []


def result(step: Step) -> str:
    """The top of the stack after the step, shown."""
    return show(step.after.stack[-1]) if step.after is not None and step.after.stack else "nothing"


def pushed(step: Step) -> str:
    """`pushed ...` for what the instruction left."""
    shown = show_all(results(step))
    return f"pushed {shown}" if shown else ""


def took_and_pushed(step: Step) -> Said:
    """The plainest telling: right for every operation."""
    taken = show_all(operands(step))
    return Said(f"took {taken}" if taken else "", pushed(step))


def jumped(step: Step) -> bool | None:
    """Whether a jump went to its target; None if nothing of the frame came after it."""
    following = step._index.steps.next_own(step.index)
    if following is None:
        return None
    return step._index.steps.instruction[following] == step.instruction.target


def goal(step: Step) -> str:
    """Where a jump goes, in words."""
    target = step.instruction.target
    line = None if target is None else step.code.instructions[target].line
    return "its target" if line is None else f"line {line}"
