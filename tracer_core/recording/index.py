"""Provide lookups over a recording, built on first use."""

from __future__ import annotations

import itertools
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from operator import attrgetter
from typing import Any, TypeVar

from tracer_core.names.symbols import SYMBOL, explained, of_node
from tracer_core.recording import columns, schema, snapshots, touches
from tracer_core.recording.codes import line_of
from tracer_core.recording.makers import Maker, Written, maker, written
from tracer_core.recording.words import quoted

T = TypeVar("T")

_PROLOGUE = frozenset({"RESUME", "COPY_FREE_VARS", "MAKE_CELL", "RETURN_GENERATOR", "POP_TOP", "NOP", "JUMP"})
"""Operations at the start of a function or a resume function that are none of the program's."""


class ByStep(Mapping[int, list[T]]):
    """The records of each step that has any. `field` holds the step, or None for a record of no step."""

    def __init__(self, records: Iterable[T], field: str = "step") -> None:
        step_of = attrgetter(field)
        # Most are in order already, so that sorting is one pass.
        self._records = sorted((record for record in records if step_of(record) is not None), key=step_of)
        self._steps: list[int] = [step_of(record) for record in self._records]

    def __getitem__(self, step: int) -> list[T]:
        first = bisect_left(self._steps, step)
        found = self._records[first : bisect_right(self._steps, step, first)]
        if not found:
            raise KeyError(step)
        return found

    def get(self, step: int, default: Any = None) -> Any:
        steps = self._steps
        first = bisect_left(steps, step)
        if first == len(steps) or steps[first] != step:
            return default
        return self._records[first : bisect_right(steps, step, first)]

    def __iter__(self) -> Iterator[int]:
        return iter(dict.fromkeys(self._steps))

    def __len__(self) -> int:
        return len(set(self._steps))


