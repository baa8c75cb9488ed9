"""Raise the errors of methods in C for their arguments, found by calling the real method on an empty object."""

from __future__ import annotations

import collections
import functools
from collections.abc import Callable
from typing import Any

from tracer_core.errors import Unsupported
from tracer_core.variables.core.base import Args, Kwargs, VariableTracker
from tracer_core.variables.core.tracing import Tracing

_EMPTY: dict[type, Callable[[], Any]] = {
    **{cls: cls for cls in (str, bytes, int, float, complex, list, tuple, dict, set, frozenset, BaseException)},
    collections.OrderedDict: collections.OrderedDict,
    collections.defaultdict: collections.defaultdict,
    collections.deque: collections.deque,
    range: lambda: range(0),
    slice: lambda: slice(0),
    type(None for _ in ()): lambda: (None for _ in ()),
}


def fits(handler: Any, own: int, args: Args, kwargs: Kwargs) -> bool:
    """Return whether the handler accepts these arguments; `own` is how many parameters it has before them."""
    code = handler.__code__
    fixed = code.co_argcount - own
    required = fixed - len(handler.__defaults__ or ())
    names = set(code.co_varnames[max(own, code.co_posonlyargcount) : code.co_argcount + code.co_kwonlyargcount])
    if not required <= len(args) + len(names & set(kwargs)) or (len(args) > fixed and not code.co_flags & 0x04):
        return False
    return set(kwargs) <= names or bool(code.co_flags & 0x08)


def refuses(cls: type, name: str, kwargs: Kwargs) -> bool:
    """Return whether the method `name` of the class accepts no keyword arguments, and is given some."""
    return bool(kwargs) and _takes_no_keywords(_builtin_base(cls), name)


def raise_signature(tx: Tracing, obj: VariableTracker, name: str, args: Args, kwargs: Kwargs) -> None:
    """Raise the real method's error for this number of arguments (it checks the number before the arguments)."""
    try:
        _of_empty(_builtin_base(obj.python_type()), name)(*([None] * len(args)), **dict.fromkeys(kwargs))
    except TypeError as error:
        tx.raise_(TypeError, *error.args)
    except Exception:  # noqa: BLE001
        # an empty object may fail earlier: plain Python gives the message
        pass
    raise Unsupported("method", name=name, type=obj.python_type_name())


def _builtin_base(cls: type) -> type:
    return next((base for base in cls.__mro__ if base in _EMPTY), object)


def _of_empty(base: type, name: str) -> Any:
    """Return the method of an empty object, whose messages name it by the class that defines it."""
    return functools.partial(getattr(base, name), _EMPTY.get(base, object)())


@functools.cache
def _takes_no_keywords(base: type, name: str) -> bool:
    try:
        _of_empty(base, name)(**{"a keyword": None})
    except Exception as error:  # noqa: BLE001
        return isinstance(error, TypeError) and str(error).endswith("takes no keyword arguments")
    return False
