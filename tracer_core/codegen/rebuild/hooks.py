"""Rebuild handles of hooks: those of registered hooks are what the calls that register them return."""

from __future__ import annotations

from tracer_core.codegen.emit.emitter import CannotRebuild, Emitter
from tracer_core.codegen.rebuild.registry import rebuilds
from tracer_core.runtime.hooks import removed_handle
from tracer_core.variables.torch.hook_handles import HookHandleVariable


@rebuilds(HookHandleVariable)
def _handle(emitter: Emitter, tracker: HookHandleVariable) -> None:
    if not tracker.removed:
        raise CannotRebuild(tracker)
    emitter.call_const(removed_handle)
