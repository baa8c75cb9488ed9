"""Reasons about several processes that compute together."""

from __future__ import annotations

from tracer_core.reasons.reason import reason

reason(
    "collective",
    "{name} cannot be in a graph here: {why}.",
    "In a graph, a collective is an operator that returns its result, which is then copied to where plain Python "
    "writes it. Where that is not the same, the call runs between two graphs.",
    "Call the collective outside the compiled function.",
    "Call a function of torch.distributed._functional_collectives instead.",
)
