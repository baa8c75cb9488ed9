"""Conditions for reusing compiled code: build them, check them, and explain the first that fails.

In: `Guard`s, each created by a function of `tracer_core.guards.make` for a `Source`. Out: `compile_guards`, which
gives one fast check of a frame's locals, and a `Failure` in words when it fails. A new kind of guard is a class under
`@kind(name, rank)` in `kinds/`, and a function in `make`.
"""

from tracer_core.guards import kinds, make
from tracer_core.guards.compiled import CompiledGuards, Failure, compile_guards
from tracer_core.guards.constants import constant_key, is_constant, same_constant
from tracer_core.guards.guard import KINDS, Guard, Kind, Relation, kind

__all__ = [
    "KINDS",
    "CompiledGuards",
    "Failure",
    "Guard",
    "Kind",
    "Relation",
    "compile_guards",
    "constant_key",
    "is_constant",
    "kind",
    "kinds",
    "make",
    "same_constant",
]
