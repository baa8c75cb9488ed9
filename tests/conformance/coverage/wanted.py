"""The methods and functions that some program must use: from Python's own modules, less a list with reasons."""

from __future__ import annotations

import builtins
import collections
import contextlib
import copy
import functools
import inspect
import itertools
import math
import operator
import random
import re
import types
from collections.abc import Iterator
from typing import Any

from tests.conformance.coverage.uses import Notes

TYPES: tuple[type, ...] = (
    list, tuple, dict, set, frozenset, str, bytes, int, float, complex, range, slice,
    collections.deque, collections.defaultdict, collections.OrderedDict, collections.Counter, collections.ChainMap,
)  # fmt: skip
MODULES: tuple[types.ModuleType, ...] = (
    builtins, itertools, functools, operator, math, collections, copy, contextlib, random, re,
)  # fmt: skip

#: Special methods that are part of making, reading and pickling any object.
OF_ANY_OBJECT = set(
    "__init__ __new__ __class__ __doc__ __dict__ __module__ __weakref__ __slots__ __init_subclass__ __subclasshook__ "
    "__getattribute__ __setattr__ __delattr__ __reduce__ __reduce_ex__ __getstate__ __getnewargs__ __sizeof__ "
    "__dir__ __getformat__ __copy__ __class_getitem__ __abstractmethods__".split()
)

#: Where functions say that they are from that Python itself has as builtins. `site` and IPython put in others, for
#: people at the prompt.
OWN_BUILTINS = ("builtins", "io")

#: Functions that no program uses, and why.
WITHOUT_PROGRAM = {
    "re.purge": "empties a cache of the whole process",
    **dict.fromkeys(("re.Match", "re.Pattern"), "cannot be called; programs ask whether an object is one"),
    "re.template": "undocumented; gives a warning that it will go",
}


def missing_methods(notes: Notes) -> Iterator[str]:
    for kind in TYPES:
        for name in sorted(dir(kind)):
            if name.startswith("_") and (not name.startswith("__") or name in OF_ANY_OBJECT):
                continue
            if getattr(kind, name) is None or getattr(kind, name) is getattr(object, name, None):
                continue
            if (kind, name) not in notes.methods:
                yield f"{kind.__name__}.{name}"


def functions() -> Iterator[tuple[str, Any]]:
    for module in MODULES:
        names = getattr(module, "__all__", None) or [name for name in dir(module) if not name.startswith("_")]
        for name in sorted(names):
            value = getattr(module, name)
            if module is builtins and getattr(value, "__module__", None) not in OWN_BUILTINS:
                continue
            if callable(value) and not (isinstance(value, type) and issubclass(value, BaseException)):
                yield f"{module.__name__}.{name}", value
    yield "inspect.signature", inspect.signature


def missing_functions(notes: Notes) -> Iterator[str]:
    for name, value in functions():
        if name not in WITHOUT_PROGRAM and id(value) not in notes.called | notes.made_with:
            yield name
