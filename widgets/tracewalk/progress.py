"""Show what is under way, once it takes over a second.

In a notebook, this is a line in the cell's output, which goes when the work is over; in a terminal, a line that is
written over. Elsewhere nothing is shown. The work stays in its own thread, and Ctrl-C reaches it as ever.
"""

from __future__ import annotations

import contextlib
import contextvars
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any, Protocol

from tracer_core.recording import pace

AFTER = 1.0
EVERY = 0.5


class _Line(Protocol):
    def show(self, text: str) -> None: ...

    def clear(self) -> None: ...


class _NotebookLine:
    """An output of the running cell, that is updated in place."""

    def __init__(self) -> None:
        self._handle: Any = None

    def show(self, text: str) -> None:
        from IPython.display import DisplayHandle

        data = {"text/plain": text}
        if self._handle is None:
            self._handle = DisplayHandle()  # type: ignore[no-untyped-call]
            self._handle.display(data, raw=True)
        else:
            self._handle.update(data, raw=True)

    def clear(self) -> None:
        if self._handle is not None:
            self._handle.update({"text/html": "", "text/plain": ""}, raw=True)


class _TerminalLine:
    def __init__(self) -> None:
        self._width = 0

    def show(self, text: str) -> None:
        sys.stderr.write("\r" + text.ljust(self._width))
        sys.stderr.flush()
        self._width = len(text)

    def clear(self) -> None:
        if self._width:
            self.show("")
            sys.stderr.write("\r")
            sys.stderr.flush()


def _line() -> _Line | None:
    ipython = sys.modules.get("IPython")
    shell: Any = ipython.get_ipython() if ipython is not None else None
    if hasattr(shell, "kernel"):
        return _NotebookLine()
    return _TerminalLine() if sys.stderr is not None and sys.stderr.isatty() else None


@contextlib.contextmanager
def progress(text: Callable[[], str]) -> Iterator[None]:
    """Show what `text` returns, again and again, while the block runs. It is called in another thread."""
    line = _line()
    if line is None:
        yield
        return
    over = threading.Event()
    begun = time.monotonic()

    def watch() -> None:
        wait = AFTER
        while not over.wait(wait):
            line.show(f"{text()} ({time.monotonic() - begun:.0f} s; interrupt to stop)")
            wait = EVERY

    # The context says which cell the output belongs to.
    thread = threading.Thread(target=contextvars.copy_context().run, args=(watch,), name="tracewalk-progress")
    thread.daemon = True
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
        line.clear()


@contextlib.contextmanager
def progress_of(what: str) -> Iterator[None]:
    """Show how far the work over a recording in the block is."""
    at = 0, 0

    def hear(done: int, total: int) -> None:
        nonlocal at
        at = done, total

    def text() -> str:
        done, total = at
        return f"{what}: {100 * done // total} %" if total else what

    with progress(text), pace.heard(hear):
        yield
