"""Rebuild generators of random numbers."""

from __future__ import annotations

from tracer_core.codegen.emit.emitter import Emitter
from tracer_core.codegen.rebuild.registry import rebuilds
from tracer_core.runtime.streams import stream_at
from tracer_core.variables.random.python_streams import RandomStreamVariable


@rebuilds(RandomStreamVariable)
def _stream(emitter: Emitter, tracker: RandomStreamVariable) -> None:
    emitter.call_const(stream_at, lambda: emitter.const(tracker.cls), lambda: emitter.const(tracker.known.getstate()))
    emitter.keep(tracker)
