"""One guard on everything that a trace read from libraries and classes: that it is unchanged.

Torch and Python's own library are taken as they stand while a frame is traced. `LibraryReads` notes what is read of
them: names in modules and classes, the bases of classes, the code of functions. Of the program's own classes it notes
what a lookup did not find, and the type of what it found: the value itself is guarded where it is used.

All of that is checked by what CPython counts anyway. It gives a dict a new version at each change, and registering
with an abstract class changes one token. Where these are the same, nothing can have changed; where one differs, what
was read is compared name by name, and if all is unchanged, the new versions count from then on.
"""

from __future__ import annotations

import abc
import contextlib
import gc
import threading
import types
import weakref
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any, NamedTuple

from torch._C._dynamo.guards import dict_version

from tracer_core.class_origins import is_of_library, may_change, takes_writes
from tracer_core.guards.describe import class_text, describe
from tracer_core.guards.guard import Const, Kind, kind
from tracer_core.guards.held import Held
from tracer_core.host.process_state import restore_attributes_after_tracing
from tracer_core.names.code import function_name

ABSENT: Any = object()
"""The value of a name that did not exist."""

_SHOWN = 4


@dataclass(frozen=True, slots=True)
class OfType:
    """Equal to any object of exactly this type."""

    cls: Held


class LibraryReads:
    """Reads of one attempt. `made` are classes created in the trace, which nothing outside can change. To roll back
    to a mark, `tables` are cut to the lengths they had."""

    def __init__(self) -> None:
        self.made: set[type] = set()
        self._lookups: dict[tuple[int, str, type | None], None] = {}
        self._names: dict[tuple[int, str], tuple[Any, Any]] = {}
        self._classes: dict[int, type] = {}
        self._codes: dict[types.FunctionType, types.CodeType] = {}
        self._derived: dict[tuple[int, int], tuple[type, type, bool]] = {}

    @property
    def tables(self) -> tuple[dict[Any, Any], ...]:
        return self._lookups, self._names, self._classes, self._codes, self._derived

    @contextlib.contextmanager
    def noting(self) -> Iterator[None]:
        """Note lookups in classes by this thread in the block."""
        before, _active.reads = _active.reads, self
        try:
            yield
        finally:
            _active.reads = before

    def name(self, globals_: dict[str, Any], name: str) -> None:
        """Note a read of `name` in the globals of a module (an absent one counts too)."""
        self._note(globals_, name, globals_.get(name, ABSENT))

    def _note(self, owner: Any, name: str, value: Any) -> None:
        self._names.setdefault((id(owner), name), (owner, value))

    def special_methods(self, cls: type) -> None:
        """Note every special method as looked up in a class, if the class is the program's."""
        if (id(cls), "", None) not in self._lookups and may_change(cls):
            for name in SPECIAL_METHODS:
                self.lookup(cls, name)
        self._lookups[id(cls), "", None] = None

    def lookup(self, cls: type, name: str, after: type | None = None) -> None:
        """Note a lookup of `name` in a class and its bases, or only in those that come `after` one of them."""
        key = (id(cls), name, after)
        if key in self._lookups:
            return
        self._lookups[key] = None
        if takes_writes(cls):
            self._classes[id(cls)] = cls
        for owner in cls.__mro__[0 if after is None else cls.__mro__.index(after) + 1 :]:
            found = owner.__dict__.get(name, ABSENT)
            if may_change(owner):
                if owner not in self.made:
                    kept = found if found is ABSENT else OfType(Held(type(found), class_text(type(found))))
                    self._note(owner, name, kept)
            elif takes_writes(owner):
                self._note(owner, name, found)
            if found is not ABSENT:
                return

    def derives(self, cls: type, base: Any, answer: bool) -> None:
        """Note a call of `issubclass(cls, base)`, which matters if other code may register classes with `base`."""
        if isinstance(base, abc.ABCMeta) and not getattr(base, "_is_protocol", False):
            self._derived[id(cls), id(base)] = (cls, base, answer)

    def inlined(self, function: types.FunctionType) -> None:
        """Note that a function's code was traced, which matters if it is a library's, which nothing else guards."""
        if is_of_library(function.__module__):
            self._codes.setdefault(function, function.__code__)

    def as_read(self) -> Libraries:
        """Return everything noted, to be compared with the values in later calls."""
        names: dict[int, tuple[Any, dict[str, Any]]] = {}
        for (owner_id, name), (owner, value) in self._names.items():
            names.setdefault(owner_id, (owner, {}))[1][name] = value
        bases = {id(base) for cls in self._classes.values() for base in cls.__mro__[1:]}
        classes = [cls for key, cls in self._classes.items() if key not in bases]
        return Libraries(list(names.values()), classes, self._codes, list(self._derived.values()))


