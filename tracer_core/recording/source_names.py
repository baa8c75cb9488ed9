"""Compute the names of sources, each once."""

from __future__ import annotations

from typing import Any, NamedTuple

from tracer_core.recording.facts import clean
from tracer_core.recording.losses import Losses


class Named(NamedTuple):
    """A source in text: `exact` tells it from others, `name` is what the program calls it."""

    exact: str
    name: str


class SourceNames:
    """The names of sources, each computed once, since a name is composed of the names of all its bases."""

    def __init__(self, losses: Losses) -> None:
        self._losses = losses
        self._known: dict[int, tuple[Any, list[Named]]] = {}

    def of(self, source: Any) -> Named:
        return self.path(source)[-1]

    def path(self, source: Any) -> list[Named]:
        """Return the names from the root to the source itself. The list must not be changed."""
        known = self._known.get(id(source))
        if known is not None:
            return known[1]
        owner = source.owner
        try:
            named = Named(clean(source.exact), clean(source.name))
        except Exception as error:  # noqa: BLE001  whatever it is must not stop the user's program
            self._losses.note("the name of a source", error)
            named = Named("?", "?")
        path = [named] if owner is None else [*self.path(owner), named]
        self._known[id(source)] = (source, path)
        return path

    def release(self) -> None:
        """Release the engine's objects."""
        self._known.clear()
