"""How bytearrays and arrays are made again, and how those from outside are written back."""

from __future__ import annotations

import functools
from typing import Any

from tracer_core.codegen.emit.emitter import CannotRebuild, Emitter
from tracer_core.codegen.rebuild.registry import rebuilds
from tracer_core.runtime.containers import fill
from tracer_core.variables.buffers import BufferVariable, contents


@rebuilds(BufferVariable)
def _buffer(emitter: Emitter, tracker: BufferVariable) -> None:
    held = tracker.held
    if isinstance(held, memoryview):
        raise CannotRebuild(tracker)
    parts = [contents(held)] if isinstance(held, bytearray) else [held.typecode, contents(held)]
    emitter.call_const(type(held), *(functools.partial(emitter.const, part) for part in parts))
    emitter.keep(tracker)


def write_buffer(emitter: Emitter, tracker: BufferVariable) -> None:
    """Put the contents into the real one."""
    held = tracker.held
    values: list[Any] = [getattr(held, "typecode", None), contents(held)]
    emitter.run_const(
        fill, lambda: emitter.load(tracker), *(functools.partial(emitter.const, value) for value in values)
    )
