"""What a trace reads from libraries and classes: names in modules and classes, and what derives from what.

Torch and Python's own library are taken as they stand while a frame is traced. All that is read of them is noted
here, and becomes a few guards at the end, so that replacing a library's function or method later is noticed. Of the
program's own classes only what a lookup did not find is noted, and the type of what it found: the value itself is
guarded where it is used.
"""

from __future__ import annotations

import abc
import contextlib
import sys
import threading
import types
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from tracer_core.as_found import put_back_attributes
from tracer_core.guards import ABSENT, Guard, OfType, make, names_of
from tracer_core.guards.describe import class_text, module_name
from tracer_core.where import Where

HEAP_TYPE, IMMUTABLE_TYPE = 1 << 9, 1 << 8
"""Flags of CPython's classes: made at run time, and refusing new attributes."""


_OF_C = (types.MethodDescriptorType, types.WrapperDescriptorType)


def is_in_c(cls: type) -> bool:
    """Return whether a class is written in C. Those made at run time look like Python's by their flags, but have
    methods in C that are theirs."""
    if not cls.__flags__ & HEAP_TYPE:
        return True
    return any(isinstance(found, _OF_C) and found.__objclass__ is cls for found in vars(cls).values())


def class_in_c(cls: type) -> Any:
    """The nearest class written in C that a class derives from, or is."""
    return next(each for each in cls.__mro__ if is_in_c(each))


def may_change(cls: type) -> bool:
    """Whether a class is the program's, or a library's that is not torch's or Python's: guarded attribute by
    attribute where it is used."""
    if not cls.__flags__ & HEAP_TYPE:
        return False
    module = vars(cls).get("__module__")  # (A metaclass may answer by code of its own.)
    package = module.partition(".")[0] if isinstance(module, str) else ""
    return package != "torch" and (package == "__main__" or package not in sys.stdlib_module_names)


def _watched(cls: type) -> bool:
    """Whether a class is a library's, and Python lets one write to it."""
    return cls.__flags__ & (HEAP_TYPE | IMMUTABLE_TYPE) == HEAP_TYPE and not may_change(cls)


class _Active(threading.local):
    reads: LibraryReads | None = None


_active = _Active()
put_back_attributes(_active, "reads")


class LibraryReads:
    """What one attempt read. `where` says which step is running; `made` are classes of the trace's own, which
    nothing outside can change."""

    def __init__(self, where: Callable[[], Where]) -> None:
        self._where = where
        self.made: set[type] = set()
        self._seen: set[tuple[int, str, type | None]] = set()
        self._asked_for_all: set[int] = set()
        self._names: dict[int, tuple[Any, dict[str, Any], Where]] = {}
        self._classes: dict[int, tuple[type, Where]] = {}
        self._derived: dict[tuple[int, int], tuple[type, type, bool, Where]] = {}
        self._walked: dict[types.FunctionType, tuple[types.CodeType, Where]] = {}

    @contextlib.contextmanager
    def noting(self) -> Iterator[None]:
        """Lookups in classes of this thread are noted here inside the block."""
        before, _active.reads = _active.reads, self
        try:
            yield
        finally:
            _active.reads = before

    def name(self, owner: Any, name: str) -> None:
        """`name` was read in a module, a class, or a module's globals (absent counts too)."""
        self._note(owner, name, names_of(owner).get(name, ABSENT))

    def _note(self, owner: Any, name: str, value: Any) -> None:
        known = self._names.get(id(owner))
        if known is None:
            known = self._names[id(owner)] = (owner, {}, self._where())
        known[1].setdefault(name, value)

    def special_methods(self, cls: type) -> None:
        """Every special method counts as looked for in a class, if it is the program's."""
        if id(cls) not in self._asked_for_all and may_change(cls):
            for name in SPECIAL_METHODS:
                self.lookup(cls, name)
        self._asked_for_all.add(id(cls))

    def lookup(self, cls: type, name: str, after: type | None = None) -> None:
        """`name` was looked for in a class and its bases, or in those alone that come `after` one of them."""
        key = (id(cls), name, after)
        if key in self._seen:
            return
        self._seen.add(key)
        if id(cls) not in self._classes and cls.__flags__ & (HEAP_TYPE | IMMUTABLE_TYPE) == HEAP_TYPE:
            self._classes[id(cls)] = (cls, self._where())
        for owner in cls.__mro__[0 if after is None else cls.__mro__.index(after) + 1 :]:
            found = owner.__dict__.get(name, ABSENT)
            if _watched(owner):
                self._note(owner, name, found)
            elif owner not in self.made and may_change(owner):
                self._note(owner, name, found if found is ABSENT else OfType.of(found))
            if found is not ABSENT:
                return

    def derives(self, cls: type, base: Any, answer: bool) -> None:
        """Whether `cls` counts as a subclass of `base` was asked; matters where others may register with it."""
        if isinstance(base, abc.ABCMeta) and not getattr(base, "_is_protocol", False):
            self._derived.setdefault((id(cls), id(base)), (cls, base, answer, self._where()))

    def walked(self, function: types.FunctionType) -> None:
        """A function's code was walked; matters where it is a library's, which nothing else guards."""
        package = (function.__module__ or "").partition(".")[0]
        if function not in self._walked and (package == "torch" or package in sys.stdlib_module_names):
            self._walked[function] = (function.__code__, self._where())

    def guards(self) -> list[Guard]:
        """What must hold for all of it to be as it was."""
        read = self._names.values()
        found = [make.names(owner, _label(owner), names).asked_at(where) for owner, names, where in read]
        bases = {id(base) for cls, _ in self._classes.values() for base in cls.__mro__[1:]}
        found += [make.bases(cls).asked_at(where) for key, (cls, where) in self._classes.items() if key not in bases]
        found += [
            make.derives(cls, base, answer).asked_at(where) for cls, base, answer, where in self._derived.values()
        ]
        if self._walked:
            codes = {function: code for function, (code, _) in self._walked.items()}
            found.append(make.library_codes(codes).asked_at(next(iter(self._walked.values()))[1]))
        return found


_TYPES = (type, complex, float, int, str, bytes, list, dict, set)
SPECIAL_METHODS = frozenset(name for cls in _TYPES for name in dir(cls) if name.startswith("__")).union(
    f"__{name}__" for name in "bytes fspath length_hint next matmul rmatmul imatmul getattr missing".split()
)
"""What Python asks the class of a value for, whatever is done with the value."""


def note_special_methods(cls: type) -> None:
    """Objects of a class are handed to Python itself, which does not say what it looks for: if the class is the
    program's, all special methods count as looked for."""
    reads = _active.reads
    if reads is not None:
        reads.special_methods(cls)


def note_lookup(cls: type, name: str, after: type | None = None) -> None:
    """As `LibraryReads.lookup`, in the attempt that runs in this thread, if one does."""
    reads = _active.reads
    if reads is not None:
        reads.lookup(cls, name, after)


def _label(owner: Any) -> str:
    if isinstance(owner, types.ModuleType):
        return str(module_name(owner))
    if isinstance(owner, type):
        plain = owner.__module__ != "pybind11_builtins"
        return f"{owner.__module__}.{owner.__qualname__}" if plain else class_text(owner)
    return f"globals of {owner.get('__name__', '?')}"


def module_of(names: Mapping[str, Any]) -> Any:
    """The loaded module with these globals, else the globals themselves."""
    module = sys.modules.get(names.get("__name__", ""))
    return module if module is not None and module.__dict__ is names else names
