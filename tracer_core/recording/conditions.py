"""Conditions on steps, in a small language with Python's syntax, and the steps that meet them.

    step.line == 12 and step.op == "CALL"          facts of the step, of its frame, and of the node, the guard and the
    frame == "forward" and node.target == "relu"   graph break there (alone, they stand for their name or text)
    x.shape[0] > 4, self.steps == 2                variables of the step's frame, as they were before the step
    changes(x.shape), changes(value(17))           the step left another value there than it found
    reads(self.steps), writes(self.steps)          the instruction reads it, or stores to it

In words, too: "the shape of x changes", "self.steps is read", "x is written". Nothing of the program runs: a
condition is evaluated over the recording alone. Where a value was not recorded, a comparison with it does not hold. A
step that added several nodes or guards meets a condition that holds for one of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from tracer_core.recording import schema
from tracer_core.recording.columns import BLOCK, State
from tracer_core.recording.condition_facts import Moment
from tracer_core.recording.condition_reader import Condition, ConditionError, read_condition
from tracer_core.recording.damage import reading
from tracer_core.recording.index import Index
from tracer_core.recording.pace import paced


class Stops(msgspec.Struct, gc=False):
    """The steps to stop at because of a condition: all that meet it, or, where it is about what holds for a while,
    each that begins to. `names` says whether it names variables, which those of libraries may be."""

    condition: str
    steps: list[int] = []
    names: bool = False
    error: str = ""  # what is wrong with the condition; empty if nothing is


def steps_where(index: Index, text: str, numbers: Sequence[int]) -> list[int]:
    """Return those of `numbers` that meet the condition.

    Raises:
        ConditionError: the condition cannot be understood.
    """
    return _meeting(index, read_condition(index, text), numbers)


def stops(index: Index, text: str) -> Stops:
    """Return the steps of a recording to stop at."""
    try:
        condition = read_condition(index, text)
    except ConditionError as error:
        return Stops(text.strip(), error=str(error))
    found = _meeting(index, condition, range(index.data.steps))
    if not condition.momentary:
        found = [step for step, before in zip(found, [-2, *found], strict=False) if step != before + 1]
    return Stops(condition.text, found, condition.names)


@reading
def _meeting(index: Index, condition: Condition, numbers: Sequence[int]) -> list[int]:
    if not numbers:
        return []
    codes, frames, frame_of = index.data.codes, index.data.frames, index.steps.frame
    holds = condition.holds
    if condition.only_instructions:
        return _at_instructions(index, condition, numbers)
    if condition.states:
        wanted, first, stop = set(numbers), min(numbers), max(numbers) + 1
        states: dict[int, State] = {}
        block = first - first % BLOCK
        found = {
            step
            for step, frame, _ in index.steps.walk(block, stop, states)
            if step in wanted
            and any(
                map(holds, _moments(index, condition, Moment(index, step, codes[frames[frame].code], states[frame])))
            )
        }
        return [step for step in numbers if step in found]
    return [
        step
        for step in paced(numbers, len(numbers))
        if any(map(holds, _moments(index, condition, Moment(index, step, codes[frames[frame_of[step]].code]))))
    ]


def _at_instructions(index: Index, condition: Condition, numbers: Sequence[int]) -> list[int]:
    """Return those of `numbers` whose instruction meets the condition; each instruction is asked about once."""
    codes, frame_of, instruction_of = index.data.codes, index.steps.frame, index.steps.instruction
    code_of = [frame.code for frame in index.data.frames]
    known: dict[tuple[int, int], bool] = {}
    found: list[int] = []
    for step in numbers:
        place = code_of[frame_of[step]], instruction_of[step]
        if place not in known:
            known[place] = condition.holds(Moment(index, step, codes[place[0]]))
        if known[place]:
            found.append(step)
    return found


def _moments(index: Index, condition: Condition, moment: Moment) -> Iterable[Moment]:
    """Return the step once for each of its nodes and guards, where the condition asks for them."""
    nodes: Sequence[schema.Node | None] = (condition.nodes and index.nodes.get(moment.step)) or [None]
    guards: Sequence[schema.Guard | None] = (condition.guards and index.guards.get(moment.step)) or [None]
    if len(nodes) == 1 and len(guards) == 1:
        moment.node, moment.guard = nodes[0], guards[0]
        return [moment]
    return [Moment(index, moment.step, moment.code, moment.state, node, guard) for node in nodes for guard in guards]
