"""`operator`'s getters as classes in Python."""

from __future__ import annotations

import operator
from typing import Any

from tracer_core.polyfills.registry import polyfills


@polyfills(operator.itemgetter)
class ItemGetter:
    def __init__(self, item: Any, /, *items: Any) -> None:
        self.items = (item, *items)

    def __call__(self, obj: Any, /) -> Any:
        if len(self.items) == 1:
            return obj[self.items[0]]
        return tuple([obj[item] for item in self.items])

    def real(self) -> Any:
        return operator.itemgetter(*self.items)


@polyfills(operator.attrgetter)
class AttrGetter:
    def __init__(self, attr: str, /, *attrs: str) -> None:
        for name in (attr, *attrs):
            if not isinstance(name, str):
                raise TypeError("attribute name must be a string")
        self.attrs = (attr, *attrs)

    def __call__(self, obj: Any, /) -> Any:
        if len(self.attrs) == 1:
            return _through(obj, self.attrs[0])
        return tuple([_through(obj, name) for name in self.attrs])

    def real(self) -> Any:
        return operator.attrgetter(*self.attrs)


@polyfills(operator.abs)
def absolute(a: Any, /) -> Any:
    return abs(a)


@polyfills(operator.call)
def call(obj: Any, /, *args: Any, **kwargs: Any) -> Any:
    return obj(*args, **kwargs)


def _through(obj: Any, dotted: str) -> Any:
    for name in dotted.split("."):
        obj = getattr(obj, name)
    return obj


@polyfills(operator.methodcaller)
class MethodCaller:
    def __init__(self, name: str, /, *args: Any, **kwargs: Any) -> None:
        if not isinstance(name, str):
            raise TypeError("method name must be a string")
        self.name = name
        self.args = args
        self.kwargs = kwargs

    def __call__(self, obj: Any, /) -> Any:
        return getattr(obj, self.name)(*self.args, **self.kwargs)

    def real(self) -> Any:
        return operator.methodcaller(self.name, *self.args, **self.kwargs)


@polyfills(operator.length_hint)
def length_hint(obj: Any, default: int = 0, /) -> Any:
    if not isinstance(default, int):
        raise TypeError(f"'{type(default).__name__}' object cannot be interpreted as an integer")
    if hasattr(type(obj), "__len__"):
        return len(obj)
    hint = getattr(type(obj), "__length_hint__", None)
    if hint is None:
        return default
    found = hint(obj)
    return default if found is NotImplemented else found


def _searched(a: Any) -> Any:
    if not hasattr(type(a), "__iter__") and not hasattr(type(a), "__getitem__"):
        raise TypeError(f"argument of type {type(a).__name__!r} is not iterable")
    return a


@polyfills(operator.countOf)
def count_of(a: Any, b: Any, /) -> int:
    count = 0
    for item in _searched(a):
        if item is b or item == b:
            count += 1
    return count


@polyfills(operator.indexOf)
def index_of(a: Any, b: Any, /) -> int:
    for index, item in enumerate(_searched(a)):
        if item is b or item == b:
            return index
    raise ValueError("sequence.index(x): x not in sequence")
