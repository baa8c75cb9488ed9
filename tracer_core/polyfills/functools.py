"""`functools` in Python, where its own Python needs C objects (locks, weak dicts) or where it is in C."""

from __future__ import annotations

import dataclasses
import functools
import reprlib
from collections.abc import Callable, Iterable
from typing import Any

from tracer_core import rules
from tracer_core.polyfills.registry import TRANSPARENT, inner_code, polyfills

_ABSENT = object()


@polyfills(functools.reduce)
def reduce(function: Callable[[Any, Any], Any], iterable: Iterable[Any], initial: Any = _ABSENT, /) -> Any:
    if not hasattr(type(iterable), "__iter__") and not hasattr(type(iterable), "__getitem__"):
        raise TypeError("reduce() arg 2 must support iteration")
    iterator = iter(iterable)
    total = next(iterator, _ABSENT) if initial is _ABSENT else initial
    if total is _ABSENT:
        raise TypeError("reduce() of empty iterable with no initial value")
    for item in iterator:
        total = function(total, item)
    return total


@polyfills(functools.update_wrapper)
def update_wrapper(
    wrapper: Any,
    wrapped: Any,
    assigned: Iterable[str] = functools.WRAPPER_ASSIGNMENTS,
    updated: Iterable[str] = functools.WRAPPER_UPDATES,
) -> Any:
    for name in assigned:
        value = getattr(wrapped, name, _ABSENT)
        if value is not _ABSENT:
            setattr(wrapper, name, value)
    for name in updated:
        for key, value in getattr(wrapped, name, {}).items():
            setattr(wrapper, key, value)
    wrapper.__wrapped__ = wrapped
    return wrapper


@polyfills(functools.cached_property.__get__)
def cached_property_get(self: Any, instance: Any, owner: Any = None) -> Any:
    if instance is None:
        return self
    if self.attrname is None:
        raise TypeError("Cannot use cached_property instance without calling __set_name__ on it.")
    kind, name = type(instance).__name__, self.attrname
    try:
        held = instance.__dict__
    except AttributeError:
        raise TypeError(f"No '__dict__' attribute on {kind!r} instance to cache {name!r} property.") from None
    value = held.get(name, _ABSENT)
    if value is _ABSENT:
        value = self.func(instance)
        try:
            held[name] = value
        except TypeError:
            refused = f"The '__dict__' attribute on {kind!r} instance does not support item assignment"
            raise TypeError(f"{refused} for caching {name!r} property.") from None
    return value


# The result of a `singledispatch` function's dispatcher depends on the class alone; it only has a cache besides.
rules.fold_code(inner_code(functools.singledispatch, "dispatch"))

# They remember by address and thread which objects are being shown.
TRANSPARENT[inner_code(dataclasses._recursive_repr, "wrapper")] = "user_function"  # type: ignore[attr-defined]
TRANSPARENT[inner_code(reprlib.recursive_repr, "decorating_function", "wrapper")] = "user_function"
