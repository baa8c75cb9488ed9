"""Rebuild the values that are still alive after the graph, in generated code.

In: a tracker. Out: code, written to an `Emitter`, that pushes its value (`rebuild`): loaded from its source, taken
from the outputs of the graph, or built by a rule. Each kind of value has a rule under `@rebuilds`, in a module by
subject; `needs` lists the trackers that a rule loads.
"""

# The modules of rules fill the table when they are imported.
from tracer_core.codegen.rebuild import (  # noqa: F401
    arrays,
    containers,
    functions,
    generators,
    hooks,
    iterators,
    managers,
    objects,
    streams,
)
from tracer_core.codegen.rebuild.value import rebuild

__all__ = ["rebuild"]
