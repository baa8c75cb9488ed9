"""Record what could not be recorded, and why: no loss is silent."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from tracer_core.observer import said
from tracer_core.recording import schema
from tracer_core.recording.facts import clean

T = TypeVar("T")


class Losses:
    """All losses of a recording. `where` returns the current step and attempt."""

    def __init__(self, where: Callable[[], tuple[int | None, int | None]]) -> None:
        self.records: list[schema.Lost] = []
        self._where = where
        self._known: dict[tuple[str, str], schema.Lost] = {}

    def note(self, what: str, error: BaseException) -> None:
        """Record that `what` is lost because of `error`."""
        text = clean(said(error), 500)
        record = self._known.get((what, text))
        if record is None:
            step, attempt = self._where()
            record = self._known[what, text] = schema.Lost(what, text, 0, step, attempt)
            self.records.append(record)
        record.count += 1

    def attempt(self, what: str, read: Callable[[], T], otherwise: T) -> T:
        """Return `read()`; if that fails, record that `what` is lost and return `otherwise`."""
        try:
            return read()
        except Exception as error:  # noqa: BLE001  whatever it is must not stop the user's program
            self.note(what, error)
            return otherwise
