"""Define what a reason to end a graph says, and the catalogue of all reasons by id."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tracer_core.names.sentences import filled


@dataclass(frozen=True, slots=True)
class Reason:
    """A sentence about the user's code, an explanation, and hints that say what to try.

    `sentence` is a format string; its fields are the details given where the graph ends.
    """

    id: str
    sentence: str
    explanation: str
    hints: tuple[str, ...]

    def filled(self, details: Mapping[str, Any]) -> str:
        """Return the sentence about one case."""
        return filled(self.sentence, details)


REASONS: dict[str, Reason] = {}


def reason(id: str, sentence: str, explanation: str, *hints: str) -> None:
    """Add a reason to the catalogue."""
    if id in REASONS:
        raise ValueError(f"Two reasons have the id {id!r}")
    REASONS[id] = Reason(id, sentence, explanation, hints)
