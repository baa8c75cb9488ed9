"""Record calls, compilations and their attempts."""

from __future__ import annotations

from collections.abc import Sequence
from types import CodeType
from typing import TYPE_CHECKING, Any

from tracer_core.names.entry_frame import is_entry_frame
from tracer_core.recording import schema
from tracer_core.recording.bodies import BodyTable
from tracer_core.recording.breaking import Breaking
from tracer_core.recording.callers import callers_of
from tracer_core.recording.calls import CallTable, guard_text
from tracer_core.recording.facts import clean
from tracer_core.recording.work import Work

if TYPE_CHECKING:
    from tracer_core.guards import Failure, Guard


class Compiling(Breaking):
    """Record calls of known codes, which of their versions were tried, and their compilations."""

    def __init__(self) -> None:
        super().__init__()
        self._calls = CallTable(self._losses)
        self._attempts: list[schema.Attempt] = []
        self._compilations: list[schema.Compilation] = []
        self._originals: dict[int, schema.Code] = {}
        self._bodies = BodyTable(self._graphs)
        self._seconds: dict[str, float] = {}
        # The active compilations; None for one whose start was lost.
        self._stack: list[Work | None] = []

    # --- calls --------------------------------------------------------------------------------------------

    def on_call(self, code: CodeType, module: str | None = None) -> None:
        self._modules[id(code)] = module
        self._calls.start(self._entry(code).record.id)

    def on_cache_check(self, code: CodeType, version: int, failed: Guard | None, seen: str) -> None:
        where = failed.where if failed is not None else None
        place, library = (None, None) if where is None else (self._at(where.place), self._at(where.library))
        self._calls.check(self._entry(code).record.id, version, failed, seen, place, library)

    def on_failures(self, code: CodeType, version: int, failures: Sequence[Failure]) -> None:
        failed = [self._failed(failure) for failure in failures]
        self._calls.fail(self._entry(code).record.id, version, failed)

    def _failed(self, failure: Failure) -> schema.FailedGuard:
        guard = failure.guard
        where, source = guard.where, self._trackers.sources.of(guard.source)
        return schema.FailedGuard(
            guard=self._calls.number_of(guard),
            kind=clean(guard.kind),
            source=source.exact,
            text=guard_text(self._losses, guard),
            was=clean(failure.was, 500),
            seen=clean(failure.now, 500),
            remedies=[clean(remedy, 500) for remedy in failure.remedies],
            place=None if where is None else self._at(where.place),
            library=None if where is None else self._at(where.library),
            name=source.name,
        )

    def on_skip(self, code: CodeType, reason_id: str, message: str) -> None:
        if reason_id == "frame-library" and not is_entry_frame(__name__):
            return  # calls made by libraries are not calls of the program
        if reason_id in _OF_TRANSFORMS and any(broken.reason_id == reason_id for broken in self._breaks):
            return  # the break names the program's call, and this runs inside it
        self._calls.skip(self._entry(code).record.id, clean(reason_id), clean(message, 500))

    # --- compilations -------------------------------------------------------------------------------------

    def on_compile_start(self, code: CodeType, version: int) -> None:
        during_step, begun = self._step(), len(self._ended)
        self._stack.append(None)
        self._work = self._current = None
        record = schema.Compilation(
            id=len(self._compilations),
            code=self._entry(code).record.id,
            version=version,
            attempts=[],
            outcome="fault",
            graph=None,
            generated=None,
            seconds=0.0,
            during_step=during_step,
        )
        self._compilations.append(record)
        record.callers = self._losses.attempt("the callers of a function", lambda: self._callers(code), [])
        self._work = self._stack[-1] = Work(record, self._calls.compile(record), begun)

    def _callers(self, code: CodeType) -> list[schema.Place]:
        return callers_of(
            self._entry(code).record,
            lambda running: self._codes.knows(running, self._modules.get(id(running))),
            lambda running: self._entry(running).record,
            self._originals,
        )

    def on_attempt_start(self, frame: Any, number: int) -> None:
        work = self._work
        if work is None:
            return
        try:
            self._close_attempt("restarted", "")
        finally:
            work.attempt = None
        attempt = schema.Attempt(
            id=len(self._attempts),
            compilation=work.record.id,
            number=number,
            first_step=len(self._ended),
            last_step=len(self._ended) - 1,
            outcome="fault",
            message="",
        )
        self._attempts.append(attempt)
        work.record.attempts.append(attempt.id)
        work.start_attempt(attempt)
        self._current = None

    def on_attempt_end(self, outcome: str, message: str) -> None:
        self._close_attempt(outcome, clean(message, 1000))

    def on_compile_end(self, outcome: str, seconds: float) -> None:
        if not self._stack:
            return
        try:
            if self._work is not None:
                self._end(self._work, outcome, seconds)
        finally:
            self._stack.pop()
            ended, self._work = self._work, self._stack[-1] if self._stack else None
            if ended is not None and self._work is not None:
                self._work.between.append((ended.begun, len(self._ended) - ended.begun))
                self._work.inner_seconds += seconds
            self._current = self._work.current if self._work is not None else None
        if self._current is not None:
            self._current.inner_end = len(self._ended) - 1

    def _end(self, work: Work, outcome: str, seconds: float) -> None:
        self._close_attempt(outcome, "")
        work.record.outcome = outcome
        work.record.seconds = seconds
        tracing = min(max(0.0, work.tracing_seconds - work.inner_seconds), seconds)
        self._add_seconds("tracing frames", tracing)
        self._add_seconds("generating and compiling", max(0.0, seconds - work.inner_seconds - tracing))
        self._settle_breaks(work, outcome)
        if work.call is not None:
            work.call.outcome = outcome

    # --- ends ---------------------------------------------------------------------------------------------

    def _close_attempt(self, outcome: str, message: str) -> None:
        work = self._work
        if work is None or work.attempt is None:
            return
        last = len(self._ended) - 1
        work.attempt.last_step = last
        work.attempt.outcome = outcome
        work.attempt.message = message or work.attempt.message
        work.end_tracing()
        self._trackers.flush(last)
        for watched in reversed(list(work.frames.values())):
            self._leave(work, watched, ended=False)
        if work.root is not None and work.root.frame.uid in work.frames:
            work.cut_off = work.root.step
        work.frames = {}
        work.root = work.current = self._current = None
        self._calls.end_attempt(outcome)
        self._bodies.release(work.attempt.id)
        self._trackers.release()  # Else the program's objects that it holds would outlive the attempt.

    def _add_seconds(self, stage: str, seconds: float) -> None:
        self._seconds[stage] = self._seconds.get(stage, 0.0) + seconds


_OF_TRANSFORMS = ("transform-called", "function-transform")
"""Reasons shared by a call of a transform and torch's frames inside it."""
