"""Exceptions of the user's signal handlers, raised while our code or a graph runs: they are the program's own.

Python runs a handler between any two instructions, so what it raises comes out of whatever is running: of our code,
which would take it for a fault of its own or for what a function called while tracing raises, or of a graph, whose
exceptions are dropped.
"""

from __future__ import annotations

import gc
import signal
import sys
import threading
from collections.abc import Callable
from types import CodeType, FrameType, TracebackType
from typing import Any


class Interrupted(BaseException):
    """A signal handler raised `error`. Nothing that catches exceptions in general catches this one."""

    def __init__(self, error: BaseException) -> None:
        super().__init__()
        self.error = error


class Marking:
    """Inside, exceptions of the program's signal handlers come as `Interrupted`.

    Python's own handler of Ctrl-C stays, as KeyboardInterrupt passes for itself. Only the main thread has handlers.
    """

    __slots__ = ("_installed", "_outer")

    def __enter__(self) -> None:
        self._installed: dict[int, tuple[Any, Any]] = {}
        if threading.current_thread() is not threading.main_thread():
            return
        self._outer = sys.exc_info()[1]
        for number in signal.valid_signals():
            handler = signal.getsignal(number)
            if callable(handler) and handler is not signal.default_int_handler:
                marking = self._marking(handler)
                signal.signal(number, marking)
                self._installed[number] = (marking, handler)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for number, (marking, handler) in self._installed.items():
            if signal.getsignal(number) is marking:  # else the program's handler set another one meanwhile
                signal.signal(number, handler)

    def _marking(self, handler: Callable[[int, FrameType | None], Any]) -> Callable[[int, FrameType | None], None]:
        outer = self._outer

        def marking(number: int, frame: FrameType | None) -> None:
            handled = sys.exc_info()[1]
            try:
                handler(number, frame)
            except BaseException as error:  # noqa: BLE001
                trace = error.__traceback__
                error.__traceback__ = None if trace is None else trace.tb_next
                in_context_of(error, handled, outer)
                raise Interrupted(error) from None

        return marking


def in_context_of(error: BaseException, handled: BaseException | None, instead: BaseException | None) -> None:
    """Put `instead` where `error` is in the context of `handled`, an exception of ours."""
    seen: set[int] = set()
    inner: BaseException | None = error
    while inner is not None and handled is not None and id(inner) not in seen:
        seen.add(id(inner))
        if inner.__context__ is handled:
            inner.__context__ = instead
            return
        inner = inner.__context__


def handlers_part(error: BaseException) -> TracebackType | None:
    """The part of the traceback of `error` that a signal handler of the program is to blame for, None where none is:
    from the frame on that is of an installed handler, or was given a signal's number and the frame that called it."""
    trace = None if error.__traceback__ is None else error.__traceback__.tb_next
    if trace is None:
        return None
    handlers = {code_of(signal.getsignal(number)) for number in signal.valid_signals()} - {None}
    while trace is not None and trace.tb_frame.f_code not in handlers and not _is_interruption(trace.tb_frame):
        trace = trace.tb_next
    return trace


def is_from_outside(error: BaseException) -> bool:
    """Whether `error`, caught around our code or a graph, is neither's: then it is not for us to deal with."""
    return not isinstance(error, Exception) or handlers_part(error) is not None


def _is_interruption(frame: FrameType) -> bool:
    """Whether a finished frame holds a number and the frame that called it. (`f_locals` would keep what it holds.)"""
    caller = frame.f_back
    if caller is None or frame.f_code.co_argcount < 2:
        return False
    held = gc.get_referents(frame)  # the caller is among them once more
    return sum(each is caller for each in held) > 1 and any(isinstance(each, int) for each in held)


def code_of(handler: Any) -> CodeType | None:
    """The code that runs first when `handler` is called, where it is Python's."""
    if not callable(handler):
        return None
    for _ in range(8):
        code = getattr(handler, "__code__", None)
        if isinstance(code, CodeType):
            return code
        handler = getattr(handler, "__func__", None) or getattr(handler, "func", None) or type(handler).__call__
    return None
