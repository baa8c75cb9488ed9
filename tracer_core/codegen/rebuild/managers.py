"""Rebuild exits of `with` blocks, and managers to be entered again."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import torch
from torch.autograd.profiler import record_function

from tracer_core.codegen.emit.emitter import Emitter
from tracer_core.codegen.rebuild.objects import set_attribute
from tracer_core.codegen.rebuild.registry import rebuilds
from tracer_core.interpreter.ops.with_blocks import FreshManager, WithExit
from tracer_core.variables.core.base import VariableTracker
from tracer_core.variables.objects.user_objects import UserDefinedObjectVariable


@rebuilds(WithExit)
def _with_exit(emitter: Emitter, tracker: WithExit) -> None:
    emitter.load(tracker.bound)


@rebuilds(FreshManager)
def _fresh_manager(emitter: Emitter, tracker: FreshManager) -> None:
    known = (contextlib._GeneratorContextManager, tracker.function.value())
    pushes = [partial(emitter.const, value) for value in known]
    emitter.call_const(partial, *pushes, partial(emitter.load, tracker.args), partial(emitter.load, tracker.kwargs))


_GRAD: tuple[tuple[str, ...], frozenset[str]] = ((), frozenset({"prev"}))
CALLS: Mapping[Any, tuple[tuple[str, ...], frozenset[str]]] = {
    torch.no_grad: _GRAD,
    torch.enable_grad: _GRAD,
    torch.inference_mode: (("mode",), frozenset()),
    torch.autocast: (
        ("device", "fast_dtype", "_enabled", "_cache_enabled"),
        frozenset({"custom_backend_name", "prev", "prev_cache_enabled", "prev_fastdtype"}),
    ),
    record_function: (
        ("name", "args"),
        frozenset({"run_callbacks_on_exit", "record", "_cupti_monitor_external_id"}),
    ),
}
"""By class of managers: the attributes that are the arguments of its objects, in order, and those that creating and
entering them sets. (Creation has no other effect.)"""


def load_manager(emitter: Emitter, manager: VariableTracker) -> None:
    """Push a manager that is about to be entered: created by a call, as the user would, if that gives the same."""
    call = CALLS.get(manager.cls) if isinstance(manager, UserDefinedObjectVariable) else None
    if call is None or manager in emitter.where or manager.source is not None:
        emitter.load(manager)
        return
    assert isinstance(manager, UserDefinedObjectVariable)
    given, made = call
    pushes: list[Callable[[], None]] = [partial(emitter.load, manager.attributes[name]) for name in given]
    emitter.call_const(manager.cls, *pushes)
    emitter.keep(manager)
    for name, value in manager.attributes.items():
        if name not in made and name not in given:
            set_attribute(emitter, manager, name, value)
