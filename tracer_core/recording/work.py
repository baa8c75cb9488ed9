"""Hold the recorder's work in progress: nested compilations, and their live frames."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any

from tracer_core.recording import schema
from tracer_core.recording.codes import CodeEntry
from tracer_core.recording.column_writer import LiveFrame
from tracer_core.recording.kinds import is_subclass, torch_type


class Watched(LiveFrame):
    """A live frame of the engine. Its last step may change the top `takes` items of the stack, and the names in
    `binds`. `modules` names the modules whose `forward` runs in the frame and in those that called it, outermost
    first; `module_frames` are the frames in which it runs."""

    __slots__ = (
        "binds",
        "entry",
        "frame",
        "inner_end",
        "known",
        "module_frames",
        "modules",
        "parent",
        "record",
        "takes",
    )

    def __init__(self, frame: Any, entry: CodeEntry, record: schema.Frame, parent: Watched | None) -> None:
        super().__init__(record.id)
        self.frame = frame
        self.entry = entry
        self.known = entry.known
        self.record = record
        self.parent = parent
        self.modules: list[str] = [] if parent is None else parent.modules
        self.module_frames: list[int] = [] if parent is None else parent.module_frames
        self.inner_end = -1
        self.takes = 0
        self.binds: tuple[str, ...] = (*frame.locals, *frame.cells)

    def settle(self) -> None:
        """Record the last steps of the frame."""
        record = self.record
        if self.step >= 0:
            record.last_step = self.step
        else:
            self.step = record.first_step - 1
        record.end_step = max(self.step, self.inner_end)
        if self.parent is not None:
            self.parent.inner_end = max(self.parent.inner_end, record.end_step)


def source_of_module(frame: Any) -> Any:
    """Return the source of the module whose `forward` runs in the frame; None if none does."""
    code = frame.code
    if code.co_name != "forward" or not code.co_varnames:
        return None
    first = frame.locals.get(code.co_varnames[0])
    source = getattr(first, "source", None)
    if source is None or not is_subclass(first.python_type(), torch_type("nn.Module")):
        return None
    return source


@dataclass(slots=True)
class Work:
    """One active compilation."""

    record: schema.Compilation
    call: schema.Call | None
    begun: int
    """The number of steps in the recording when it started."""
    attempt: schema.Attempt | None = None
    between: list[tuple[int, int]] = field(default_factory=list)
    """Runs of steps within the attempt that belong to another compilation: the first step, and the count."""
    frames: dict[int, Watched] = field(default_factory=dict)
    current: Watched | None = None
    root: Watched | None = None
    breaks: list[schema.Break] = field(default_factory=list)
    met: list[schema.Break] = field(default_factory=list)
    """The breaks that the last attempt met."""
    past: dict[int, tuple[int, int, int]] = field(default_factory=dict)
    """The ended frames, also of earlier attempts, by uid: attempt, last step, last step of the root by then."""
    cut_off: int | None = None
    """The last step of the last attempt's root frame."""
    cut_short: bool = False
    """Whether no more steps of the attempt are recorded."""
    tracing_since: float | None = None
    tracing_seconds: float = 0.0
    """Seconds spent tracing, until the root frame ended or the attempt did."""
    inner_seconds: float = 0.0
    """Seconds spent in compilations that ran inside this one."""

    def start_attempt(self, attempt: schema.Attempt) -> None:
        self.attempt = attempt
        self.met = []
        self.frames = {}
        self.current = self.root = None
        self.cut_off = None
        self.cut_short = False
        self.between = []
        self.tracing_since = time.perf_counter()

    def end_tracing(self) -> None:
        """Count the seconds since the attempt started, once."""
        if self.tracing_since is not None:
            self.tracing_seconds += time.perf_counter() - self.tracing_since
        self.tracing_since = None

    def caller_of(self, frame: Any) -> Watched | None:
        """Return the frame that a new one is called from: the innermost of those that run steps."""
        at = frame.parent
        while at is not None and at.uid not in self.frames:
            at = at.parent
        return None if at is None else self.frames[at.uid]

    def remember(self, watched: Watched) -> None:
        """Remember the last steps of a frame that ended."""
        if self.root is not None and watched.step >= 0:
            self.past[watched.frame.uid] = (watched.record.attempt, watched.step, self.root.step)

    def step_number(self, number: int) -> int | None:
        """Return the step in the recording that has `number` within the attempt."""
        if self.attempt is None:
            return None
        step = self.attempt.first_step + number
        for first, count in self.between:
            if first <= step:
                step += count
        return step

    def step(self) -> int | None:
        """Return the current step, or None before the attempt's first one."""
        at = self.current
        while at is not None and at.step < 0:
            at = at.parent
        return None if at is None else at.step
