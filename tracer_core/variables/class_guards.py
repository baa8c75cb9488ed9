"""What a class is like may change between calls: attributes added to it, to a base, or over a base's."""

from __future__ import annotations

from tracer_core.graph.libraries import may_change
from tracer_core.guards import make
from tracer_core.sources import AttrSource, ConstSource
from tracer_core.variables.base import Tracing


def guard_class(tx: Tracing, cls: type) -> None:
    """Note that lookups in `cls` were made: none of its classes may gain or lose attributes.

    What a lookup found is guarded where it was found; this covers what it did not find. For classes of torch and of
    Python itself see `tracer_core.graph.libraries`.
    """
    done = tx.output.guarded_classes
    if cls in done:
        return
    done.add(cls)
    for owner in cls.__mro__:
        if may_change(owner):
            tx.guard(make.length(AttrSource(ConstSource.of_object(owner), "__dict__"), len(owner.__dict__)))
