"""Read steps from columns, which hold the changes of each step; the state at any step is rebuilt from them.

A step's entry in `delta` says how its frame's state, just before the step, differs from that frame's state just
before the frame's previous step (a frame's first entry starts from the empty state). Every `BLOCK` steps the states
of all live frames are written out, so a reader replays at most `BLOCK - 1` entries.

An entry is a header byte: bits 0-2 the number of popped items (7: a varint follows), bits 3-5 of pushed ones (7: a
varint follows), bit 6 whether slots changed, bit 7 whether this starts from the empty state. Then the pushed
trackers, then (with bit 6) a count and as many (slot, tracker). Trackers are written as the zigzag distance from the
largest one written so far, which is mostly one byte since new ones come in order; in slots 0 is "unbound" and the
others are shifted by one.

Slot `2 * i` is local number `i` of the frame's code, slot `2 * i + 1` its cell number `i`.
"""

from __future__ import annotations

import sys
from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from tracer_core.recording import pace, schema

BLOCK = 64
NEVER = 0xFFFFFFFF
_TOPS = 64
NO_SLOTS: Mapping[int, int | None] = {}

GONE, CAME, SLOTS, FRESH = 0x07, 0x38, 0x40, 0x80


@dataclass(slots=True)
class State:
    """The stack (bottom first) and the bound slots of a frame, as trackers."""

    stack: list[int] = field(default_factory=list)
    slots: dict[int, int] = field(default_factory=dict)

    def apply(self, gone: int, came: Sequence[int], slots: Mapping[int, int | None]) -> None:
        """Apply the change of one entry."""
        if gone:
            del self.stack[-gone:]
        self.stack.extend(came)
        self.bind(slots)

    def bind(self, slots: Mapping[int, int | None]) -> None:
        """Bind and unbind slots."""
        for slot, tracker in slots.items():
            if tracker is None:
                self.slots.pop(slot, None)
            else:
                self.slots[slot] = tracker

    def copy(self) -> State:
        return State(self.stack.copy(), self.slots.copy())


def read_varint(data: bytes, at: int) -> tuple[int, int]:
    """Return the number at `at`, and the position of the next one."""
    byte = data[at]
    at += 1
    if byte < 128:
        return byte, at
    number, shift = byte & 127, 7
    while True:
        byte = data[at]
        at += 1
        number |= (byte & 127) << shift
        if byte < 128:
            return number, at
        shift += 7
        if shift > 63:
            raise ValueError("a number is too long")


def u32_bytes(numbers: array[int]) -> bytes:
    """Return a column of numbers below 2**32 as stored: little-endian."""
    if sys.byteorder == "big":
        numbers = numbers[:]
        numbers.byteswap()
    return numbers.tobytes()


def u32_array(data: bytes) -> array[int]:
    """Invert `u32_bytes`."""
    numbers = array("I")
    numbers.frombytes(data)
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers


class Change(NamedTuple):
    """One decoded entry of `delta`: the change by the previous step of the same frame (`fresh`: there was none)."""

    gone: list[int]
    came: list[int]
    slots: Mapping[int, int | None]
    fresh: bool


