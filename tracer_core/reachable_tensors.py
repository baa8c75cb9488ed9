"""Decide whether a frame may work on tensors at all, by its variables and the globals that it names.

A frame that does nothing with tensors runs as plain Python; that is right until one of its values is a tensor, so
this is checked before the next frame of the code is traced again.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import torch

from tracer_core.guards.describe import module_name

_PLAIN = (str, bytes, int, float, complex, bool, type(None))
_MAX_OBJECTS = 1000
"""How many objects are inspected before the answer is "perhaps"."""


def may_reach_tensors(code: types.CodeType, locals: Mapping[str, Any], globals: Mapping[str, Any]) -> bool:
    """Return whether a tensor, a module, something of torch, or a possible producer of tensors (an iterator, a Python
    function) can be reached from the frame's variables or is among the globals that its code names."""
    return _any_reached(code, locals, globals, _has_to_do_with_tensors)


def reaches_tensors(code: types.CodeType, locals: Mapping[str, Any], globals: Mapping[str, Any]) -> bool:
    """Return whether a tensor or a module itself can be reached from there."""
    return _any_reached(code, locals, globals, lambda value: issubclass(type(value), _TENSORS))


def _any_reached(
    code: types.CodeType, locals: Mapping[str, Any], globals: Mapping[str, Any], wanted: Callable[[Any], bool]
) -> bool:
    waiting = list(locals.values())
    waiting.extend(globals[name] for name in code.co_names if name in globals)
    seen: set[int] = set()
    while waiting:
        value = waiting.pop()
        if issubclass(type(value), _PLAIN) or id(value) in seen:
            continue
        if wanted(value) or len(seen) > _MAX_OBJECTS:
            return True
        seen.add(id(value))
        waiting.extend(_inside(value))
    return False


_TENSORS = (torch.Tensor, torch.nn.Module)
_MAY_GIVE_TENSORS = (types.FunctionType, types.MethodType)


def _has_to_do_with_tensors(value: Any) -> bool:
    cls = type(value)
    if issubclass(cls, (*_TENSORS, *_MAY_GIVE_TENSORS)) or _gives_items(cls):
        return True
    if issubclass(cls, types.ModuleType):
        module = module_name(value)
    elif issubclass(cls, type):
        module = type.__getattribute__(value, "__module__")
    elif issubclass(cls, types.BuiltinFunctionType):
        module = value.__module__
    else:
        module = type.__getattribute__(cls, "__module__")
    return type(module) is str and module.partition(".")[0] in ("torch", "numpy")


def _gives_items(cls: type) -> bool:
    """Return whether instances are iterators, without calling abstract classes, whose checks the program may
    define."""
    mro = type.__dict__["__mro__"].__get__(cls)
    return all(any(name in vars(owner) for owner in mro) for name in ("__next__", "__iter__"))


_ITEMS: dict[type, Callable[[Any], Iterator[Any]]] = {
    list: list.__iter__,
    tuple: tuple.__iter__,
    set: set.__iter__,
    frozenset: frozenset.__iter__,
    dict: lambda value: iter(dict.values(value)),
}


def _inside(value: Any) -> list[Any]:
    """Return the values inside a value, read without calling methods of its class: no code of the program runs."""
    cls = type(value)
    for base, items in _ITEMS.items():
        if issubclass(cls, base):
            return [*items(value), *_own(value)]
    return [] if issubclass(cls, (types.ModuleType, type)) else _own(value)


def _own(value: Any) -> list[Any]:
    """Return the contents of the instance's dict."""
    try:
        own = object.__getattribute__(value, "__dict__")
    except AttributeError:
        return []
    return list(dict.values(own)) if type(own) is dict else []
