"""`copy.copy` and `copy.deepcopy` on containers and plain objects, without using addresses."""

from __future__ import annotations

import collections
import copy
import functools
import types
from collections.abc import Callable
from typing import Any

from tracer_core.polyfills.identity_table import found_in, new_table, note_in
from tracer_core.polyfills.registry import polyfills

_ATOMIC = (
    type(None), type(...), type(NotImplemented), int, float, bool, complex, str, bytes, type, range, slice, property,
    types.FunctionType, types.BuiltinFunctionType, types.CodeType,
)  # fmt: skip
# Classes of programs; only these store all their state in a `__dict__` and slots.
_HEAP_TYPE = 1 << 9
_SHALLOW = (
    list, dict, set, bytearray, collections.deque, collections.defaultdict,
)  # fmt: skip


@polyfills(copy.copy)
def shallow(x: Any) -> Any:
    cls = type(x)
    if cls in _ATOMIC or cls is tuple or cls is frozenset:
        return x
    if cls in _SHALLOW:
        return x.copy()
    if issubclass(cls, type):
        return x
    own = getattr(cls, "__copy__", None)
    if own is not None:
        return own(x)
    return _reduced(x, None)


@polyfills(copy.deepcopy)
def deep(x: Any, memo: Any = None, _nil: Any = ()) -> Any:
    if memo is None:
        memo = Memo()
    elif not isinstance(memo, Memo):
        id(memo)  # a dict of the program's, by addresses: the graph breaks
    return _deep(x, memo)


class Memo:
    """The table of copies, found by identity of the original."""

    def __init__(self) -> None:
        self.table = new_table()

    def find(self, x: Any) -> tuple[Any, ...]:
        return found_in(self.table, x)

    def note(self, x: Any, made: Any) -> Any:
        note_in(self.table, x, made)
        return made

    def by_address(self, *args: Any, **kwargs: Any) -> Any:
        """Break the graph: any other method of the dict that this replaces depends on addresses."""
        return id(self.table)

    __len__ = __iter__ = __bool__ = __contains__ = __getitem__ = __setitem__ = __delitem__ = by_address
    get = pop = setdefault = keys = values = items = update = clear = copy = popitem = by_address


def _deep(x: Any, memo: Memo) -> Any:
    cls = type(x)
    if cls in _ATOMIC or issubclass(cls, type):
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


def _of_defaultdict(x: collections.defaultdict[Any, Any]) -> Any:
    return type(x), (() if x.default_factory is None else (x.default_factory,)), None, x.items()


_REDUCED: dict[type, Callable[[Any], tuple[Any, tuple[Any, ...], Any, Any]]] = {
    set: lambda x: (set, (list(x),), None, None),
    frozenset: lambda x: (frozenset, (list(x),), None, None),
    collections.deque: lambda x: (collections.deque, () if x.maxlen is None else ((), x.maxlen), iter(x), None),
    collections.OrderedDict: lambda x: (collections.OrderedDict, (), None, x.items()),
    collections.defaultdict: _of_defaultdict,
    functools.partial: lambda x: (_partial, (x.func, x.args, x.keywords), None, None),
}
"""The reductions of library containers in C: a function, its arguments, then items, then entries."""


def attributes_of(x: collections.OrderedDict[Any, Any]) -> dict[str, Any]:
    """Return the attributes that a program set on an OrderedDict; a trace has its own way to read them."""
    return dict(vars(x))


def _partial(function: Any, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    return functools.partial(function, *args, **keywords)


def _reduced(x: Any, memo: Memo | None) -> Any:
    """Rebuild an object from its reduction."""
    cls: Any = type(x)
    if cls in _REDUCED:
        function, args, items, entries = _REDUCED[cls](x)
        if memo is not None:
            args = tuple([_deep(arg, memo) for arg in args])
        state = attributes_of(x) if cls is collections.OrderedDict else None
        return _filled(x, function(*args), memo, state or None, items, entries)
    if cls.__reduce_ex__ is not object.__reduce_ex__ or not cls.__flags__ & _HEAP_TYPE:
        reduced = x.__reduce_ex__(4)
    elif cls.__reduce__ is not object.__reduce__:
        reduced = x.__reduce__()
    else:
        return _made_again(x, memo)
    if isinstance(reduced, str):
        return x
    function, args, *rest = reduced
    if memo is not None and args:
        args = tuple([_deep(arg, memo) for arg in args])
    state, items, entries = (*rest, None, None, None)[:3]
    return _filled(x, function(*args), memo, state, items, entries)


def _made_again(x: Any, memo: Memo | None) -> Any:
    """Create the copy as `object.__reduce_ex__` prescribes: a new instance with the state, the items of a list, the
    entries of a dict."""
    cls: Any = type(x)
    args, named = _arguments_of_new(x)
    if memo is not None:
        args, named = tuple([_deep(arg, memo) for arg in args]), _deep(named, memo) if named else named
    made = cls.__new__(cls, *args, **named)
    items = iter(x) if isinstance(x, list) else None
    entries = iter(x.items()) if isinstance(x, dict) else None
    return _filled(x, made, memo, _state(x), items, entries)


def _arguments_of_new(x: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
    cls = type(x)
    if hasattr(cls, "__getnewargs_ex__"):
        args, named = x.__getnewargs_ex__()
        return args, named
    return (x.__getnewargs__() if hasattr(cls, "__getnewargs__") else ()), {}


def _state(x: Any) -> Any:
    """Return the result of `__getstate__`: the object's `__dict__`, and its slots where it has any."""
    cls: Any = type(x)
    if cls.__getstate__ is not object.__getstate__:
        return x.__getstate__()
    own = dict(x.__dict__) if hasattr(x, "__dict__") else {}
    slots = {name: getattr(x, name) for name in slots_of(cls) if hasattr(x, name)}
    return (own or None, slots) if slots else own or None


def slots_of(cls: type) -> tuple[str, ...]:
    """Return the names of all slots of a class, as its instances know them."""
    names = []
    for base in cls.__mro__:
        slots = base.__dict__.get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            if name in ("__dict__", "__weakref__"):
                continue
            hidden = name.startswith("__") and not name.endswith("__") and base.__name__.strip("_")
            names.append(f"_{base.__name__.lstrip('_')}{name}" if hidden else name)
    return tuple(names)


def _filled(x: Any, made: Any, memo: Memo | None, state: Any, items: Any, entries: Any) -> Any:
    if memo is not None:
        memo.note(x, made)
    if state is not None:
        if memo is not None:
            state = _deep(state, memo)
        _restore(made, state)
    if items is not None:
        for item in items:
            made.append(item if memo is None else _deep(item, memo))
    if entries is not None:
        for key, value in entries:
            if memo is not None:
                key, value = _deep(key, memo), _deep(value, memo)
            made[key] = value
    return made


def _restore(made: Any, state: Any) -> None:
    if type(made) is collections.OrderedDict:
        for name, value in state.items():
            setattr(made, name, value)
        return
    if hasattr(made, "__setstate__"):
        made.__setstate__(state)
        return
    own, slots = state if isinstance(state, tuple) and len(state) == 2 else (state, None)
    if own is not None:
        made.__dict__.update(own)
    if slots is not None:
        for name, value in slots.items():
            setattr(made, name, value)
