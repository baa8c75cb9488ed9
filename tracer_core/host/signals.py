"""Pass on exceptions of the user's signal handlers that are raised while our code or a graph runs.

Python runs a handler between any two instructions, so what it raises comes out of whatever is running: of our code,
which would take it for a fault of its own or for what a function called while tracing raises, or of a graph, whose
exceptions are dropped. Where torch may not raise, handlers wait (`property_reads.py`).
"""

from __future__ import annotations

import contextlib
import gc
import signal
import sys
import threading
from collections.abc import Callable
from types import CodeType, FrameType, TracebackType
from typing import Any

from tracer_core.host.process_state import restore_after_tracing
from tracer_core.host.property_reads import is_reading_property


class Interrupted(BaseException):
    """A signal handler raised `error`. No handler for exceptions in general catches this one."""

    def __init__(self, error: BaseException) -> None:
        super().__init__()
        self.error = error


class _Marking:
    """Call a handler of the program, or defer it while nothing may be raised. Its exceptions are raised as
    `Interrupted`, except KeyboardInterrupt of Python's own handler. `outer` is the exception that the program was
    handling when tracing started, and `start` the code that tracing starts in."""

    __slots__ = ("handler", "outer", "start")

    def __init__(
        self, handler: Callable[[int, FrameType | None], Any], outer: BaseException | None, start: CodeType
    ) -> None:
        self.handler = handler
        self.outer = outer
        self.start = start

    def __call__(self, number: int, frame: FrameType | None) -> None:
        if is_reading_property(frame, self.start):
            waiting[number] = self
            return
        if self.handler is signal.default_int_handler:
            self.handler(number, frame)
            return
        handled = sys.exc_info()[1]
        try:
            self.handler(number, frame)
        except BaseException as error:  # noqa: BLE001
            trace = error.__traceback__
            error.__traceback__ = None if trace is None else trace.tb_next
            in_context_of(error, handled, self.outer)
            raise Interrupted(error) from None


waiting: dict[int, _Marking] = {}
"""The deferred handlers, by signal number."""


def call_waiting() -> None:
    """Call the deferred handlers, unless nothing may be raised here either. Only the main thread does."""
    if threading.current_thread() is threading.main_thread():
        for number in list(waiting):
            waiting.pop(number)(number, sys._getframe(1))


def mark_handlers() -> None:
    """Defer handlers of the program while nothing may be raised, and raise their exceptions as `Interrupted`, in
    everything that the caller calls from here on, until tracing ends. Only the main thread has handlers."""
    if threading.current_thread() is not threading.main_thread():
        return
    outer, start = sys.exc_info()[1], sys._getframe(1).f_code
    for number, handler in _handlers():
        if callable(handler):
            signal.signal(number, _Marking(handler, outer, start))


def _handlers() -> list[tuple[int, Any]]:
    return [(number, signal.getsignal(number)) for number in signal.valid_signals()]


def _unmark_handlers(_: None) -> None:
    """Restore the program's handlers. (If a handler has set another one meanwhile, that one stays.)"""
    if threading.current_thread() is threading.main_thread():
        for number, handler in _handlers():
            if isinstance(handler, _Marking):
                signal.signal(number, handler.handler)
        call_waiting()


restore_after_tracing(lambda: None, _unmark_handlers)


def in_context_of(error: BaseException, handled: BaseException | None, instead: BaseException | None) -> None:
    """Put `instead` where `error` has `handled`, an exception of the engine's own, as a context."""
    seen: set[int] = set()
    inner: BaseException | None = error
    while inner is not None and handled is not None and id(inner) not in seen:
        seen.add(id(inner))
        if inner.__context__ is handled:
            inner.__context__ = instead
            return
        inner = inner.__context__


def handlers_part(error: BaseException) -> TracebackType | None:
    """Return the part of the traceback of `error` that belongs to a signal handler of the program, None if there is
    none: it starts at the frame of an installed handler, or at one that was called with a signal's number and a
    frame."""
    trace = None if error.__traceback__ is None else error.__traceback__.tb_next
    if trace is None:
        return None
    handlers = {code_of(signal.getsignal(number)) for number in signal.valid_signals()} - {None}
    while trace is not None and (
        trace.tb_frame.f_code is _MARKING
        or not (trace.tb_frame.f_code in handlers or _is_interruption(trace.tb_frame))
    ):
        trace = trace.tb_next
    return trace


_MARKING = _Marking.__call__.__code__


def clear_frames(error: BaseException) -> None:
    """Clear the frames that `error` passed through, up to those of a handler: some of their values (guards of
    torch's, generators in a `with`) restore something when they are freed."""
    trace, end = error.__traceback__, handlers_part(error)
    while trace is not None and trace is not end:
        with contextlib.suppress(RuntimeError):  # it still runs
            trace.tb_frame.clear()
        trace = trace.tb_next


def is_external_error(error: BaseException) -> bool:
    """Return whether `error`, caught around our code or a graph, was raised by neither; then it passes unhandled."""
    return not isinstance(error, Exception) or handlers_part(error) is not None


def _is_interruption(frame: FrameType) -> bool:
    """Return whether a finished frame holds a number and the frame that called it. (Reading `f_locals` would keep its
    values alive.)"""
    caller = frame.f_back
    if caller is None or frame.f_code.co_argcount < 2:
        return False
    held = gc.get_referents(frame)  # the caller is among them once more
    return sum(each is caller for each in held) > 1 and any(isinstance(each, int) for each in held)


def code_of(handler: Any) -> CodeType | None:
    """Return the code that runs first when `handler` is called, if it is Python code."""
    if not callable(handler):
        return None
    for _ in range(8):
        code = getattr(handler, "__code__", None)
        if isinstance(code, CodeType):
            return code
        handler = getattr(handler, "__func__", None) or getattr(handler, "func", None) or type(handler).__call__
    return None
