"""Hold objects that a guard compares with, so that the guard does not keep the user's program in memory."""

from __future__ import annotations

import sys
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import FunctionType, ModuleType
from typing import Any

from tracer_core.guards.describe import module_name
from tracer_core.sources import ById, ConstantSource, FoundById, GlobalSource, Source

CPYTHON_HEAP_TYPE = 1 << 9


def lives_forever(value: Any) -> bool:
    """Return whether `value` stays alive without us: a static type, a loaded module, or a global of an imported
    module other than `__main__` under its own name."""
    cls = type(value)
    if issubclass(cls, ModuleType):
        return sys.modules.get(str(module_name(value))) is value
    if issubclass(cls, type) and not value.__flags__ & CPYTHON_HEAP_TYPE:
        return True
    if cls.__flags__ & CPYTHON_HEAP_TYPE and not issubclass(cls, type):
        return False  # an object whose attributes may run code of the program
    module, name = getattr(value, "__module__", None), getattr(value, "__name__", None)
    if type(module) is not str or type(name) is not str or module == "__main__":
        return False
    return getattr(sys.modules.get(module), "__dict__", {}).get(name) is value


class Held:
    """One object, held weakly unless it lives forever or cannot be referenced weakly. Equal by identity."""

    __slots__ = ("__weakref__", "_hash", "label", "ref", "value")

    def __init__(self, value: Any, label: str) -> None:
        self.label = label
        self._hash = id(value)
        self.ref: weakref.ref[Any] | None = None
        self.value: Any = value
        if not lives_forever(value):
            try:
                self.ref = weakref.ref(value)
            except TypeError:
                return
            self.value = None

    def get(self) -> Any:
        """Return the object, or None if it has died."""
        return self.value if self.ref is None else self.ref()

    def is_(self, value: Any) -> bool:
        """Return whether `value` is the object. False once it has died."""
        return value is self.value if self.ref is None else value is not None and value is self.ref()

    def condition(self, value: str, const: Callable[[Any], str]) -> str:
        """Return `is_` as an expression."""
        if self.ref is None:
            return f"{value} is {const(self.value)}"
        return f"{value} is {const(self.ref)}() is not None"

    @property
    def mortals(self) -> Sequence[weakref.ref[Any]]:
        return () if self.ref is None else (self.ref,)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Held):
            return NotImplemented
        return other is self or (self.get() is not None and other.get() is self.get())

    def __hash__(self) -> int:
        return self._hash

    def __repr__(self) -> str:
        return self.label


def hold_weakly(source: Source) -> weakref.ref[Any] | None:
    """Hold the root of `source` weakly, if it is a class or function of the program's, or the globals of one. Return
    the reference that the source depends on."""
    root = source.root
    if isinstance(root, GlobalSource) and root.module is not None and type(root.module) is ById:
        held = HeldGlobals(root.module.value)
        if held.forever is None:
            object.__setattr__(root, "module", FoundById(root.module.value, held.get))
    if not isinstance(root, ConstantSource):
        return None
    if type(root.value) is ById and isinstance(root.value.value, type | FunctionType):
        held_object = Held(root.value.value, root.label)
        if held_object.ref is not None:
            object.__setattr__(root, "value", FoundById(root.value.value, held_object.ref))
    find = root.value.find if isinstance(root.value, FoundById) else None
    return find if isinstance(find, weakref.ref) else None


def _functions_in(names: Mapping[str, Any]) -> Iterator[FunctionType]:
    """Return the functions in a namespace, and in its classes."""
    for value in list(names.values()):
        if type(value) is FunctionType:
            yield value
        elif issubclass(type(value), type):
            yield from (each for each in list(vars(value).values()) if type(each) is FunctionType)


class HeldGlobals:
    """The globals of a function. Those of a loaded module live anyway; others, passed to `exec`, are held through the
    functions that live in them, which may be the very one that is guarded: holding the dict would keep all of them
    alive. (A dict cannot be referenced weakly.)"""

    __slots__ = ("_functions", "_globals")

    def __init__(self, globals_: Mapping[str, Any]) -> None:
        module = sys.modules.get(str(globals_.get("__name__", "")))
        loaded = module is not None and module.__dict__ is globals_
        inside = () if loaded else _functions_in(globals_)
        self._functions = tuple(weakref.ref(each) for each in inside if each.__globals__ is globals_)
        self._globals = None if self._functions else globals_

    @property
    def forever(self) -> Mapping[str, Any] | None:
        """Return the dict, if it is held directly."""
        return self._globals

    def get(self) -> Mapping[str, Any]:
        """Return the dict; raise ReferenceError if none of the functions is left."""
        if self._globals is not None:
            return self._globals
        for reference in self._functions:
            function = reference()
            if function is not None:
                return function.__globals__
        raise ReferenceError("the globals that were guarded are gone")
