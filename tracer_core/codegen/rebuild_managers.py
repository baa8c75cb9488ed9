"""How generated code makes exits of `with` blocks and managers to be entered again."""

from __future__ import annotations

import contextlib
from functools import partial

from tracer_core.codegen.emitter import Emitter
from tracer_core.codegen.rebuild_registry import rebuilds
from tracer_core.interpreter.with_blocks import FreshManager, WithExit


@rebuilds(WithExit)
def _with_exit(emitter: Emitter, tracker: WithExit) -> None:
    emitter.load(tracker.bound)


@rebuilds(FreshManager)
def _fresh_manager(emitter: Emitter, tracker: FreshManager) -> None:
    parts = (tracker.function, tracker.args, tracker.kwargs)
    cls = partial(emitter.const, contextlib._GeneratorContextManager)
    emitter.call_const(partial, cls, *(partial(emitter.load, part) for part in parts))
