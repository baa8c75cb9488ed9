"""Every reason to end a graph: an id, a sentence about the user's code, why it is so, and what to try."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Reason:
    """`sentence` is a format string over the details given where the reason is raised."""

    id: str
    sentence: str
    explanation: str
    hints: tuple[str, ...]


REASONS: dict[str, Reason] = {}


def _reason(id: str, sentence: str, explanation: str, *hints: str) -> None:
    REASONS[id] = Reason(id, sentence, explanation, hints)


_reason(
    "tensor-branch",
    "The code branches on the value of a tensor ({what}).",
    "The value is known only when the graph has run, so which branch to trace cannot be decided.",
    "Use torch.where or torch.cond to keep both outcomes in the graph.",
    "Compute the condition from shapes or plain Python numbers, if that is what is meant.",
)
