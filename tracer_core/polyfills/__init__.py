"""Library functions, rewritten in Python that the interpreter can trace.

In: the same arguments as the originals. Out: the same results, exceptions and order of effects. A function here is
inlined like a user's; its frames show in a recording under this file's name. Modules are named after the library
module they stand in for.
"""

from __future__ import annotations

from tracer_core.polyfills.protocols import IteratesByIndex, Ongoing, iterator_by_index
from tracer_core.polyfills.registry import polyfills, stand_in_for

__all__ = [
    "IteratesByIndex",
    "Ongoing",
    "iterator_by_index",
    "polyfills",
    "stand_in_for",
]
