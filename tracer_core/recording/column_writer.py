"""Write the columns that `columns.py` describes and reads."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from operator import itemgetter

from tracer_core.recording import schema
from tracer_core.recording.column_packing import Batch, Change, pack
from tracer_core.recording.columns import BLOCK, NEVER, u32_bytes

PACKED = 64 * BLOCK
"""So many steps are packed at once, which takes less time than one by one."""


_PUSHED, _SLOTS = itemgetter(3), itemgetter(4)
"""Of a `Change`."""


class LiveFrame:
    """A frame that may still run steps: its number, its last step, and its state as of the entry of that step: the
    trackers on the stack (`numbers`), and the bound ones (`slots`). The state as of the entry of the step `saved` was
    written last, at the position `saved_at`."""

    __slots__ = ("id", "numbers", "saved", "saved_at", "slots", "step")

    def __init__(self, id: int) -> None:
        self.id = id
        self.step = -1
        self.numbers: list[int] = []
        self.slots: dict[int, int] = {}
        self.saved = -1
        self.saved_at = 0


class _Varints(dict[int, bytes]):
    """Non-negative numbers, seven bits a byte, lowest first. Most are written again and again."""

    def __missing__(self, number: int) -> bytes:
        out = bytearray()
        rest = number
        while rest > 127:
            out.append(rest & 127 | 128)
            rest >>= 7
        out.append(rest)
        if len(self) >= _KEPT:
            self.clear()
        found = self[number] = bytes(out)
        return found


_KEPT = 1 << 14
_varint = _Varints().__getitem__


def varints(numbers: Iterable[int]) -> bytes:
    """Return non-negative numbers as written."""
    return b"".join(map(_varint, numbers))


class Writer:
    """Fill the columns while steps run. So many steps are packed at once as `batch` says, whole blocks."""

    def __init__(self, batch: int = PACKED) -> None:
        self._batch = batch
        self.ended = bytearray()
        """Of each step, whether it ended: 1 unless the recorder learns that it did not."""
        self._keyframes = bytearray()
        self._keyframe_at = array("I")
        self._exits = bytearray()
        self._exit_at: dict[int, int] = {}
        self._live: dict[int, LiveFrame] = {}
        self._packed: list[Batch] = []
        """The first steps, so many in each batch."""
        self._changes: list[Change] = []
        """The other steps."""
        self._top = self._packed_top = -1
        """The largest tracker written in whole blocks, and in whole batches."""
        self.add = self._changes.append
        """Add a step. Steps are many: who adds one calls `start_block` before, where a block starts, and appends to
        `ended` after."""

    def enter(self, live: LiveFrame) -> None:
        """Register a frame, which may run steps from now on."""
        self._live[live.id] = live

    def frame_of(self, step: int) -> int:
        """Return the frame of a step."""
        batch, at = divmod(step, self._batch)
        return self._packed[batch].frame[at] if batch < len(self._packed) else self._changes[at][0]

    def instruction_of(self, step: int) -> int:
        """Return the number of a step's instruction."""
        batch, at = divmod(step, self._batch)
        return self._packed[batch].instruction[at] if batch < len(self._packed) else self._changes[at][1]

    def leave(self, live: LiveFrame, gone: int, came: Sequence[int], slots: Mapping[int, int | None]) -> None:
        """End `live`, which has run its last step; the arguments describe its changes, as in `Change`."""
        here = len(self._exits)
        numbers = [gone, len(came), *came, len(slots)]
        for slot, bound in slots.items():
            numbers += slot, 0 if bound is None else bound + 1
        self._exits += varints(numbers)
        self._exit_at[live.id] = here
        self.drop(live)

    def drop(self, live: LiveFrame) -> None:
        """End `live`, which was cut off: the changes of its last step are not known."""
        self._live.pop(live.id, None)

    def repair(self) -> None:
        """Remove the partial entry of a step whose writing was interrupted."""
        packed = len(self._packed) * self._batch
        steps = min(len(self.ended), packed + len(self._changes))
        del self.ended[steps:], self._changes[steps - packed :], self._keyframe_at[-(-steps // BLOCK) :]

    def last_step(self, frame: int, first: int) -> int:
        """Return the last recorded step of a frame whose first step is `first`; -1 if there is none."""
        return next((step for step in range(len(self.ended) - 1, first - 1, -1) if self.frame_of(step) == frame), -1)

    def columns(self, frames: int) -> schema.Columns:
        """Return all columns so far, for `frames` frames."""
        frame, instruction, delta_at = array("I"), array("I"), array("I")
        delta = bytearray()
        for batch in (*self._packed, pack(self._changes, self._packed_top)):
            frame += batch.frame
            instruction += batch.instruction
            delta_at.extend(len(delta) + at for at in batch.delta_at)
            delta += batch.delta
        return schema.Columns(
            frame=u32_bytes(frame),
            instruction=u32_bytes(instruction),
            ended=bytes(self.ended),
            delta=bytes(delta),
            delta_at=u32_bytes(delta_at),
            keyframes=bytes(self._keyframes),
            keyframe_at=u32_bytes(self._keyframe_at),
            exits=bytes(self._exits),
            exit_at=u32_bytes(array("I", [self._exit_at.get(frame, NEVER) for frame in range(frames)])),
        )

    def _largest(self, changes: Sequence[Change]) -> int:
        """Return the largest tracker in the changes, or before."""
        pushed = chain.from_iterable(map(_PUSHED, changes))
        bound = chain.from_iterable(slots.values() for slots in map(_SLOTS, changes) if slots)
        top: int = max([self._top, *pushed, *filter(None, bound)])
        return top

    def start_block(self) -> None:
        """Write the states of live frames. Called every `BLOCK` steps, from the first one on, before the changes of
        the step are recorded. States unchanged since they were written are only referenced."""
        self._top = self._largest(self._changes[-BLOCK:])
        if len(self._changes) == self._batch:
            self._packed.append(pack(self._changes, self._packed_top))
            self._changes.clear()
            self._packed_top = self._top
        out = self._keyframes
        live_frames = [live for live in self._live.values() if live.step >= 0]
        for live in live_frames:
            if live.saved != live.step:
                saved_at = len(out)
                slots = chain.from_iterable(live.slots.items())
                out += varints([len(live.numbers), *live.numbers, len(live.slots), *slots])
                live.saved, live.saved_at = live.step, saved_at
        here = len(out)
        self._keyframe_at.append(here)
        numbers = [self._top + 1, len(live_frames)]
        for live in live_frames:
            numbers += live.id, here - live.saved_at
        out += varints(numbers)
