"""`Lowered`: the result of lowering one captured graph, for people to look at."""

from __future__ import annotations

from dataclasses import dataclass

import torch.fx


class CannotLower(Exception):
    """The graph does what operator-level graphs cannot express here. The text is a clause that says what."""


@dataclass(frozen=True, slots=True)
class Lowered:
    """The graphs of one captured graph.

    Args:
        captured: the graph as it was captured.
        forward: the operators that run in its place; None if the captured graph runs eagerly.
        backward: the operators of the backward pass; None if nothing requires a gradient.
        joint: forward and backward as they were traced, before they were split; None where there is no backward.
        reason: why the captured graph runs eagerly, as a clause; empty if it does not.
    """

    captured: torch.fx.GraphModule
    forward: torch.fx.GraphModule | None = None
    backward: torch.fx.GraphModule | None = None
    joint: torch.fx.GraphModule | None = None
    reason: str = ""
