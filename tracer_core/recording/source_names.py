"""Compute the names of sources, each once."""

from __future__ import annotations

from typing import Any

from tracer_core.recording.facts import clean
from tracer_core.recording.losses import Losses


class SourceNames:
    """The names of sources, each computed once, since a name is composed of the names of all its bases."""

    def __init__(self, losses: Losses) -> None:
        self._losses = losses
        self._known: dict[int, tuple[Any, list[str]]] = {}

    def name(self, source: Any) -> str:
        return self.path(source)[-1]

    def path(self, source: Any) -> list[str]:
        """Return the names from the root to the source itself. The list must not be changed."""
        known = self._known.get(id(source))
        if known is not None:
            return known[1]
        base = source.base
        try:
            name = clean(source.name)
        except Exception as error:  # noqa: BLE001  whatever it is must not stop the user's program
            self._losses.note("the name of a source", error)
            name = "?"
        path = [name] if base is None else [*self.path(base), name]
        self._known[id(source)] = (source, path)
        return path

    def release(self) -> None:
        """Release the engine's objects."""
        self._known.clear()
