"""`copy.copy` and `copy.deepcopy` on containers and plain objects, without asking for addresses."""

from __future__ import annotations

import copy
import types
from typing import Any

from tracer_core.polyfills.registry import polyfills

_ATOMIC = (
    type(None), type(...), type(NotImplemented), int, float, bool, complex, str, bytes, type, range, slice, property,
    types.FunctionType, types.BuiltinFunctionType, types.CodeType,
)  # fmt: skip
_SHALLOW = (list, dict, set, bytearray)


@polyfills(copy.copy)
def shallow(x: Any) -> Any:
    cls = type(x)
    if cls in _ATOMIC or cls is tuple or cls is frozenset:
        return x
    if cls in _SHALLOW:
        return x.copy()
    own = getattr(cls, "__copy__", None)
    if own is not None:
        return own(x)
    return _reduced(x, None)


@polyfills(copy.deepcopy)
def deep(x: Any, memo: Any = None, _nil: Any = ()) -> Any:
    if memo is None:
        memo = Memo()
    return _deep(x, memo)


class Memo:
    """What was copied, found by identity. Holds pairs, so that nothing it has seen can go."""

    def __init__(self) -> None:
        self.pairs: list[tuple[Any, Any]] = []

    def find(self, x: Any) -> tuple[Any, ...]:
        for original, made in self.pairs:
            if original is x:
                return (made,)
        return ()

    def note(self, x: Any, made: Any) -> Any:
        self.pairs.append((x, made))
        return made


def _deep(x: Any, memo: Memo) -> Any:
    cls = type(x)
    if cls in _ATOMIC:
        return x
    known = memo.find(x)
    if known:
        return known[0]
    if cls is list:
        items: list[Any] = memo.note(x, [])
        for item in x:
            items.append(_deep(item, memo))
        return items
    if cls is tuple:
        return _deep_tuple(x, memo)
    if cls is dict:
        entries: dict[Any, Any] = memo.note(x, {})
        for key, value in x.items():
            entries[_deep(key, memo)] = _deep(value, memo)
        return entries
    if cls is types.MethodType:
        return types.MethodType(x.__func__, _deep(x.__self__, memo))
    own = getattr(cls, "__deepcopy__", None)
    if own is not None:
        return memo.note(x, own(x, memo))
    return _reduced(x, memo)


def _deep_tuple(x: tuple[Any, ...], memo: Memo) -> Any:
    items = [_deep(item, memo) for item in x]
    known = memo.find(x)
    if known:
        return known[0]
    for old, new in zip(x, items, strict=True):
        if old is not new:
            return memo.note(x, tuple(items))
    return x


def _reduced(x: Any, memo: Memo | None) -> Any:
    """A plain object: a new one of its class with its `__dict__` and slots."""
    cls: Any = type(x)
    reduce, made_by = getattr(cls, "__reduce_ex__", None), getattr(cls, "__getstate__", None)
    if (
        reduce is not object.__reduce_ex__
        or cls.__reduce__ is not object.__reduce__
        or made_by is not object.__getstate__
    ):
        return x.__reduce_ex__(4)
    if hasattr(cls, "__getnewargs__") or hasattr(cls, "__getnewargs_ex__"):
        return x.__reduce_ex__(4)
    made: Any = cls.__new__(cls)
    if memo is not None:
        memo.note(x, made)
    state = dict(x.__dict__)
    if memo is not None:
        state = _deep(state, memo)
    if hasattr(cls, "__setstate__"):
        if state:
            made.__setstate__(state)
    else:
        made.__dict__.update(state)
    return made
