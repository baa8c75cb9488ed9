"""Name values that were created in the trace by the expression that created them.

The expression is the program's own where a library's code returned the value to it: `F.relu(x)`, not what `F.relu`
calls in its turn.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from tracer_core.names.files import place
from tracer_core.recording import schema
from tracer_core.recording.codes import line_of, span_text
from tracer_core.recording.words import quoted

if TYPE_CHECKING:
    from tracer_core.recording.index import Index


class Maker(NamedTuple):
    """The expression that created a value, as a phrase, alone and with its place (`text`); and where it is: a step,
    its code and line."""

    phrase: str
    text: str
    step: int
    code: int
    line: int | None


SELF_NAMED = frozenset(
    "constant|empty slot|deleted|lazy value|cell|class|module|enum member|slice|builtin|builtin method|function|"
    "method|torch function".split("|")
)
"""Kinds of values whose text says what they are."""


def maker(index: Index, tracker: int) -> Maker | None:
    """Return what created a value; None if it existed before the trace, or its text says what it is."""
    kind, has_source = index.trackers.kind_of(tracker)
    if has_source or kind in SELF_NAMED:
        return None
    step = index.made_by(tracker)
    if step is None or index.own_line(step) is None:
        return None
    part = _part(index, step, tracker)
    whole = tracker if part is None else part[0]
    found = _in_the_program(index, step, whole)
    data = index.data
    code = data.frames[index.steps.frame[found]].code
    # A call that inlined a function created what it bound there; the result was created inside.
    is_result = found != step or not index.inlined.get(step)
    written = index.written(code, index.steps.instruction[found])
    phrase = written.phrase(is_result) if written.before is None else f"{written.before}{_operand(index, found)}"
    if part is not None:
        phrase = f"{part[1]} of {phrase}"
    return Maker(phrase, f"{phrase}, {written.at}", found, code, written.line)


def _in_the_program(index: Index, step: int, tracker: int) -> int:
    """Return the step of the program whose call of a library returned the value; the given one if none did."""
    frames, codes, at = index.data.frames, index.data.codes, step
    while True:
        frame = frames[index.steps.frame[at]]
        if codes[frame.code].owner == "user":
            return at
        # A call touches a value that did not exist before it by leaving it on the stack.
        if frame.call_step is None or frame.call_step >= at or frame.call_step not in index.touched(tracker):
            return step
        at = frame.call_step


_SEARCHED = 64
"""How many values before one are searched for the one that it is a part of."""


def _part(index: Index, step: int, tracker: int) -> tuple[int, str] | None:
    """Return the value created at the same step that the value is a part of, and its label there."""
    for whole in range(tracker - 1, max(-1, tracker - _SEARCHED), -1):
        if index.trackers.first_step(whole) != step:
            return None
        label = next((label for label, part in index.trackers.at(whole, step).parts if part == tracker), None)
        if label is not None:
            return whole, label
    return None


class Written(NamedTuple):
    """What an instruction contributes to the names of the values that it creates. `before` comes before the name of
    its operand, where that names the value."""

    before: str | None
    result: str
    created: str
    at: str
    line: int | None

    def phrase(self, is_result: bool) -> str:
        return self.result if is_result else self.created


def written(code: schema.Code, number: int) -> Written:
    """Return the words for what an instruction of a code creates."""
    instruction, line = code.instructions[number], line_of(code.instructions, number)
    text = span_text(code, instruction)
    result = created = _WORDS.get(instruction.op, "created")
    if text:
        result, created = f"{_OF_TEXT.get(instruction.op, '')}`{text}`", f"created by `{text}`"
    return Written(_OF_OPERAND.get(instruction.op), result, created, place(code.filename, line), line)


def _operand(index: Index, step: int) -> str:
    """Return what the top of the stack before a step is called; of an iterator, what it iterates over."""
    top = index.steps.top_before(step)
    if top is None:
        return "a value"
    snapshot = index.trackers.at(top, step - 1)
    if snapshot.source is not None:
        return quoted(snapshot.name).removeprefix(_ITERATOR)
    made = index.made_by(snapshot.tracker)
    found = index.maker(snapshot.tracker) if made is not None and made < step else None
    return snapshot.text if found is None else found.phrase.removeprefix(_ITERATOR)


_ITERATOR = "the iterator over "
_OF_OPERAND = {
    "GET_ITER": _ITERATOR,
    "FOR_ITER": "an item of ",
    "BEFORE_WITH": "the result of entering ",
}
_OF_TEXT = {
    "CALL": "the result of ",
    "CALL_FUNCTION_EX": "the result of ",
    "UNPACK_SEQUENCE": "an item for ",
    "UNPACK_EX": "an item for ",
}
_WORDS = {"CALL": "the result of a call", "BINARY_OP": "the result of an operator"}