class _Active(threading.local):
    reads: LibraryReads | None = None


_active = _Active()
restore_attributes_after_tracing(_active, "reads")

_TYPES = (type, complex, float, int, str, bytes, list, dict, set)
SPECIAL_METHODS = frozenset(name for cls in _TYPES for name in dir(cls) if name.startswith("__")).union(
    f"__{name}__" for name in "bytes fspath length_hint next matmul rmatmul imatmul getattr missing".split()
)
"""Attributes that Python looks up in the class of any value that is used."""


def note_special_methods(cls: type) -> None:
    """Note all special methods of a class of the program's whose objects are passed to Python itself, which does not
    say which ones it looks up."""
    if _active.reads is not None:
        _active.reads.special_methods(cls)


def note_lookup(cls: type, name: str, after: type | None = None) -> None:
    """Call `LibraryReads.lookup` of the attempt that runs in this thread, if there is one."""
    if _active.reads is not None:
        _active.reads.lookup(cls, name, after)


class Change(NamedTuple):
    """A difference from the time of the trace, described in words."""

    what: str
    was: str
    now: str


class Libraries:
    """The values that were read from libraries and classes, held so that the program's are not kept alive.

    Args:
        names: owners (classes, and globals of modules) with what they had under names: objects, `ABSENT` or `OfType`.
        classes: classes that search the same bases as now.
        codes: functions, and the code that they had.
        derived: classes, abstract classes, and whether the ones count as subclasses of the others.
    """

    def __init__(
        self,
        names: Sequence[tuple[Any, dict[str, Any]]],
        classes: Sequence[type],
        codes: Mapping[types.FunctionType, types.CodeType],
        derived: Sequence[tuple[type, type, bool]],
    ) -> None:
        self._names = [(Held(owner, _label(owner)), names) for owner, names in names]
        self._bases = [(_held(cls), tuple(map(_held, cls.__mro__))) for cls in classes]
        self._codes = dict(codes)
        self._derived = [(_held(cls), _held(base), answer) for cls, base, answer in derived]
        # Objects that live forever are checked by functions in C.
        self._dicts = [_dict_of(owner.value) for owner, _ in self._names if owner.ref is None]
        self._classes = [cls.value for cls, mro in self._bases if not any(each.ref for each in mro)]
        self._mortal_owners = [owner.ref for owner, _ in self._names if owner.ref is not None]
        self._mortal_classes = [cls.get for cls, mro in self._bases if any(each.ref for each in mro)]
        self._versions: list[Any] = []

    def unchanged(self) -> bool:
        """Return whether all values are as they were."""
        now = [
            *map(dict_version, self._dicts),
            *map(_mro_of, self._classes),
            *map(_code_of, self._codes),
            abc.get_cache_token(),
        ]
        if self._mortal_owners:
            now += [dict_version(_dict_of(owner())) for owner in self._mortal_owners]
        if self._mortal_classes:
            now += [[*map(id, _mro_of(cls()))] for cls in self._mortal_classes]
        if now != self._versions:
            if self.change() is not None:
                return False
            self._versions = now
        return True

    def change(self) -> Change | None:
        """Return the first value that has changed."""
        return next(self._changes(), None)

    def _changes(self) -> Iterator[Change]:
        for owner, names in self._names:
            found = _dict_of(owner.get())
            for name, was in names.items():
                now = found.get(name, ABSENT)
                if not (was.cls.is_(type(now)) if isinstance(was, OfType) else now is was):
                    yield Change(f"{owner.label}.{name}", _text(was), _text(now))
        for held, mro in self._bases:
            bases = held.get().__mro__
            if len(bases) != len(mro) or not all(map(Held.is_, mro, bases)):
                was = ", ".join(each.label for each in mro)
                yield Change(f"{held.label}.__mro__", was, ", ".join(map(class_text, bases)))
        for function, code in self._codes.items():
            if function.__code__ != code:
                what = f"{function.__module__}.{function_name(function)}.__code__"
                yield Change(what, describe(code), describe(function.__code__))
        for cls, base, answer in self._derived:
            if issubclass(cls.get(), base.get()) is not answer:
                yield Change(f"issubclass({cls.label}, {base.label})", str(answer), str(not answer))

    @property
    def labels(self) -> list[str]:
        """Return names of the objects that are checked."""
        own = [owner.label for owner, _ in self._names] or [cls.label for cls, _ in self._bases]
        own += [base.label for _, base, _ in self._derived]
        return own or [f"{function.__module__}.{function_name(function)}" for function in self._codes]

    @property
    def mortals(self) -> list[weakref.ref[Any]]:
        held = [owner for owner, _ in self._names]
        held += [was.cls for _, names in self._names for was in names.values() if isinstance(was, OfType)]
        held += [each for _, mro in self._bases for each in mro]
        held += [each for cls, base, _ in self._derived for each in (cls, base)]
        return [each.ref for each in held if each.ref is not None]


