"""Write the columns that `columns.py` describes and reads."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Mapping, Sequence
from itertools import chain

from tracer_core.recording import schema
from tracer_core.recording.column_packing import Change, pack
from tracer_core.recording.columns import BLOCK, NEVER, State, u32_bytes

PACKED = 64 * BLOCK
"""So many steps are packed at once, which takes less time than one by one."""


class LiveFrame:
    """A frame that may still run steps. `read` returns its state as of its last step's entry; `saved_at` is the
    position where that was last written, None if it has changed since."""

    __slots__ = ("fresh", "id", "read", "saved_at")

    def __init__(self, id: int, read: Callable[[], State]) -> None:
        self.id = id
        self.read = read
        self.fresh = True
        self.saved_at: int | None = None


def write_varint(out: bytearray, number: int) -> None:
    """Append a non-negative number, seven bits a byte, lowest first."""
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    out.append(number)


class Writer:
    """Fill the columns while steps run."""

    def __init__(self) -> None:
        self.frame = array("I")
        self.instruction = array("I")
        self.ended = bytearray()
        self._keyframes = bytearray()
        self._keyframe_at = array("I")
        self._exits = bytearray()
        self._exit_at: dict[int, int] = {}
        self._live: dict[int, LiveFrame] = {}
        # The changes of steps: packed by so many, the last ones not yet.
        self._packed: list[tuple[bytes, array[int]]] = []
        self._changes: list[Change] = []
        self._put = self._changes.append
        self._put_frame = self.frame.append
        self._put_instruction = self.instruction.append
        self._put_ended = self.ended.append

    def enter(self, frame: int, read: Callable[[], State]) -> LiveFrame:
        """Register frame number `frame`, which may run steps from now on. `read` returns the state after all changes
        reported so far; it is called at the start of blocks."""
        live = self._live[frame] = LiveFrame(frame, read)
        return live

    def step(
        self, live: LiveFrame, instruction: int, gone: int, came: Sequence[int], slots: Mapping[int, int | None]
    ) -> None:
        """Write the start of a step of `live`. Since its previous step, `gone` items were popped from the stack,
        the trackers `came` were pushed, and `slots` were rebound (None: unbound)."""
        self._put((gone, came, slots, live.fresh))
        live.fresh = False
        live.saved_at = None
        self._put_frame(live.id)
        self._put_instruction(instruction)
        self._put_ended(0)

    def leave(self, live: LiveFrame, gone: int, came: Sequence[int], slots: Mapping[int, int | None]) -> None:
        """End `live`, which has run its last step; the arguments describe its changes, as for `step`."""
        out = self._exits
        here = len(out)
        write_varint(out, gone)
        write_varint(out, len(came))
        for tracker in came:
            write_varint(out, tracker)
        write_varint(out, len(slots))
        for slot, bound in slots.items():
            write_varint(out, slot)
            write_varint(out, 0 if bound is None else bound + 1)
        self._exit_at[live.id] = here
        self.drop(live)

    def drop(self, live: LiveFrame) -> None:
        """End `live`, which was cut off: the changes of its last step are not known."""
        self._live.pop(live.id, None)

    def repair(self) -> None:
        """Remove the partial entry of a step whose writing was interrupted."""
        steps = min(len(self.frame), len(self.instruction), len(self.ended))
        for column in (self.frame, self.instruction, self.ended):
            del column[steps:]
        del self._keyframe_at[-(-steps // BLOCK) :]
        del self._changes[max(0, steps - len(self._packed) * PACKED) :]

    def last_step(self, frame: int, first: int) -> int:
        """Return the last recorded step of a frame whose first step is `first`; -1 if there is none."""
        return next((step for step in range(len(self.frame) - 1, first - 1, -1) if self.frame[step] == frame), -1)

    def columns(self, frames: int) -> schema.Columns:
        """Return all columns so far, for `frames` frames."""
        delta = bytearray()
        delta_at = array("I")
        for entries, blocks in (*self._packed, pack(self._changes)):
            delta_at.extend(len(delta) + at for at in blocks)
            delta += entries
        return schema.Columns(
            frame=u32_bytes(self.frame),
            instruction=u32_bytes(self.instruction),
            ended=bytes(self.ended),
            delta=bytes(delta),
            delta_at=u32_bytes(delta_at),
            keyframes=bytes(self._keyframes),
            keyframe_at=u32_bytes(self._keyframe_at),
            exits=bytes(self._exits),
            exit_at=u32_bytes(array("I", [self._exit_at.get(frame, NEVER) for frame in range(frames)])),
        )

    def start_block(self) -> None:
        """Write the states of live frames. Called every `BLOCK` steps, from the first one on, before the changes of
        the step are recorded. States unchanged since they were written are only referenced."""
        if len(self._changes) == PACKED:
            self._packed.append(pack(self._changes))
            self._changes.clear()
        out = self._keyframes
        live_frames = [live for live in self._live.values() if not live.fresh]
        for live in live_frames:
            if live.saved_at is None:
                saved_at = len(out)
                _write_state(out, live.read())
                live.saved_at = saved_at
        here = len(out)
        self._keyframe_at.append(here)
        out.append(0)  # Distances are counted anew in each block.
        write_varint(out, len(live_frames))
        for live in live_frames:
            assert live.saved_at is not None
            write_varint(out, live.id)
            write_varint(out, here - live.saved_at)


def _write_state(out: bytearray, state: State) -> None:
    numbers = [len(state.stack), *state.stack, len(state.slots), *chain.from_iterable(state.slots.items())]
    for number in numbers:
        while number > 127:
            out.append(number & 127 | 128)
            number >>= 7
        out.append(number)
