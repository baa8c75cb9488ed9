"""Provide what is recorded of a step by its number: where it was, what it added, and the values its sentence names.

Nothing here reports damage to the recording: who reads more than one step of it does that once.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import NamedTuple

from tracer_core.recording import schema
from tracer_core.recording.codes import line_of
from tracer_core.recording.columns import State
from tracer_core.recording.index import Index


class Happened:
    """What happened at a step, number `index`."""

    def __init__(self, index: Index, number: int) -> None:
        self.index = number
        self._index = index

    @property
    def frame(self) -> schema.Frame:
        return self._index.data.frames[self._index.steps.frame[self.index]]

    @property
    def code(self) -> schema.Code:
        return self._index.data.codes[self.frame.code]

    @property
    def instruction(self) -> schema.Instr:
        return self.code.instructions[self._index.steps.instruction[self.index]]

    @property
    def attempt(self) -> schema.Attempt:
        return self._index.attempt(self.index)

    @property
    def ended(self) -> bool:
        """False if the instruction raised, broke the graph, or was cut off by a restart."""
        return bool(self._index.steps.ended[self.index])

    @property
    def nodes(self) -> list[schema.Node]:
        """The nodes it added to the graph itself (not those of frames it inlined)."""
        return self._index.nodes.get(self.index, [])

    @property
    def bodies(self) -> list[schema.Body]:
        """The bodies that its call traced."""
        return self._index.bodies.get(self.index, [])

    @property
    def lifted(self) -> list[schema.Lift]:
        """The values that it made inputs of bodies."""
        return self._index.lifts.get(self.index, [])

    @property
    def guards(self) -> list[schema.Guard]:
        """The guards it installed."""
        return self._index.guards.get(self.index, [])

    @property
    def symbols(self) -> list[schema.Symbol]:
        return self._index.symbols.get(self.index, [])

    @property
    def side_effects(self) -> list[schema.SideEffect]:
        return self._index.side_effects.get(self.index, [])

    @property
    def break_(self) -> schema.Break | None:
        """The graph break found here, or that ended the last attempt here."""
        return next(iter(self._index.breaks.get(self.index, [])), None)

    @property
    def raised(self) -> schema.Raised | None:
        """The Python exception it raised."""
        return next(iter(self._index.raised.get(self.index, [])), None)

    @property
    def inlined(self) -> list[schema.Code]:
        """The codes of the frames it inlined."""
        return [self._index.data.codes[frame.code] for frame in self._index.inlined.get(self.index, [])]


class Called(NamedTuple):
    """A value, and what a sentence calls it: the program's name of its source, of a variable bound to it, or the
    expression that created it; empty if its text says what it is."""

    value: schema.Snapshot
    name: str


class Described(Happened):
    """A step as its sentence describes it. `following` is the next step of its frame, `until` the last one that
    belongs to it: itself, or the last one of the frames it inlined."""

    __slots__ = ("code", "frame", "instruction")  # read at once, since a sentence needs them often
    frame: schema.Frame
    code: schema.Code
    instruction: schema.Instr

    def __init__(self, index: Index, number: int, before: State, after: State | None, following: int | None) -> None:
        self.index = number
        self.frame = index.data.frames[index.steps.frame[number]]
        self.code = index.data.codes[self.frame.code]
        self.instruction = self.code.instructions[index.steps.instruction[number]]
        self.following = following
        self.until = self.frame.end_step if following is None else following - 1
        self._index = index
        self._before = before.stack
        self._slots = before.slots
        self._after = None if after is None else after.stack

    @property
    def is_plain(self) -> bool:
        """Whether nothing is recorded of it but its values, and it inlined nothing."""
        return not self._index.eventful[self.index]

    @property
    def likeness(self) -> Hashable:
        """Return all that the sentence of a plain step depends on."""
        lookups, frame = self._index, self.frame
        takes, leaves = self.instruction.takes, self.instruction.leaves
        number, at, until = lookups.steps.instruction, self.index - 1, self.until
        return (
            number[self.index],
            None if self.following is None else number[self.following],
            self.ended,
            frame.code,
            frame.attempt,
            None if frame.parent is None else lookups.data.frames[frame.parent].code,
            self._briefs(self._before[-takes:], at) if takes else None,
            self._briefs(self._after[-leaves:], until) if leaves and self._after else None,
        )

    def _briefs(self, stack: list[int], step: int) -> Hashable:
        brief = self._index.trackers.brief
        return tuple([(brief(tracker, step), self._name(tracker)) for tracker in stack])

    def before(self, last: int) -> list[Called]:
        """Return the last items of the stack before the step."""
        return self._values(self._before, last, self.index - 1)

    def after(self, last: int) -> list[Called]:
        """Return the last items of the stack after the step; none if it did not end."""
        return [] if self._after is None else self._values(self._after, last, self.until)

    def item(self, from_top: int) -> Called | None:
        """Return one item of the stack before the step, 1 the top."""
        stack = self._before
        return self._called(stack[-from_top], self.index - 1) if from_top <= len(stack) else None

    def _values(self, stack: list[int], last: int, step: int) -> list[Called]:
        return [self._called(tracker, step) for tracker in stack[-last:]] if last else []

    def _called(self, tracker: int, step: int) -> Called:
        snapshot = self._index.trackers.at(tracker, step)
        return Called(snapshot, snapshot.name if snapshot.source is not None else self._name(tracker))

    def _name(self, tracker: int) -> str:
        """Return the variable of the frame that is bound to a value created in the trace (if the instruction does not
        name that), or what created it; the place where this was is left out on the same line."""
        maker = self._index.maker(tracker)
        if maker is None or self._index.trackers.first_step(tracker) == self.index:
            return ""
        bound = self._variable(tracker)
        if bound and "`" not in bound and bound != self.instruction.arg:
            return bound
        code, number = self.code, self._index.steps.instruction[self.index]
        here = code.id == maker.code and line_of(code.instructions, number) == maker.line
        return maker.phrase if here else maker.text

    def _variable(self, tracker: int) -> str:
        """Return the first local, or else the first cell, that is bound to a value; empty if none is."""
        slots = [slot for slot, bound in self._slots.items() if bound == tracker]
        if not slots:
            return ""
        slot = min(slots, key=lambda slot: (slot & 1, slot))
        return (self.code.cells if slot & 1 else self.code.locals)[slot >> 1]
