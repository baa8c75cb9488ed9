"""Calls of modules without hooks: a call of `forward`.

`torch.nn.Module.__call__` looks at eight dicts of hooks, which are empty in most programs. Tracing its two functions
takes some fifty instructions for each call. Where there is no hook, the program can observe of them but their
frames, in tracebacks; so only these remain.
"""

from __future__ import annotations

import functools
from types import FunctionType
from typing import Any

import torch

from tracer_core.bytecode import decoded
from tracer_core.guards import make
from tracer_core.guards.kinds.modules import CALLED, HOOKS
from tracer_core.sources import Source
from tracer_core.sources.parts import instance_dict
from tracer_core.variables.containers.dicts import ConstDictVariable
from tracer_core.variables.core.base import VariableTracker
from tracer_core.variables.core.tracing import Tracing
from tracer_core.variables.objects.class_lookup import static_lookup
from tracer_core.variables.objects.user_objects import UserDefinedObjectVariable

_OUTER: Any = torch.nn.Module._wrapped_call_impl
_INNER: Any = torch.nn.Module._call_impl
_CODES = _OUTER.__code__, _INNER.__code__
_GLOBALS = vars(torch.nn.modules.module)
# Not where another library has put functions of its own in their place before.
_ARE_TORCHS = all(code.co_filename == torch.nn.modules.module.__file__ for code in _CODES)

_IN_CLASS = {
    "__getattribute__": object.__getattribute__,
    "__getattr__": torch.nn.Module.__getattr__,
    "__call__": _OUTER,
    "_compiled_call_impl": None,
    "_call_impl": _INNER,
}
_GLOBAL_HOOKS = tuple(f"_global{name}" for name in HOOKS)


def forward_alone(tx: Tracing, module: UserDefinedObjectVariable) -> VariableTracker | None:
    """Return the bound `forward` of the module's class, guarded, if a call of the module is a call of it; else
    None."""
    forward, owner = static_lookup(module.cls, "forward")
    if not (_is_external(module) and isinstance(forward, FunctionType) and _calls_as_torch(module.cls)):
        return None
    held = instance_dict(module.real) or {}
    changed = {*module.attributes, *module.deleted}
    if any(name in held or name in changed for name in CALLED):
        return None
    if any(name in changed or _may_hold(tx, held.get(name), None) for name in HOOKS):
        return None
    if any(_global_may_hold(tx, name) for name in _GLOBAL_HOOKS):
        return None
    if tx.call(tx.constant(torch._C._get_tracing_state), []).value() is not None:
        return None
    for function in (_OUTER, _INNER):
        tx.trace.libraries.inlined(function)
    assert module.source is not None and owner is not None
    tx.guard(make.calls_forward(module.source))
    return module.bind_descriptor(tx, "forward", forward, owner)


def _is_external(module: UserDefinedObjectVariable) -> bool:
    return module.real is not None and module.source is not None and module.given_dict is None


def _calls_as_torch(cls: type) -> bool:
    return (
        _ARE_TORCHS
        and (_OUTER.__code__, _INNER.__code__) == _CODES
        and all(static_lookup(cls, name)[0] is found for name, found in _IN_CLASS.items())
        and all(static_lookup(cls, name)[1] is None for name in HOOKS)
    )


def _may_hold(tx: Tracing, hooks: Any, source: Source | None) -> bool:
    """Return whether there may be hooks in a dict, as it is now in the trace. One that the trace does not know is
    guarded at its source, if that is given."""
    if not isinstance(hooks, dict) or dict.__len__(hooks):
        return True
    known = tx.trace.trackers_by_object.get(id(hooks))
    if known is None and source is not None:
        known = tx.build(hooks, source)
    return known is not None and not (isinstance(known, ConstDictVariable) and not known.truth(tx))


def _global_may_hold(tx: Tracing, name: str) -> bool:
    written, _ = tx.trace.side_effects.load_global(_GLOBALS, name)
    return written or _may_hold(tx, _GLOBALS.get(name), tx.trace.global_source(_GLOBALS, name))


@functools.cache
def calls_between() -> tuple[tuple[FunctionType, int], ...]:
    """The two functions, the outer first, each with the position of the instruction that calls the next one."""
    outer, inner = (
        [at for at, ins in enumerate(decoded(code).instructions) if ins.op == "CALL_FUNCTION_EX"] for code in _CODES
    )
    return (_OUTER, outer[-1]), (_INNER, inner[0])
