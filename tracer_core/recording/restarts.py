"""Say what the tracer does where it gives an attempt up, and where it begins again: it stops at another step then."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tracer_core.recording.codes import line_of
from tracer_core.recording.sentence_parts import closed

if TYPE_CHECKING:
    from tracer_core.recording import schema
    from tracer_core.recording.happened import Described
    from tracer_core.recording.index import Index


def restart(step: Described) -> str:
    """Return what is said at the last step of an attempt that was not kept, and at the first step of the next one; an
    empty text for any other step."""
    attempt = step.attempt
    said = []
    if attempt.number > 1 and attempt.first_step == step.index and step.break_ is None:
        said.append(_beginning(step._index, attempt))
    if attempt.outcome == "restarted" and attempt.last_step == step.index:
        said.append(_end(step, attempt))
    return " ".join(said)


def _beginning(index: Index, attempt: schema.Attempt) -> str:
    before = index.data.attempts[attempt.id - 1]
    if not before.message:
        return "The tracer begins again here."
    text = f"The tracer begins again here, as the graph broke: {closed(before.message)}"
    stops = next((one.final_step for one in index.data.breaks if one.attempt == before.id and one.final_step), None)
    return text if stops is None else f"{text} It stops at line {_place(index, stops)[1]} this time."


def _end(step: Described, attempt: schema.Attempt) -> str:
    index = step._index
    again = index.data.attempts[attempt.id + 1] if attempt.id + 1 < len(index.data.attempts) else None
    back = None if again is None or again.compilation != attempt.compilation else _first_line(index, again)
    text = f"The tracer goes back to {'the start of the function' if back is None else f'line {back}'}"
    broken = step.break_
    if broken is None or broken.final_step is None:
        return f"{text}, knowing more this time."
    if _place(index, broken.final_step) == _place(index, step.index):
        return f"{text} and stops here this time."
    line = _place(index, broken.final_step)[1]
    return f"{text} and stops this time at line {line}, which called what leads here."


def _place(index: Index, step: int) -> tuple[int, int | None]:
    """Return the code and the line of a step."""
    code = index.data.frames[index.steps.frame[step]].code
    return code, line_of(index.data.codes[code].instructions, index.steps.instruction[step])


def _first_line(index: Index, attempt: schema.Attempt) -> int | None:
    """Return the line of the first step of an attempt that is the program's own."""
    lines = map(index.own_line, index.steps_of(attempt.id))
    return next((line for line in lines if line is not None), None)
