"""Writes of the current attempt to classes, found wherever a class is read.

Lookups read a class's `__dict__`. The trace must not change real classes, so its writes are kept in an overlay
instead, each value as a *placeholder*: an object of the kind that lookups need (a function, a
property, ...) for which the builders give the value's tracker.
"""

from __future__ import annotations

import contextlib
import gc
import sys
import types
import typing
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from tracer_core.class_origins import class_in_c
from tracer_core.errors import Unsupported
from tracer_core.host.process_state import restore_attributes_after_tracing
from tracer_core.variables.core.base import next_uid
from tracer_core.variables.core.tracing import Tracing

Overlay = dict[type, dict[str, Any]]

DELETED = object()
ABSENT = object()


@dataclass(slots=True)
class CreatedClass:
    """A class created in the trace, and the number of the root frame's instruction that created it. Its `uid` says
    which trackers were created before it."""

    cls: type
    root_step: int
    uid: int


#: The overlay of the current attempt, the tracker of each placeholder by its id, and the classes that the attempt has
#: created; all empty outside an attempt.
current: Overlay = {}
placeholders: dict[int, tuple[Any, Any]] = {}
made: dict[type, CreatedClass] = {}
#: Whether classes that attempts have created are still among the subclasses of the program's.
lingering = False

restore_attributes_after_tracing(sys.modules[__name__], "current", "placeholders", "made")


def note_created(tx: Tracing, cls: type) -> None:
    """Note that the current instruction has created the class, which exists for the trace alone."""
    if cls not in made:
        tx.trace.journal.on_roll_back(lambda: tx.trace.libraries.made.discard(cls))
        tx.trace.journal.on_roll_back(lambda: _forget(cls))
    made[cls] = CreatedClass(cls, tx.root_step, next_uid())
    tx.trace.libraries.made.add(cls)


def refuse_if_kept(tx: Tracing, cls: type, what: str) -> None:
    """Check that a class created in the trace may be changed itself.

    Raises:
        Unsupported: it may have to be put back as it was.
    """
    if tx.trace.journal.is_kept(made[cls].uid):
        raise Unsupported("set-class-attribute", what=what)


def _forget(cls: type) -> None:
    """Forget the class, which does not exist any more."""
    global lingering
    made.pop(cls, None)
    lingering |= not _leave_bases(cls)


def find_created(value: Any) -> CreatedClass | None:
    """Return the class created in the trace that `value` is, or is an instance of, or contains."""
    if isinstance(value, ALIASES):
        return find_created((value.__origin__, *value.__args__))
    if isinstance(value, (tuple, frozenset)):
        within = next(filter(None, map(find_created, value)), None)
        return within or made.get(type(value))
    return made.get(value) if isinstance(value, type) else made.get(type(value))


ALIASES: tuple[Any, ...] = (types.GenericAlias, type(typing.Sequence[int]))
"""The types of generic aliases: `list[int]`, `Holder[int]`."""


class Written:
    """The placeholder of a value that binds to nothing when it is read through an instance."""

    __slots__ = ()


@contextlib.contextmanager
def active(overlay: Overlay, stand_ins: dict[int, tuple[Any, Any]]) -> Iterator[None]:
    """Make lookups in the block see `overlay`, whose placeholders are `stand_ins`."""
    global current, placeholders, made
    before = current, placeholders, made
    current, placeholders, made = overlay, stand_ins, {}
    try:
        yield
    finally:
        for cls in reversed(list(made)):
            _forget(cls)
        current, placeholders, made = before


def collect() -> None:
    """Have Python's collector free the classes that could not leave their bases, once they are unreachable."""
    global lingering
    if lingering:
        lingering = False
        gc.collect()


def _leave_bases(cls: type) -> bool:
    """Remove a class created in the trace from `__subclasses__()` of its bases now, before Python's collector runs.
    False if Python refuses."""
    in_c = class_in_c(cls)
    for namespace in ({"__slots__": ()}, {}):
        with contextlib.suppress(TypeError):  # (Its bases cannot be changed: the layout differs.)
            type.__dict__["__bases__"].__set__(cls, (type("Gone", (in_c,), {"__module__": "builtins", **namespace}),))
            return True
    return False


def lookup(searched: Iterable[type], name: str) -> tuple[Any, type | None]:
    """Return the attribute `name` as it is stored in the first of the classes that has it, after writes of the trace,
    and that class."""
    for owner in searched:
        found = own(owner, name)
        if found is not ABSENT:
            return found, owner
    return ABSENT, None


def own(owner: type, name: str) -> Any:
    """Return the attribute that the class itself holds under `name`; `ABSENT` if none."""
    written = current.get(owner)
    if written is not None and name in written:
        found = written[name]
        return ABSENT if found is DELETED else found
    return owner.__dict__.get(name, ABSENT)
