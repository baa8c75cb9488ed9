"""Do long work over a recording slice by slice, so that between two slices the kernel answers other messages, and the
person can stop it.

The work has a thread of its own, but never runs beside others: it has the turn for a moment, and gives it back where
it says how far it is (`tracer_core.recording.pace`).
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from tracer_core.recording import pace

SLICE = 0.2
GIVEN_UP = 120.0
"""Seconds after which work that nobody asks for any more ends."""


class _Stopped(BaseException):
    """Ends the work from inside."""


class Sliced:
    """Work, its progress (`done` of `total`), and its result, once `go_on` has returned True."""

    def __init__(self, work: Callable[[], bytes]) -> None:
        self.done, self.total = 0, 0
        self.result = b""
        self._work = work
        self._error: BaseException | None = None
        self._finished = False
        self._stopped = False
        self._until = 0.0
        self._turn, self._back = threading.Semaphore(0), threading.Semaphore(0)
        self._thread = threading.Thread(target=self._run, name="tracewalk-slices", daemon=True)
        self._thread.start()

    def go_on(self) -> bool:
        """Work for a moment. Return whether it is finished. Raises what the work raises."""
        self._until = time.monotonic() + SLICE
        self._turn.release()
        try:
            self._back.acquire()
        except BaseException:  # Ctrl-C
            self.stop()
            raise
        if self._error is not None:
            raise self._error
        return self._finished

    def stop(self) -> None:
        """End the work, which is of no use any more."""
        self._stopped = True
        self._turn.release()
        self._thread.join()

    def _run(self) -> None:
        try:
            self._wait()
            with pace.heard(self._hear):
                self.result = self._work()
        except _Stopped:
            self._error = LookupError("It was stopped.")
        except BaseException as error:  # noqa: BLE001 - raised again by `go_on`
            self._error = error
        self._finished = True
        self._back.release()

    def _hear(self, done: int, total: int) -> None:
        if self._stopped:
            raise _Stopped
        self.done, self.total = done, total
        if time.monotonic() >= self._until:
            self._back.release()
            self._wait()

    def _wait(self) -> None:
        if not self._turn.acquire(timeout=GIVEN_UP) or self._stopped:
            raise _Stopped


class Whole:
    """Work that is not cut into slices, because it changes the state of the process while it lasts, as tracing does.

    It begins when `go_on` is called for the second time. Until then the person can stop it, also after the kernel was
    busy with something else for long.
    """

    done = total = 0

    def __init__(self, work: Callable[[], bytes]) -> None:
        self.result = b""
        self._work = work
        self._called = False

    def go_on(self) -> bool:
        """Do nothing at first, and the work when called again. Return whether it is finished, or raise its error."""
        if self._called:
            self.result = self._work()
            return True
        self._called = True
        return False

    def stop(self) -> None:
        """End the work, of which nothing has begun."""
