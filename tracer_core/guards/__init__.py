"""What must still hold to reuse code; checking it; explaining the first thing that does not.

In: `Guard`s, each made by a function of `tracer_core.guards.make` for a `Source`. Out: `compile_guards`, which gives
one fast check of a frame's locals, and a `Failure` in words when it says no. A new kind of guard is a class under
`@kind(name, rank)` in `kinds/`, and a function in `make`.
"""

from tracer_core.guards import kinds, make
from tracer_core.guards.compiled import CompiledGuards, Failure, compile_guards
from tracer_core.guards.constants import constant_key, is_constant, same_constant
from tracer_core.guards.guard import KINDS, Guard, Kind, Relation, kind
from tracer_core.guards.kinds.libraries import ABSENT, OfType, names_of

__all__ = [
    "ABSENT",
    "KINDS",
    "CompiledGuards",
    "Failure",
    "Guard",
    "Kind",
    "OfType",
    "Relation",
    "compile_guards",
    "constant_key",
    "is_constant",
    "kind",
    "kinds",
    "make",
    "names_of",
    "same_constant",
]