class Index:
    """The lookups of one recording, by step or by tracker."""

    def __init__(self, data: schema.Recording) -> None:
        self.data = data
        self.steps = columns.Reader(data.columns, data.frames)
        self.trackers = snapshots.Reader(data.snapshots)

    @cached_property
    def nodes(self) -> Mapping[int, list[schema.Node]]:
        return ByStep(self.data.nodes)

    @cached_property
    def bodies(self) -> Mapping[int, list[schema.Body]]:
        """Return the bodies that the call of each step traced."""
        return ByStep(self.data.bodies)

    @cached_property
    def lifts(self) -> Mapping[int, list[schema.Lift]]:
        return ByStep(lift for body in self.data.bodies for lift in body.lifted)

    @cached_property
    def lifted(self) -> frozenset[int]:
        """Return the nodes that are inputs of bodies because values were lifted."""
        return frozenset(lift.inner for body in self.data.bodies for lift in body.lifted)

    def bodies_at(self, step: int) -> list[schema.Body]:
        """Return the bodies that were being traced at a step, the outermost first."""
        if not self.data.bodies:
            return []
        attempt = self.attempt(step).id
        return [
            body for body in self.data.bodies if body.attempt == attempt and body.first_step <= step <= body.last_step
        ]

    @cached_property
    def guards(self) -> Mapping[int, list[schema.Guard]]:
        return ByStep(self.data.guards)

    @cached_property
    def symbols(self) -> Mapping[int, list[schema.Symbol]]:
        return ByStep(self.data.symbols)

    @cached_property
    def side_effects(self) -> Mapping[int, list[schema.SideEffect]]:
        return ByStep(self.data.side_effects)

    @cached_property
    def raised(self) -> Mapping[int, list[schema.Raised]]:
        return ByStep(self.data.raised)

    @cached_property
    def breaks(self) -> Mapping[int, list[schema.Break]]:
        """Return the breaks by the step that found them, and by the step where the last attempt stopped because of
        them."""
        found: dict[int, list[schema.Break]] = {}
        for record in self.data.breaks:
            for step in {record.step, record.final_step} - {None}:
                assert step is not None
                found.setdefault(step, []).append(record)
        return found

    @cached_property
    def inlined(self) -> Mapping[int, list[schema.Frame]]:
        """Return the frames that a step called."""
        return ByStep(self.data.frames, "call_step")

    @cached_property
    def eventful(self) -> bytearray:
        """Return, for each step, whether more than its values is recorded of it: what it added to the graph, inlined,
        broke or raised, or that its attempt begins or ends there."""
        found = bytearray(self.data.steps)
        graph = (self.nodes, self.bodies, self.lifts, self.guards, self.symbols, self.side_effects)
        for step in itertools.chain(*graph, self.inlined, self.breaks, self.raised):
            found[step] = 1
        for attempt in self.data.attempts:
            if attempt.first_step <= attempt.last_step:
                found[attempt.first_step] = found[attempt.last_step] = 1
        return found

    @cached_property
    def _guards_on(self) -> Mapping[tuple[int, str], list[int]]:
        found: dict[tuple[int, str], list[int]] = {}
        for guard in self.data.guards:
            found.setdefault((guard.attempt, guard.source), []).append(guard.id)
        return found

    def handlers(self, step: int) -> list[str]:
        """Return the handler functions that were chosen within a step."""
        return self.handlers_within(step, step + 1).get(step, [])

    def handlers_within(self, first: int, stop: int) -> dict[int, list[str]]:
        """Return the handler functions that were chosen, for each of some steps that has any."""
        steps, numbers = self._dispatches
        names = self.data.dispatches.names
        found: dict[int, list[str]] = {}
        for at in range(bisect_left(steps, first), bisect_left(steps, stop)):
            found.setdefault(steps[at], []).append(names[numbers[at]])
        return found

    @cached_property
    def _dispatches(self) -> tuple[array[int], array[int]]:
        return columns.u32_array(self.data.dispatches.step), columns.u32_array(self.data.dispatches.name)

    @cached_property
    def _meanings(self) -> Mapping[int, dict[str, str]]:
        found: dict[int, dict[str, str]] = {}
        for symbol in self.data.symbols:
            found.setdefault(symbol.attempt, {}).setdefault(symbol.name, symbol.meaning)
        symbolic = [node for node in self.data.nodes if node.fakes and node.fakes[0].type.startswith("Sym")]
        for node in symbolic:
            fake = node.fakes[0]
            if SYMBOL.fullmatch(fake.shape[0]):
                meanings = found.setdefault(self.data.graphs[node.graph].attempt, {})
                meanings.setdefault(fake.shape[0], of_node(node.name))
        return found

    def symbol_meanings(self, step: int) -> Mapping[str, str]:
        """Return the meanings of the symbols of the step's attempt, by name."""
        return self._meanings.get(self.attempt(step).id, {}) if self._meanings else {}

    def explained(self, snapshot: schema.Snapshot) -> str:
        """Return the snapshot's text, with the meanings of its symbols."""
        if not self._meanings or not self.data.steps or not SYMBOL.search(snapshot.text):
            return snapshot.text
        # The values at the start of an attempt are those that the step before it left.
        steps = (min(max(step, 0), self.data.steps - 1) for step in (snapshot.step + 1, snapshot.step))
        return explained(snapshot.text, {k: v for step in steps for k, v in self.symbol_meanings(step).items()})

    def attempt(self, step: int) -> schema.Attempt:
        """Return the attempt that a step belongs to."""
        return self.data.attempts[self.data.frames[self.steps.frame[step]].attempt]

    def steps_of(self, attempt: int) -> range:
        """Return the steps of an attempt; empty if it has none."""
        found = self.data.attempts[attempt]
        return range(found.first_step, found.last_step + 1)

    def begin(self, frame: schema.Frame) -> int:
        """Return the first step of a frame that is the program's own, after what CPython does at each start of a
        function; its first step if there is none."""
        if frame.last_step < frame.first_step:
            return frame.first_step
        key = frame.code, self.steps.instruction[frame.first_step]
        known = self._prologues.get(key)
        if known is None:
            known = self._prologue(frame)
            if known is None:
                return frame.first_step
            self._prologues[key] = known
        return frame.first_step + known if frame.first_step + known <= frame.last_step else frame.first_step

    @cached_property
    def _prologues(self) -> dict[tuple[int, int], int]:
        """The number of steps before the program's own, by code and first instruction. Nothing in them depends on
        values."""
        return {}

    def _prologue(self, frame: schema.Frame) -> int | None:
        for step in range(frame.first_step, frame.last_step + 1):
            if self.own_line(step) is not None:
                return step - frame.first_step
        return None

    def own_line(self, step: int) -> int | None:
        """Return the line of a step; None if it has none, or is what CPython does at each start of a function."""
        instructions = self.data.codes[self.data.frames[self.steps.frame[step]].code].instructions
        instruction = self.steps.instruction[step]
        return None if instructions[instruction].op in _PROLOGUE else line_of(instructions, instruction)

    def made_by(self, tracker: int) -> int | None:
        """Return the step that created a tracker; None if it existed before its attempt's first step."""
        step = self.trackers.first_step(tracker)
        if step < 0:
            return None
        following = step + 1
        if following < self.data.steps and self.attempt(following).first_step == following:
            return None
        return step

    def maker(self, tracker: int) -> Maker | None:
        """Return what created a value, if that names it."""
        if tracker not in self._makers:
            self._makers[tracker] = maker(self, tracker)
        return self._makers[tracker]

    def written(self, code: int, number: int) -> Written:
        """Return the words for what an instruction of a code creates."""
        known = self._written.get((code, number))
        if known is None:
            known = self._written[code, number] = written(self.data.codes[code], number)
        return known

    @cached_property
    def _written(self) -> dict[tuple[int, int], Written]:
        return {}

    @cached_property
    def _makers(self) -> dict[int, Maker | None]:
        return {}

    def name(self, snapshot: schema.Snapshot) -> str:
        """Return what the program calls a value, or what created it; empty if its text says what it is."""
        if snapshot.source is not None:
            return snapshot.name
        found = self.maker(snapshot.tracker)
        return "" if found is None else found.text

    def effect_text(self, effect: schema.SideEffect) -> str:
        """Return what a side effect changes, and how: "`self`: attribute steps is set"."""
        if effect.tracker < 0:
            return effect.message
        name = self.trackers.at(effect.tracker, -1 if effect.step is None else effect.step).name
        return f"{quoted(name)}: {effect.message}" if name else effect.message

    def guards_on(self, snapshot: schema.Snapshot) -> list[int]:
        """Return the guards installed on a value's source, in the attempt that the value belongs to."""
        if snapshot.source is None or not self.data.steps:
            return []
        return self._guards_on.get((self._attempt_of(snapshot.step), snapshot.source), [])

    def _attempt_of(self, step: int) -> int:
        """Return the attempt of a value that was first seen after `step`."""
        following = min(step + 1, self.data.steps - 1)
        own = self.attempt(following)
        if own.first_step != following and step >= 0:
            own = self.attempt(step)
        return own.id

    def realized(self, snapshot: schema.Snapshot) -> int | None:
        """Return the tracker that a lazy value became when it was used."""
        if snapshot.source is None or not self.data.steps:
            return None
        return self._realized.get((self._attempt_of(snapshot.step), snapshot.source))

    @cached_property
    def _realized(self) -> Mapping[tuple[int, str], int]:
        found: dict[tuple[int, str], int] = {}
        for tracker, step, source in self.trackers.from_sources():
            found.setdefault((self._attempt_of(step), source), tracker)
        return found

    def fake_of_input(self, snapshot: schema.Snapshot) -> schema.FakeMeta | None:
        """Return the metadata of the graph's input that has the value's source."""
        if snapshot.source is None or not self.data.steps:
            return None
        return self._inputs.get((self._attempt_of(snapshot.step), snapshot.source))

    @cached_property
    def _inputs(self) -> Mapping[tuple[int, str], schema.FakeMeta]:
        graphs = self.data.graphs
        return {
            (graphs[node.graph].attempt, node.source): node.fakes[0]
            for node in self.data.nodes
            if node.source is not None and node.fakes
        }

    def changed(self, first: schema.Snapshot) -> list[int]:
        """Return the steps that changed the value of a first snapshot in place; for a lazy value, those that changed
        what it became."""
        steps = set(self.trackers.later_steps(first.tracker))
        if first.kind == "lazy value" and first.source is not None and self.data.steps:
            steps |= self._effects_on.get((self._attempt_of(first.step), first.source), set())
        return sorted(steps)

    @cached_property
    def _effects_on(self) -> Mapping[tuple[int, str], set[int]]:
        """Return the steps of side effects, by the attempt and the source of the value."""
        found: dict[tuple[int, str], set[int]] = {}
        for effect in self.data.side_effects:
            source = self.trackers.at(effect.tracker, -1).source if effect.tracker >= 0 else None
            if source is not None and effect.step is not None:
                found.setdefault((effect.attempt, source), set()).add(effect.step)
        return found

    def touched(self, tracker: int) -> Sequence[int]:
        """Return the steps that pushed, popped, bound, unbound or changed a tracker."""
        return self._touches.of(tracker)

    @cached_property
    def _touches(self) -> touches.Grouped:
        own = touches.touches(self.data.columns, self.data.frames)
        first, later = touches.snapshots_taken(self.data.snapshots, self.data.attempts)
        return touches.Grouped(self.trackers.trackers, (own, first, later))
