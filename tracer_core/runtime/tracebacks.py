"""Write tracebacks of exceptions that were raised and caught while tracing, as plain Python would have."""

from __future__ import annotations

import sys
from types import CodeType, FrameType, FunctionType, TracebackType

Entry = tuple[CodeType, int | None]


def add_traceback(error: BaseException, entries: tuple[Entry, ...]) -> None:
    """Put these entries, the innermost first, before the traceback of `error`. The outermost is the calling frame."""
    error.__traceback__ = traceback_of(entries, sys._getframe(1), error.__traceback__)


def traceback_of(
    entries: tuple[Entry, ...], outermost: FrameType, made: TracebackType | None = None
) -> TracebackType | None:
    """Return a traceback with these entries, the innermost first, before those of `made`. The last one is
    `outermost`; frames of inlined functions are replaced by empty ones of the same code."""
    for position, (code, line) in enumerate(entries):
        frame = outermost if position == len(entries) - 1 else _frame_like(code)
        made = TracebackType(made, frame, -1, line or code.co_firstlineno)
    return made


def _here() -> FrameType:
    return sys._getframe()


def _frame_like(code: CodeType) -> FrameType:
    """Return a frame that looks like one of `code`."""
    shown = _here.__code__.replace(
        co_name=code.co_name,
        co_qualname=code.co_qualname,
        co_filename=code.co_filename,
        co_firstlineno=code.co_firstlineno,
    )
    frame: FrameType = FunctionType(shown, {"sys": sys, "__name__": __name__})()
    return frame


def set_outer_context(error: BaseException) -> None:
    """Give an exception that a trace raised the context that it has in Python: the exception handled around the
    frame."""
    handled = sys.exc_info()[1]
    if handled is not None and handled is not error:
        error.__context__ = handled


def drop_outermost(error: BaseException) -> None:
    """Remove the entry that raising it again has just added."""
    if error.__traceback__ is not None:
        error.__traceback__ = error.__traceback__.tb_next
