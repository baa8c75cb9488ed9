"""Why a graph ends: a catalogue of reasons, each with an id, a sentence about the user's code, and what to try.

In: an id and the details of one case. Out: texts, which errors, recordings and `docs/breaks.md` show. Each module
holds the reasons about one subject; importing this package fills `REASONS` from all of them. After a change, run
`python docs/make_breaks.py`.
"""

from tracer_core.reasons import (  # noqa: F401  (each fills REASONS)
    autograd,
    backends,
    blocks,
    calls,
    containers,
    distributed,
    frames,
    graphs,
    higher_order,
    numpy,
    objects,
    outside,
    random,
    tensors,
)
from tracer_core.reasons.reason import REASONS, Reason

__all__ = ["REASONS", "Reason"]
