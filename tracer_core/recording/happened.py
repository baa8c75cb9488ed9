"""Provide what is recorded of a step by its number: where it was, what it added, and the values its sentence names.

Nothing here reports damage to the recording: who reads more than one step of it does that once.
"""

from __future__ import annotations

from collections.abc import Hashable

from tracer_core.recording import schema
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
        brief, number, at, until = lookups.trackers.brief, lookups.steps.instruction, self.index - 1, self.until
        return (
            number[self.index],
            None if self.following is None else number[self.following],
            self.ended,
            frame.code,
            frame.attempt,
            None if frame.parent is None else lookups.data.frames[frame.parent].code,
            tuple([brief(tracker, at) for tracker in self._before[-takes:]]) if takes else None,
            tuple([brief(tracker, until) for tracker in self._after[-leaves:]]) if leaves and self._after else None,
        )

    def before(self, last: int) -> list[schema.Snapshot]:
        """Return the last items of the stack before the step."""
        return self._values(self._before, last, self.index - 1)

    def after(self, last: int) -> list[schema.Snapshot]:
        """Return the last items of the stack after the step; none if it did not end."""
        return [] if self._after is None else self._values(self._after, last, self.until)

    def _values(self, stack: list[int], last: int, step: int) -> list[schema.Snapshot]:
        at = self._index.trackers.at
        return [at(tracker, step) for tracker in stack[-last:]] if last else []

    def item(self, from_top: int) -> schema.Snapshot | None:
        """Return one item of the stack before the step, 1 the top."""
        stack = self._before
        return self._index.trackers.at(stack[-from_top], self.index - 1) if from_top <= len(stack) else None
