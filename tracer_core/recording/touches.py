"""Find the steps that touched each tracker, from the columns, all steps at once.

The entries of a block of steps (`columns.py`) can only be read one after another, but the blocks are independent: the
first entries of all blocks are read together, then their second ones, and so on; likewise the exits of frames. An
item that a step pops was pushed by the step that last reached its place on the frame's stack: at each place, pushes
and pops take turns.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy

from tracer_core.recording import schema
from tracer_core.recording.column_packing import Numbers, runs
from tracer_core.recording.columns import BLOCK, CAME, FRESH, GONE, NEVER, SLOTS


class Touches(NamedTuple):
    """Pairs of trackers and steps."""

    trackers: Numbers
    steps: Numbers


class Grouped:
    """The steps of each tracker, in order, each once."""

    def __init__(self, trackers: int, touches: Sequence[Touches]) -> None:
        who, when = (numpy.concatenate(column) for column in zip(*touches, strict=True))
        if len(who) and not 0 <= who.min() <= who.max() < trackers:
            raise ValueError("a step touches a tracker that does not exist")
        pairs = numpy.sort(who << 32 | when)
        pairs = pairs[numpy.diff(pairs, prepend=-1) != 0]
        self._steps = pairs & 0xFFFFFFFF
        self._starts = numpy.searchsorted(pairs, numpy.arange(trackers + 1) << 32)

    def of(self, tracker: int) -> list[int]:
        steps: list[int] = self._steps[self._starts[tracker] : self._starts[tracker + 1]].tolist()
        return steps


def u32(column: bytes) -> Numbers:
    """Return a column of numbers as they are stored."""
    return numpy.frombuffer(column, "<u4").astype(numpy.int64)


def touches(columns: schema.Columns, frames: Sequence[schema.Frame]) -> Touches:
    """Return the trackers that each step pushed, popped, or bound to a name."""
    if not columns.ended:
        return Touches(numpy.empty(0, numpy.int64), numpy.empty(0, numpy.int64))
    entries = _Entries(columns, frames)
    entries.read_steps()
    entries.read_exits()
    return entries.touches()


def snapshots_taken(stored: schema.Snapshots, attempts: Sequence[schema.Attempt]) -> tuple[Touches, Touches]:
    """Return the trackers that each step added, and those that it changed."""
    first, later = u32(stored.first_step) - 1, u32(stored.later_step) - 1
    # What an attempt starts with is recorded at the end of the step before it.
    starts = numpy.array([attempt.first_step for attempt in attempts], numpy.int64)
    added = numpy.flatnonzero((first >= 0) & ~numpy.isin(first + 1, starts))
    changed = numpy.flatnonzero(later >= 0)
    return Touches(added, first[added]), Touches(u32(stored.later_tracker)[changed], later[changed])


class _Lanes:
    """Positions in the same bytes, from which numbers are read side by side."""

    def __init__(self, data: bytes, at: Numbers) -> None:
        self._data = numpy.frombuffer(data, numpy.uint8)
        self.at = at

    def bytes(self, lanes: Numbers) -> Numbers:
        """Read the next byte of each lane."""
        at = self.at[lanes]
        self.at[lanes] = at + 1
        return self._data[at].astype(numpy.int64)

    def varints(self, lanes: Numbers) -> Numbers:
        """Read the next number of each lane."""
        found = self.bytes(lanes)
        more = numpy.flatnonzero(found > 127)
        shift = 0
        found[more] &= 127
        while len(more):
            shift += 7
            if shift > 56:
                raise ValueError("a number is too long")
            byte = self.bytes(lanes[more])
            found[more] |= (byte & 127) << shift
            more = more[byte > 127]
        return found


class _Entries:
    """All entries: those of the steps, by step, then those of the exits that are known, by frame."""

    def __init__(self, columns: schema.Columns, frames: Sequence[schema.Frame]) -> None:
        self._columns = columns
        last = numpy.array([frame.last_step for frame in frames], numpy.int64)
        exit_at = u32(columns.exit_at)
        ended = numpy.frombuffer(columns.ended, numpy.uint8)
        known = numpy.flatnonzero((exit_at != NEVER) & (last >= 0))
        self._left = known[ended[last[known]] != 0]
        self._exit_at = exit_at[self._left]
        self._steps = len(ended)
        self._frame = numpy.concatenate([u32(columns.frame), self._left])
        size = len(self._frame)
        self._gone = numpy.zeros(size, numpy.int64)
        self._count = numpy.zeros(size, numpy.int64)
        self._fresh = numpy.zeros(size, bool)
        self._last_step = last[self._left]
        # Of pushed trackers, and of bound ones: the entries, the place among the entry's, and the trackers.
        self._came: list[tuple[Numbers, int, Numbers]] = []
        self._bound: list[tuple[Numbers, Numbers]] = []

    def read_steps(self) -> None:
        columns = self._columns
        blocks = len(columns.delta_at) // 4
        lanes = _Lanes(columns.delta, u32(columns.delta_at))
        every = numpy.arange(blocks)
        top = _Lanes(columns.keyframes, u32(columns.keyframe_at)).varints(every) - 1
        for at in range(min(BLOCK, self._steps)):
            active = every if every[-1] * BLOCK + at < self._steps else every[:-1]
            self._read_step(lanes, active, active * BLOCK + at, top)

    def _read_step(self, lanes: _Lanes, active: Numbers, entries: Numbers, top: Numbers) -> None:
        header = lanes.bytes(active)
        gone, count = header & GONE, (header & CAME) >> 3
        for numbers in (gone, count):
            large = numpy.flatnonzero(numbers == 7)
            numbers[large] = lanes.varints(active[large])
        self._gone[entries], self._count[entries] = gone, count
        self._fresh[entries] = header & FRESH != 0
        for place in range(int(count.max(initial=0))):
            some = numpy.flatnonzero(count > place)
            self._came.append((entries[some], place, _trackers(lanes.varints(active[some]), active[some], top)))
        some = numpy.flatnonzero(header & SLOTS)
        active, entries, count = active[some], entries[some], lanes.varints(active[some])
        for place in range(int(count.max(initial=0))):
            some = numpy.flatnonzero(count > place)
            lanes.varints(active[some])
            code = lanes.varints(active[some])
            some, code = some[code > 0], code[code > 0]
            self._bound.append((entries[some], _trackers(code - 1, active[some], top)))

    def read_exits(self) -> None:
        lanes = _Lanes(self._columns.exits, self._exit_at)
        every = numpy.arange(len(self._left))
        entries = every + self._steps
        self._gone[entries] = lanes.varints(every)
        self._count[entries] = count = lanes.varints(every)
        for place in range(int(count.max(initial=0))):
            some = numpy.flatnonzero(count > place)
            self._came.append((entries[some], place, lanes.varints(some)))
        count = lanes.varints(every)
        for place in range(int(count.max(initial=0))):
            some = numpy.flatnonzero(count > place)
            lanes.varints(some)
            bound = lanes.varints(some)
            self._bound.append((entries[some[bound > 0]], bound[bound > 0] - 1))

    def touches(self) -> Touches:
        order = numpy.argsort(self._frame, kind="stable")
        came = self._pushed()[_spread(self._ends()[order], self._count[order])]
        popped = came[self._pushes_of_pops(order)]
        when = self._when(order)
        pushed_by = numpy.repeat(order, self._count[order])
        popped_by = numpy.repeat(order, self._gone[order])
        bound_by = _joined(entries for entries, _ in self._bound)
        bound = _joined(trackers for _, trackers in self._bound)
        by = numpy.concatenate([pushed_by, popped_by, bound_by])
        who = numpy.concatenate([came, popped, bound])
        changed = ~self._fresh[by]  # The first entry of a frame is the state that it starts from.
        return Touches(who[changed], when[by[changed]])

    def _when(self, order: Numbers) -> Numbers:
        """Return the step that each entry's changes belong to: the one before in its frame."""
        when = numpy.zeros_like(order)
        when[order[1:]] = order[:-1]
        when[self._steps :] = self._last_step
        return when

    def _ends(self) -> Numbers:
        return numpy.cumsum(self._count)

    def _pushed(self) -> Numbers:
        """Return all pushed trackers, in the order of the entries."""
        starts = self._ends() - self._count
        pushed = numpy.empty(int(self._count.sum()), numpy.int64)
        for entries, place, trackers in self._came:
            pushed[starts[entries] + place] = trackers
        return pushed

    def _pushes_of_pops(self, order: Numbers) -> Numbers:
        """Return, for each item popped in entries of this order, which of the items pushed it is."""
        frame, gone, count = self._frame[order], self._gone[order], self._count[order]
        if gone.max(initial=0) > count.sum():
            raise ValueError("a step pops more than there is")
        after = numpy.cumsum(count - gone)
        first = numpy.flatnonzero(numpy.diff(frame, prepend=-1))
        base = numpy.concatenate([[0], after[first[1:] - 1]])
        left = after - count - numpy.repeat(base, numpy.diff(first, append=len(frame)))  # items that stayed
        if left.min(initial=0) < 0:
            raise ValueError("a step pops more than there is")
        places = frame * (int((left + count).max(initial=0)) + 1) + left
        pushes, pops = runs(places, count), runs(places, gone)
        by_place, in_turn = numpy.argsort(pushes, kind="stable"), numpy.argsort(pops, kind="stable")
        pushes, pops = pushes[by_place], pops[in_turn]
        turn = numpy.arange(len(pops)) - numpy.searchsorted(pops, pops)
        matched = numpy.searchsorted(pushes, pops) + turn
        if numpy.any(pushes[matched] != pops):
            raise ValueError("a step pops what was not pushed")
        found = numpy.empty_like(matched)
        found[in_turn] = by_place[matched]
        return found


def _trackers(code: Numbers, lanes: Numbers, top: Numbers) -> Numbers:
    """Return trackers from their distances to the largest one so far, which is kept in `top`."""
    known = top[lanes]
    found = known + numpy.where(code & 1, -(code >> 1), code >> 1)
    top[lanes] = numpy.maximum(known, found)
    return found


def _spread(ends: Numbers, counts: Numbers) -> Numbers:
    """Return the numbers of each range that ends before `ends` and has so many numbers, range after range."""
    return runs(ends - counts, counts)


def _joined(parts: Any) -> Numbers:
    found = list(parts)
    return numpy.concatenate(found) if found else numpy.empty(0, numpy.int64)