class Reader:
    """Read states and changes from columns. Reads lazily; holds only the columns themselves."""

    def __init__(self, columns: schema.Columns, frames: Sequence[schema.Frame]) -> None:
        self.frame = u32_array(columns.frame)
        self.instruction = u32_array(columns.instruction)
        self.ended = columns.ended
        self._frames = frames
        self._delta = columns.delta
        self._delta_at = u32_array(columns.delta_at)
        self._keyframes = columns.keyframes
        self._keyframe_at = u32_array(columns.keyframe_at)
        self._exits = columns.exits
        self._exit_at = u32_array(columns.exit_at)
        self._tops: dict[int, list[int | None]] = {}
        """The top of the stack before each step of a few blocks."""

    def __len__(self) -> int:
        return len(self.ended)

    def before(self, step: int) -> State:
        """Return the state of the step's frame just before it."""
        return self.frames_before(step)[self.frame[step]]

    def top_before(self, step: int) -> int | None:
        """Return the top of the stack of the step's frame just before it; None if that is empty."""
        block, at = divmod(step, BLOCK)
        if block not in self._tops:
            states: dict[int, State] = {}
            first = block * BLOCK
            walk = self.walk(first, first + BLOCK, states)
            self._keep_tops(first, [_top(states[frame]) for _, frame, _ in walk])
        return self._tops[block][at]

    def keep_tops(self, first: int, befores: Sequence[State]) -> None:
        """Keep what `top_before` returns, where the states before all steps of some blocks are known."""
        self._keep_tops(first, list(map(_top, befores)))

    def _keep_tops(self, first: int, tops: list[int | None]) -> None:
        if len(self._tops) >= _TOPS:
            self._tops.clear()
        for at in range(0, len(tops), BLOCK):
            self._tops[(first + at) // BLOCK] = tops[at : at + BLOCK]

    def frames_before(self, step: int) -> dict[int, State]:
        """Return the states just before `step` of its frame and of every other live frame (maybe also of some that
        had just ended), by frame id. The caller owns them."""
        states: dict[int, State] = {}
        for _ in self.walk(step - step % BLOCK, step + 1, states):
            pass
        return states

    def after(self, step: int) -> State | None:
        """Return the state of the step's frame after the step, or None if the step never completed."""
        if not self.ended[step]:
            return None
        following = self.next_own(step)
        if following is not None:
            return self.before(following)
        return self.exit_state(step, self.before(step))

    def exit_state(self, last_step: int, before: State) -> State | None:
        """Return `before` (changed in place) after the frame's last step, or None if that is not known."""
        if self._exit_at[self.frame[last_step]] == NEVER:
            return None
        before.apply(*self._read_exit(last_step))
        return before

    def _read_exit(self, last_step: int) -> tuple[int, list[int], dict[int, int | None]]:
        data, at = self._exits, self._exit_at[self.frame[last_step]]
        gone, at = read_varint(data, at)
        count, at = read_varint(data, at)
        came: list[int] = []
        for _ in range(count):
            tracker, at = read_varint(data, at)
            came.append(tracker)
        count, at = read_varint(data, at)
        slots: dict[int, int | None] = {}
        for _ in range(count):
            slot, at = read_varint(data, at)
            bound, at = read_varint(data, at)
            slots[slot] = bound - 1 if bound else None
        return gone, came, slots

    def next_own(self, step: int) -> int | None:
        """Return the next step of the same frame."""
        own = self.frame[step]
        end = self._frames[own].last_step
        step += 1
        while step <= end:
            other = self.frame[step]
            if other == own:
                return step
            frame = self._frames[other]
            whole = frame.first_step == step and not frame.suspended
            step = frame.end_step + 1 if whole else step + 1
        return None

    def until(self, step: int) -> int:
        """Return the last step that belongs to `step`: itself, or the last one of the frames it inlined."""
        following = self.next_own(step)
        return self._frames[self.frame[step]].end_step if following is None else following - 1

    def walk(self, first: int, stop: int, states: dict[int, State]) -> Iterator[tuple[int, int, Change]]:
        """Yield the step, its frame, and the change that led to it, for each step from `first` (the start of a block)
        up to `stop`. `states` is emptied and then holds, at each yield, the states just before the yielded step."""
        if first >= len(self):
            return
        at = self._delta_at[first // BLOCK]
        top = self._read_block(first // BLOCK, states)
        for step, frame in enumerate(self.frame[first:stop], first):
            if step % pace.EVERY == 0:
                pace.tell(step - first, stop - first)
            header, gone, came, slots, top, at = self._read_entry(at, top)
            fresh = header & FRESH != 0
            if fresh:
                states[frame] = State()
            state = states[frame]
            stack, left = state.stack, []
            if gone:
                left = stack[-gone:]
                del stack[-gone:]
            stack += came
            if slots:
                state.bind(slots)
            yield step, frame, Change(left, came, slots, fresh)

    def _read_entry(self, at: int, top: int) -> tuple[int, int, list[int], Mapping[int, int | None], int, int]:
        """Return the entry at `at`: its header, the number of popped items, the pushed ones, the slots; then the
        largest tracker and the position after the entry."""
        data = self._delta
        header = data[at]
        at += 1
        gone = header & GONE
        count = (header & CAME) >> 3
        if gone == 7:
            gone, at = read_varint(data, at)
        if count == 7:
            count, at = read_varint(data, at)
        came: list[int] = []
        while count:
            count -= 1
            code = data[at]
            at += 1
            if code > 127:
                code, at = read_varint(data, at - 1)
            if code & 1:
                came.append(top - (code >> 1))
            else:
                top += code >> 1
                came.append(top)
        slots = NO_SLOTS
        if header & SLOTS:
            slots, top, at = self._read_slots(at, top)
        return header, gone, came, slots, top, at

    def _read_slots(self, at: int, top: int) -> tuple[dict[int, int | None], int, int]:
        data = self._delta
        slots: dict[int, int | None] = {}
        count, at = read_varint(data, at)
        for _ in range(count):
            slot, at = read_varint(data, at)
            code, at = read_varint(data, at)
            if code == 0:
                slots[slot] = None
                continue
            code -= 1
            if code & 1:
                slots[slot] = top - (code >> 1)
            else:
                top += code >> 1
                slots[slot] = top
        return slots, top, at

    def _read_block(self, block: int, states: dict[int, State]) -> int:
        """Fill `states` with those at the start of a block; return the largest tracker written before it."""
        states.clear()
        data = self._keyframes
        here = at = self._keyframe_at[block]
        top, at = read_varint(data, at)
        count, at = read_varint(data, at)
        for _ in range(count):
            frame, at = read_varint(data, at)
            distance, at = read_varint(data, at)
            states[frame] = _read_state(data, here - distance)
        return top - 1


def _top(state: State) -> int | None:
    return state.stack[-1] if state.stack else None


def _read_state(data: bytes, at: int) -> State:
    state = State()
    count, at = read_varint(data, at)
    for _ in range(count):
        tracker, at = read_varint(data, at)
        state.stack.append(tracker)
    count, at = read_varint(data, at)
    for _ in range(count):
        slot, at = read_varint(data, at)
        state.slots[slot], at = read_varint(data, at)
    return state
