"""Describe a step in one sentence: the instruction, the values it took, its additions to the graph, its result.

Nodes, guards, breaks and exceptions are described alike for all operations, between the verbs of each.
"""

from __future__ import annotations

from collections.abc import Hashable

from tracer_core.names.symbols import said, symbols_in
from tracer_core.recording import operation_verbs  # noqa: F401  fills VERBS
from tracer_core.recording.happened import Described
from tracer_core.recording.restarts import restart
from tracer_core.recording.sentence_parts import MOST, VERBS, closed, node_text, some, took_and_pushed
from tracer_core.recording.words import count, listed


def sentence(step: Described) -> str:
    """Return a sentence that says what the step did."""
    text = _of_values(step) if step.is_plain else _of_all(step)
    meanings = step._index.symbol_meanings(step.index)
    names = [
        name for name in symbols_in(text, meanings) if f"{name} = " not in text and f"symbol {name} " not in text
    ]
    return f"{text} Here {said(names, meanings)}." if names else text


class Sentences:
    """The sentences of a recording's steps. Many steps of a loop are alike, and their sentence is built once."""

    MOST = 4096

    def __init__(self) -> None:
        self._known: dict[Hashable, str] = {}

    def of(self, step: Described) -> str:
        """Return what `sentence` does."""
        if not step.is_plain:
            return sentence(step)
        likeness = step.likeness
        known = self._known.get(likeness)
        if known is None:
            if len(self._known) >= self.MOST:
                self._known.clear()
            known = self._known[likeness] = sentence(step)
        return known


def _of_values(step: Described) -> str:
    """Return the sentence of a step that is nothing but an instruction with its values."""
    found = VERBS.get(step.instruction.op, took_and_pushed)(step)
    verbs = [verb for verb in (found.first, found.second) if verb]
    verbs += ([found.last] if found.last else []) if step.ended else [_why_not_ended(step)]
    return f"{_name(step)} {listed(verbs) or 'completed'}."


def _name(step: Described) -> str:
    instruction = step.instruction
    return f"{instruction.opname} {instruction.arg}".strip()


def _why_not_ended(step: Described) -> str:
    if any(lost.attempt == step.attempt.id for lost in step._index.data.lost):
        return "was not recorded completely"
    return "did not complete, because tracing stopped here"


def _of_all(step: Described) -> str:
    """Return the sentence of a step of which more is recorded than values, without the meanings of its symbols."""
    return " ".join(part for part in [_of_one(step), restart(step), *_about_bodies(step)] if part)


def _of_one(step: Described) -> str:
    found = VERBS.get(step.instruction.op, took_and_pushed)(step)
    verbs = [verb for verb in (found.first, found.second, *_graph_verbs(step)) if verb]
    raised, broken = step.raised, step.break_
    name = _name(step)
    if step.ended:
        verbs += [found.last] if found.last else []
        if broken is not None:
            return f"{name} {listed(verbs)}. The graph ends after this: {closed(broken.message)}"
    elif broken is not None:
        return f"{name} {listed(verbs) or 'was reached'}. The graph breaks here: {closed(broken.message)}"
    else:
        verbs.append(f"raised {raised.text}" if raised is not None else _why_not_ended(step))
    return f"{name} {listed(verbs) or 'completed'}."


def _graph_verbs(step: Described) -> list[str]:
    verbs = []
    lifted = step._index.lifted
    nodes = [f"`{node_text(node)}`" for node in step.nodes if node.id not in lifted]
    if nodes:
        verbs.append(f"added {some('node', nodes)}")
    if step.symbols:
        verbs.append(
            f"created {some('symbol', [f'{one.name} ({one.meaning}, now {one.hint})' for one in step.symbols])}"
        )
    if step.guards:
        verbs.append(f"installed {some('guard', [f'`{guard.text}`' for guard in step.guards])}")
    if step.side_effects:
        verbs.append(f"recorded {some('side effect', list(map(step._index.effect_text, step.side_effects)))}")
    return verbs


def _about_bodies(step: Described) -> list[str]:
    """Return sentences about the values that the step lifted into bodies, and about the bodies that it traced."""
    lifts = sorted(step.lifted, key=lambda lift: lift.reason == "inside")
    said = [lift.text for lift in lifts[:MOST]]
    if len(lifts) > MOST:
        said.append(
            f"{count(len(lifts) - MOST, 'more value')} became {'an input' if len(lifts) == MOST + 1 else 'inputs'}."
        )
    return [*said, *(body.text for body in step.bodies)]
