"""Whether a frame can have to do with tensors at all, as far as its variables and the globals it names show.

A frame that does nothing with tensors is left to Python; the answer is right until one of its values is a tensor, so
this is asked before the next frame of the code is traced again.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import torch

_CONTAINERS = (list, tuple, set, frozenset)
_PLAIN = (str, bytes, int, float, complex, bool, type(None))
_MAX_OBJECTS = 1000
"""How many objects are looked at before the answer is "perhaps"."""


def tensors_in_sight(code: types.CodeType, locals: Mapping[str, Any], globals: Mapping[str, Any]) -> bool:
    """Whether a tensor, a module, something of torch, or what may give tensors (an iterator, a Python function) can
    be reached from the frame's variables or stands among the globals that its code names."""
    return _any_reached(code, locals, globals, _has_to_do_with_tensors)


def holds_tensors(code: types.CodeType, locals: Mapping[str, Any], globals: Mapping[str, Any]) -> bool:
    """Whether a tensor or a module itself can be reached from there."""
    return _any_reached(code, locals, globals, lambda value: isinstance(value, _TENSORS))


def _any_reached(
    code: types.CodeType, locals: Mapping[str, Any], globals: Mapping[str, Any], wanted: Callable[[Any], bool]
) -> bool:
    waiting = list(locals.values())
    waiting.extend(globals[name] for name in code.co_names if name in globals)
    seen: set[int] = set()
    while waiting:
        value = waiting.pop()
        if isinstance(value, _PLAIN) or id(value) in seen:
            continue
        if wanted(value) or len(seen) > _MAX_OBJECTS:
            return True
        seen.add(id(value))
        waiting.extend(_inside(value))
    return False


_TENSORS = (torch.Tensor, torch.nn.Module)
_MAY_GIVE_TENSORS = (types.FunctionType, types.MethodType, Iterator)


def _has_to_do_with_tensors(value: Any) -> bool:
    if isinstance(value, (*_TENSORS, *_MAY_GIVE_TENSORS)):
        return True
    module = value.__name__ if isinstance(value, types.ModuleType) else getattr(type(value), "__module__", "")
    if isinstance(value, (type, types.BuiltinFunctionType)):
        module = value.__module__
    return isinstance(module, str) and module.partition(".")[0] in ("torch", "numpy")


def _inside(value: Any) -> list[Any]:
    if isinstance(value, _CONTAINERS):
        return list(value)
    if isinstance(value, dict):
        return list(value.values())
    if isinstance(value, (types.ModuleType, type)):
        return []
    own = getattr(value, "__dict__", None)
    return list(own.values()) if isinstance(own, dict) else []
