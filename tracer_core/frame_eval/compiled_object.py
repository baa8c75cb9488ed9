"""`CompiledObject`: the argument of `compile`, a function, a method, a module. Versions are counted for each of them.

The C side can keep several lists of versions of a code, one for each region. A compiled object is a region: what runs
when it is called is looked up among what was compiled for it, however many others run the same code. All modules are
called by the same code, those of one class have one `forward`, and what one decorator returns has one code, whatever
it wraps.
"""

from __future__ import annotations

import functools
import itertools
import sys
import weakref
from collections.abc import Callable, Hashable
from types import FunctionType, MethodType
from typing import Any

import torch
from torch.nn.modules.module import _has_any_global_hook

from tracer_core.frame_eval import c_frame
from tracer_core.frame_eval.cache import CodeCache

_regions = itertools.count(1 << 40)  # torch counts its own from 0


class _CompiledObject:
    """The region of one such object, and the caches with versions of it. It lives as long as the object."""

    __slots__ = ("__weakref__", "_caches", "_watches", "region")

    def __init__(self, key: Hashable, parts: tuple[Any, ...]) -> None:
        gone = functools.partial(_object_died, key)
        self._watches = [weakref.ref(part, gone) for part in parts]
        self._caches: weakref.WeakSet[CodeCache] = weakref.WeakSet()
        self.region = next(_regions)

    def uses(self, cache: CodeCache) -> None:
        self._caches.add(cache)

    def end(self) -> None:
        for cache in list(self._caches):
            cache.release(self.region)


_objects: dict[Hashable, _CompiledObject] = {}
_by_region: weakref.WeakValueDictionary[int, _CompiledObject] = weakref.WeakValueDictionary()


def _object_died(key: Hashable, _: weakref.ref[Any], at_exit: Callable[[], bool] = sys.is_finalizing) -> None:
    ended = None if at_exit() else _objects.pop(key, None)
    if ended is not None:
        ended.end()


def region_of(fn: Callable[..., Any]) -> int:
    """Return the region of a compiled object: for a method, that of its function and its object. An object that
    cannot be referenced weakly is in the region of all frames."""
    parts = (fn.__func__, fn.__self__) if type(fn) is MethodType else (fn,)
    key = tuple(map(id, parts))
    found = _objects.get(key)
    if found is None:
        try:
            found = _CompiledObject(key, parts)
        except TypeError:
            return c_frame.NO_REGION
        _objects[key] = _by_region[found.region] = found
    return found.region


def note_use(region: int, cache: CodeCache) -> None:
    """Note that entries of `cache` are used in `region`, until the region's object dies."""
    found = _by_region.get(region)
    if found is not None:
        found.uses(cache)


_call = torch.nn.Module.__call__
_call_with_hooks = FunctionType(_call.__code__.replace(), _call.__globals__, _call.__name__)


def as_called(module: torch.nn.Module) -> Callable[..., Any]:
    """Return the function to call for a module. The code that calls any module runs as plain Python, since the
    program's code is in `forward`; but if hooks run around that, all is traced together, from a copy of the code
    on."""
    held = module.__dict__.get
    hooked = (
        held("_forward_hooks")
        or held("_forward_pre_hooks")
        or held("_backward_hooks")
        or held("_backward_pre_hooks")
        or _has_any_global_hook()  # type: ignore[no-untyped-call]
    )
    return MethodType(_call_with_hooks, module) if hooked and type(module).__call__ is _call else module
