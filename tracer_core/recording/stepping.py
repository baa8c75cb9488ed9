"""Record each instruction: its frame, and the changes to the frame's state.

Written for speed: state is compared by identity, and the common case takes the shortest path.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tracer_core.bytecode import Instruction
from tracer_core.names.code import module_called
from tracer_core.observer import Observer
from tracer_core.recording import schema
from tracer_core.recording.codes import CodeEntry, CodeTable, line_of
from tracer_core.recording.column_writer import Writer
from tracer_core.recording.columns import BLOCK, NO_SLOTS
from tracer_core.recording.facts import FakeMetas, clean
from tracer_core.recording.graphs import GraphTable
from tracer_core.recording.losses import Losses
from tracer_core.recording.snapshots import Pool
from tracer_core.recording.trackers import Trackers
from tracer_core.recording.work import Watched, Work, source_of_module


class Stepping(Observer):
    """Record frames and steps. `_work` is the active compilation, `_current` the frame that runs steps."""

    def __init__(self) -> None:
        self._losses = Losses(self._where_lost)
        self._columns = Writer()
        self._ended = self._columns.ended
        self._add_step = self._columns.add
        self._codes = CodeTable()
        metas = FakeMetas()
        self._graphs = GraphTable(metas)
        self._trackers = Trackers(self._graphs, metas, self._losses)
        self._ids = self._trackers.ids
        self._dirty = self._trackers.dirty
        self._frames: list[schema.Frame] = []
        self._raised: list[schema.Raised] = []
        self._handlers = Pool()
        self._dispatched: list[tuple[int, int]] = []
        self._work: Work | None = None
        self._current: Watched | None = None

    # --- events -------------------------------------------------------------------------------------------

    def on_frame_enter(self, frame: Any) -> None:
        self._go_to(frame)

    def on_frame_exit(self, frame: Any, result: Any) -> None:
        work = self._work
        watched = work.frames.pop(frame.uid, None) if work is not None else None
        if work is None or watched is None:
            return
        if self._dirty:
            self._trackers.flush(len(self._ended) - 1)
        self._leave(work, watched, ended=result is not None)
        if watched is work.root:
            work.cut_off = watched.step
            work.end_tracing()
        self._current = work.current = watched.parent

    def on_step_start(self, frame: Any, instruction: Instruction) -> None:
        watched = self._current
        if watched is None or watched.frame is not frame:
            watched = self._go_to(frame)
            if watched is None:
                return
        ended = self._ended
        step = len(ended)
        if not step % BLOCK:
            self._columns.start_block()
        if self._dirty:
            self._trackers.flush(step - 1)
        takes, stack, numbers = watched.takes, frame.stack, watched.numbers
        same, now = len(numbers) - takes, len(stack)
        came: Sequence[int] = ()
        if same < 0:
            takes, came = self._moved(watched)
        elif now == same:  # These are the common cases of `_moved`.
            if takes:
                del numbers[now:]
        elif now == same + 1:
            tracker = stack[same]
            number = self._ids.get(tracker.uid)
            if number is None:
                number = self._trackers.add(tracker, step - 1)
            if not takes:
                numbers.append(number)
                came = (number,)
            elif number != numbers[same]:
                came = (number,)
                numbers[same:] = came
            else:
                takes -= 1
                del numbers[now:]
        else:
            takes, came = self._moved(watched)
        slots = self._rebound(watched) if watched.binds else NO_SLOTS
        index, watched.takes, watched.binds = watched.known.get(instruction) or watched.entry.number(instruction)
        fresh = watched.step < 0
        if fresh:
            watched.record.first_step = step
        watched.step = step
        self._add_step((watched.id, index, takes, came, slots, fresh))
        ended.append(1)

    def on_raise(self, frame: Any, instruction: Instruction, exception: Any) -> None:
        watched = self._watched(frame)
        if watched is None or watched.step < 0:
            return
        self._ended[watched.step] = 0
        if instruction.handler is not None:  # It cuts the stack, and pushes the exception.
            watched.takes = max(watched.takes, len(watched.numbers) - instruction.handler.depth)
        tracker = self._trackers.number(exception, len(self._ended) - 1)
        name = type(exception).__name__
        text = self._losses.attempt("the text of an exception", lambda: clean(exception.describe()), name)
        self._raised.append(schema.Raised(step=watched.step, tracker=tracker, text=text))

    def on_dispatch(self, handler: str) -> None:
        current = self._current
        step = current.step if current is not None and current.step >= 0 else self._step()
        if step is not None:
            self._dispatched.append((step, self._handlers(handler)))

    def on_change(self, tracker: Any) -> None:
        self._trackers.changed(tracker)

    # --- frames -------------------------------------------------------------------------------------------

    def _go_to(self, frame: Any) -> Watched | None:
        """Make `frame`, known or new, the current one. Return None where no steps are recorded."""
        work = self._work
        if work is None or work.attempt is None or work.cut_short:
            return None
        watched = work.frames.get(frame.uid)
        if watched is None:
            watched = self._enter(work, work.attempt, frame)
        else:
            _suspend(self._current, watched)
        self._current = work.current = watched
        return watched

    def _enter(self, work: Work, attempt: schema.Attempt, frame: Any) -> Watched:
        entry = self._entry_of(frame)
        parent = work.caller_of(frame)
        here = len(self._ended)
        record = schema.Frame(
            id=len(self._frames),
            code=entry.record.id,
            attempt=attempt.id,
            parent=parent.record.id if parent is not None else None,
            call_step=self._step() if parent is not None else None,
            depth=0 if parent is None else parent.record.depth + 1,
            first_step=here,
            last_step=here - 1,
            end_step=here - 1,
        )
        self._frames.append(record)
        watched = Watched(frame, entry, record, parent)
        module = source_of_module(frame)
        if module is not None:
            watched.modules = [*watched.modules, self._trackers.sources.of(module).name]
            watched.module_frames = [*watched.module_frames, record.id]
        self._columns.enter(watched)
        work.frames[frame.uid] = watched
        if work.root is None:
            work.root = watched
        return watched

    def _entry_of(self, frame: Any) -> CodeEntry:
        """Return the entry of a frame's code, with instructions numbered in the frame's order."""
        module = module_called(frame.code, frame.locals, lambda tracker: tracker.python_type())
        entry = self._codes.entry(frame.code, module=module)
        entry.use(frame.program)
        return entry

    def _watched(self, frame: Any) -> Watched | None:
        return self._work.frames.get(frame.uid) if self._work is not None else None

    def _leave(self, work: Work, watched: Watched, *, ended: bool) -> None:
        """Record that a frame runs no more steps. The changes of its last step are known if that step ended."""
        try:
            if watched.step >= 0:
                self._ended[watched.step] = ended
                if ended:
                    self._columns.leave(watched, *self._changes(watched))
        finally:
            self._columns.drop(watched)
            watched.settle()
        work.remember(watched)

    def _cut_short(self) -> None:
        """Record no more steps of this attempt: one of them is missing, and its changes would be attributed to later
        ones. The changes of the last steps of its frames are not known."""
        work = self._work
        if work is not None:
            work.cut_short = True
            for watched in reversed(work.frames.values()):
                self._columns.drop(watched)
                watched.step = self._columns.last_step(watched.record.id, watched.record.first_step)
                if watched.step >= 0:
                    self._ended[watched.step] = 0
                watched.settle()
            work.frames = {}
            work.current = self._current = None

    # --- comparing ----------------------------------------------------------------------------------------

    def _changes(self, watched: Watched) -> tuple[int, Sequence[int], Mapping[int, int | None]]:
        """Return the changes in a frame by its last step: the number of popped items, pushed ones, slots."""
        return *self._moved(watched), self._rebound(watched) if watched.binds else NO_SLOTS

    def _moved(self, watched: Watched) -> tuple[int, Sequence[int]]:
        """Return the changes to a frame's stack by its last step: the number of popped items, and the pushed ones."""
        numbers, stack, takes = watched.numbers, watched.frame.stack, watched.takes
        size, now = len(numbers), len(stack)
        # What lies below the instruction's operands is as it was.
        same = size if not takes and now >= size else min(max(size - takes, 0), now)
        ids, last = self._ids, len(self._ended) - 1
        came: list[int] = []
        for tracker in stack[same:]:
            number = ids.get(tracker.uid)
            came.append(self._trackers.add(tracker, last) if number is None else number)
        if same < size:
            kept = _common(came, numbers, same)
            same += kept
            del came[:kept]
        numbers[same:] = came
        return size - same, came

    def _rebound(self, watched: Watched) -> Mapping[int, int | None]:
        """Return the slots that the last step of a frame rebound, among those of the names that it may bind. None is
        unbound."""
        frame, entry, slots, ids = watched.frame, watched.entry, watched.slots, self._ids
        rebound: dict[int, int | None] = {}
        for bindings, slot_of in ((frame.locals, entry.local_slots), (frame.cells, entry.cell_slots)):
            if not bindings and not slot_of:
                continue
            for name in watched.binds:
                tracker = bindings.get(name)
                if tracker is not None:
                    slot, number = slot_of[name], ids.get(tracker.uid)
                    if number is None:
                        number = self._trackers.add(tracker, len(self._ended) - 1)
                    if slots.get(slot) != number:
                        slots[slot] = rebound[slot] = number
                elif name in slot_of and slots.pop(slot_of[name], None) is not None:
                    rebound[slot_of[name]] = None
        return rebound

    # --- position -----------------------------------------------------------------------------------------

    def _step(self) -> int | None:
        """Return the current step."""
        current = self._current
        if current is not None and current.step >= 0:
            return current.step
        return self._work.step() if self._work is not None else None

    def _attempt(self) -> int | None:
        """Return the attempt being recorded."""
        return None if self._work is None or self._work.attempt is None else self._work.attempt.id

    def _where_lost(self) -> tuple[int | None, int | None]:
        """Return the current step, if it was recorded, and the attempt: the position of a loss."""
        step = self._step()
        return None if step is None or step >= len(self._ended) else step, self._attempt()

    def _line(self, watched: Watched) -> int | None:
        return self._line_at(watched.step) if watched.step >= 0 else watched.entry.record.first_line

    def _line_at(self, step: int) -> int | None:
        code = self._codes.records[self._frames[self._columns.frame_of(step)].code]
        return line_of(code.instructions, self._columns.instruction_of(step))

    def _line_near(self, step: int, other: int | None) -> tuple[str, int | None]:
        """Return the function and line of a step: in a callee of a function that runs at step `other`, those of the
        call there; in a library, those of the program's innermost call."""
        running: set[int] = set()
        number = None if other is None else self._columns.frame_of(other)
        while number is not None:
            running.add(number)
            number = self._frames[number].parent
        at = step
        while True:
            frame = self._frames[self._columns.frame_of(at)]
            code = self._codes.records[frame.code]
            is_near = frame.id in running or not running
            if frame.call_step is None or (is_near and code.owner == "user"):
                return code.qualname, self._line_at(at)
            at = frame.call_step

    def _place(self) -> tuple[int | None, int | None]:
        """Return the current code and line."""
        at = self._current
        while at is not None and at.step < 0 and at.parent is not None:
            at = at.parent
        return (None, None) if at is None else (at.entry.record.id, self._line(at))


def _common(came: list[int], numbers: list[int], first: int) -> int:
    """Return how many items of `came` are the same as those in `numbers` from position `first` on."""
    kept = 0
    for one, other in zip(came, numbers[first:], strict=False):
        if one != other:
            break
        kept += 1
    return kept


def _suspend(left: Watched | None, resumed: Watched) -> None:
    """Mark the frames between `resumed` and `left` as suspended: steps continue in `resumed` before they end."""
    at, between = left, []
    while at is not None and at is not resumed:
        between.append(at)
        at = at.parent
    for watched in between if at is resumed else [resumed]:
        watched.record.suspended = True
