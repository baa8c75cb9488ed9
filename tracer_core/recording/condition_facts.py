"""What a condition can ask of a step, its frame, and what it added."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from tracer_core.recording import schema
from tracer_core.recording.codes import line_of, line_text
from tracer_core.recording.columns import State
from tracer_core.recording.index import Index
from tracer_core.recording.watching import MISSING, Seen, sizes


@dataclass(slots=True)
class Moment:
    """A step that is asked about. `state` is that of its frame before it; None where no variable is asked for."""

    index: Index
    step: int
    code: schema.Code
    state: State | None = None
    node: schema.Node | None = None
    guard: schema.Guard | None = None
    event: Seen | None = None  # the value in place of the variable, where a history is read


Get = Callable[[Moment], Any]


def _instruction(moment: Moment) -> schema.Instr:
    return moment.code.instructions[moment.index.steps.instruction[moment.step]]


def _line(moment: Moment) -> Any:
    line = _line_of(moment)
    return MISSING if line is None else line


def _source(moment: Moment) -> Any:
    return line_text(moment.code, _line_of(moment)) or MISSING


def _line_of(moment: Moment) -> int | None:
    return line_of(moment.code.instructions, moment.index.steps.instruction[moment.step])


def _depth(moment: Moment) -> int:
    return moment.index.data.frames[moment.index.steps.frame[moment.step]].depth


def _raised(moment: Moment) -> Any:
    return next((raised.text for raised in moment.index.raised.get(moment.step, [])), MISSING)


def _of_break(read: Callable[[schema.Break], Any]) -> Get:
    return lambda moment: next((read(found) for found in moment.index.breaks.get(moment.step, [])), MISSING)


def _of_node(read: Callable[[schema.Node], Any]) -> Get:
    return lambda moment: MISSING if moment.node is None else read(moment.node)


def _of_fake(read: Callable[[schema.FakeMeta], Any]) -> Get:
    return _of_node(lambda node: read(node.fakes[0]) if node.fakes else MISSING)


def _of_guard(read: Callable[[schema.Guard], Any]) -> Get:
    return lambda moment: MISSING if moment.guard is None else read(moment.guard)


FACTS: Mapping[str, Mapping[str, Get]] = {
    "step": {
        "number": lambda moment: moment.step,
        "line": _line,
        "op": lambda moment: _instruction(moment).opname,
        "arg": lambda moment: _instruction(moment).arg,
        "source": _source,
        "raised": _raised,
    },
    "frame": {
        "function": lambda moment: moment.code.name,
        "qualname": lambda moment: moment.code.qualname,
        "file": lambda moment: moment.code.filename,
        "depth": _depth,
        "owner": lambda moment: moment.code.owner,
    },
    "node": {
        "name": _of_node(lambda node: node.name),
        "target": _of_node(lambda node: node.target),
        "op": _of_node(lambda node: node.op),
        "args": _of_node(lambda node: node.args),
        "shape": _of_fake(lambda fake: sizes(fake.shape)),
        "dtype": _of_fake(lambda fake: fake.dtype),
        "device": _of_fake(lambda fake: fake.device),
    },
    "guard": {
        "text": _of_guard(lambda guard: guard.text),
        "kind": _of_guard(lambda guard: guard.kind),
        "source": _of_guard(lambda guard: guard.source),
        "name": _of_guard(lambda guard: guard.name),
    },
    "graph_break": {
        "reason": _of_break(lambda found: found.reason_id),
        "message": _of_break(lambda found: found.message),
    },
}
"""What can be asked, by its name; the first of each stands for it where no attribute is asked for."""

OF_INSTRUCTIONS = frozenset(
    [("step", fact) for fact in ("line", "op", "arg", "source")]
    + [("frame", fact) for fact in ("function", "qualname", "file", "owner")]
)
"""The facts that are the same each time an instruction runs."""
