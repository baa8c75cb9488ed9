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