_code_of: Callable[[types.FunctionType], types.CodeType] = attrgetter("__code__")
_mro_of: Callable[[type], tuple[type, ...]] = attrgetter("__mro__")


def _dict_of(owner: Any) -> Any:
    """Return the dict itself (a class shows only a view of its own)."""
    return gc.get_referents(owner.__dict__)[0] if isinstance(owner, type) else owner


def _held(cls: type) -> Held:
    return Held(cls, class_text(cls))


def _label(owner: Any) -> str:
    if isinstance(owner, type):
        plain = owner.__module__ != "pybind11_builtins"
        return f"{owner.__module__}.{owner.__qualname__}" if plain else class_text(owner)
    return str(owner.get("__name__", "?"))


def _text(value: Any) -> str:
    if value is ABSENT:
        return "not there"
    return f"an object of type {value.cls.label}" if isinstance(value, OfType) else describe(value)


@kind("LIBRARIES", rank=95)
class UnpatchedLibraries(Kind):
    """The libraries and classes that were read are unchanged: `expected` is a `Libraries`, and so is the value."""

    verbs = ("was", "")

    def key(self, expected: Libraries) -> Hashable:
        return id(expected)

    def holds(self, value: Libraries, expected: Libraries) -> bool:
        return expected.unchanged()

    def condition(self, value: str, expected: Libraries, const: Const) -> str:
        return f"{const(expected.unchanged)}()"

    def text(self, name: str, expected: Libraries) -> str:
        labels = expected.labels
        more = len(labels) - _SHOWN
        shown = f"{', '.join(labels[:_SHOWN])}{f' and {more} more' if more > 0 else ''}"
        return f"everything read from {shown} is unchanged"

    def expected_text(self, expected: Libraries) -> str:
        return "unchanged"

    def expected_against(self, expected: Libraries, value: Libraries) -> str:
        change = expected.change()
        return "unchanged" if change is None else change.was

    def seen_text(self, value: Libraries, expected: Libraries) -> str:
        change = expected.change()
        return "unchanged" if change is None else f"{change.what} is {change.now}"

    def now(self, seen: str) -> str:
        return seen

    def difference(self, name: str, was: str, now: str) -> str:
        return f"{now} now and was {was} at compile time"

    def advice(self, name: str, expected: Libraries, value: Libraries) -> str:
        return "make that change before the first call"

    def mortals(self, expected: Libraries) -> Sequence[weakref.ref[Any]]:
        return expected.mortals
