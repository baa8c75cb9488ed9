"""Describe a step in one sentence: the instruction, the values it took, its additions to the graph, its result.

Nodes, guards, breaks and exceptions are described alike for all operations, between the verbs of each.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tracer_core.names.symbols import said, symbols_in
from tracer_core.recording import operation_verbs  # noqa: F401  fills VERBS
from tracer_core.recording.restarts import restart
from tracer_core.recording.sentence_parts import MOST, VERBS, closed, node_text, some, took_and_pushed
from tracer_core.recording.words import count, listed

if TYPE_CHECKING:
    from tracer_core.recording.steps import Step


def sentence(step: Step) -> str:
    """Return a sentence that says what the step did."""
    text = " ".join(part for part in [_without_symbols(step), restart(step), *_about_bodies(step)] if part)
    meanings = step._index.symbol_meanings(step.index)
    names = [
        name for name in symbols_in(text, meanings) if f"{name} = " not in text and f"symbol {name} " not in text
    ]
    return f"{text} Here {said(names, meanings)}." if names else text


def _without_symbols(step: Step) -> str:
    """Return the sentence without the meanings of its symbols."""
    instruction = step.instruction
    found = VERBS.get(instruction.op, took_and_pushed)(step)
    name = f"{instruction.opname} {instruction.arg}".strip()
    verbs = [verb for verb in (found.first, found.second, *_graph_verbs(step)) if verb]
    raised, broken = step.raised, step.break_
    if step.ended:
        verbs += [found.last] if found.last else []
        if broken is not None:
            return f"{name} {listed(verbs)}. The graph ends after this: {closed(broken.message)}"
    elif broken is not None:
        return f"{name} {listed(verbs) or 'was reached'}. The graph breaks here: {closed(broken.message)}"
    elif raised is not None:
        verbs.append(f"raised {raised.text}")
    elif any(lost.attempt == step.attempt.id for lost in step._index.data.lost):
        verbs.append("was not recorded completely")
    else:
        verbs.append("did not complete, because tracing stopped here")
    return f"{name} {listed(verbs) or 'completed'}."


def _graph_verbs(step: Step) -> list[str]:
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


def _about_bodies(step: Step) -> list[str]:
    """Return sentences about the values that the step lifted into bodies, and about the bodies that it traced."""
    lifts = sorted(step.lifted, key=lambda lift: lift.reason == "inside")
    said = [lift.text for lift in lifts[:MOST]]
    if len(lifts) > MOST:
        said.append(
            f"{count(len(lifts) - MOST, 'more value')} became {'an input' if len(lifts) == MOST + 1 else 'inputs'}."
        )
    return [*said, *(body.text for body in step.bodies)]
