"""`Journal`: the state of trackers and frames before they were changed, to roll back to a mark.

Whoever changes a field of a tracker that exists already calls `save` first (`SideEffects.changes` does). While no
mark is open that does nothing. Else the fields are saved, once for each mark. What was created since the mark is not:
nothing that is left after the way back leads there.
"""

from __future__ import annotations

import functools
import random
from collections.abc import Callable, Iterator
from typing import Any

from tracer_core.variables.core.base import VariableTracker, constant_or, next_uid

_UNSET = object()


class JournalMark:
    """The changes saved since the mark. Trackers with uids from `born` on were created since."""

    __slots__ = ("born", "saved", "undo")

    def __init__(self) -> None:
        self.born = next_uid()
        self.saved: dict[int, tuple[Any, dict[str, Any]]] = {}
        self.undo: list[Callable[[], object]] = []

    def is_new(self, holder: object) -> bool:
        return isinstance(holder, VariableTracker) and holder.uid >= self.born


class Journal:
    """A journal of changes. `on_restored` is called with each tracker that a roll-back has changed."""

    def __init__(self, on_restored: Callable[[VariableTracker], None]) -> None:
        self._on_restored = on_restored
        # The open marks, the innermost last.
        self._open: list[JournalMark] = []

    def save(self, holder: Any) -> None:
        """Save the state of `holder` before a change: a tracker, or another object with only slots."""
        if self._open:
            mark = self._open[-1]
            if id(holder) not in mark.saved and not mark.is_new(holder):
                mark.saved[id(holder)] = holder, _fields(holder)

    def on_roll_back(self, undo: Callable[[], object]) -> None:
        """Call `undo` if the trace rolls back to before this moment, the latest first."""
        if self._open:
            self._open[-1].undo.append(undo)

    def is_kept(self, uid: int) -> bool:
        """Return whether the object with this uid existed at an open mark, so that a roll-back must restore it."""
        return bool(self._open) and uid < self._open[-1].born

    def changed_since(self, mark: JournalMark) -> Iterator[tuple[Any, dict[str, Any]]]:
        """Yield objects that existed at the innermost mark and have changed since, with the old values of the fields
        that differ."""
        assert self._open[-1] is mark
        for holder, before in mark.saved.values():
            now = _fields(holder)
            differing = {name: value for name, value in before.items() if not _same(value, now[name])}
            if differing:
                yield holder, differing

    def mark(self) -> JournalMark:
        mark = JournalMark()
        self._open.append(mark)
        return mark

    def roll_back(self, mark: JournalMark) -> None:
        """Undo all changes since the mark, and close the mark with those inside it."""
        while self._close(mark) is not mark:
            pass

    def _close(self, until: JournalMark) -> JournalMark:
        assert until in self._open, "the mark is closed already"
        mark = self._open.pop()
        for undo in reversed(mark.undo):
            undo()
        for holder, fields in mark.saved.values():
            for name, value in fields.items():
                if value is not _UNSET:
                    setattr(holder, name, value)
                elif hasattr(holder, name):
                    delattr(holder, name)
            if isinstance(holder, VariableTracker):
                self._on_restored(holder)
        return mark

    def keep(self, mark: JournalMark) -> None:
        """Close the innermost mark. The trace can still roll back to a mark around it."""
        assert self._open[-1] is mark, "a mark inside is still open"
        del self._open[-1]
        if self._open:
            outer = self._open[-1]
            outer.undo += mark.undo
            for key, (holder, fields) in mark.saved.items():
                if not outer.is_new(holder):
                    outer.saved.setdefault(key, (holder, fields))


def _fields(holder: Any) -> dict[str, Any]:
    cls: type = type(holder)
    return {name: _copied(getattr(holder, name, _UNSET)) for name in _names(cls)}


@functools.cache
def _names(cls: type) -> tuple[str, ...]:
    """Return the slots of a class and its bases whose values the trace may change."""
    held = [vars(base).get("__slots__", ()) for base in cls.__mro__]
    return tuple(name for slots in held for name in slots if name not in _FIXED)


_FIXED = frozenset({"__weakref__", "uid", "globals"})


def _copied(value: Any) -> Any:
    """Return the value of a field, frozen: tables and other values that are changed in place are copied."""
    copy = _COPIES.get(type(value))
    return value if copy is None else copy(value)


def _same_stream(stream: random.Random) -> random.Random:
    made = random.Random()
    made.setstate(stream.getstate())
    return made


_COPIES: dict[type, Callable[[Any], Any]] = {
    list: list,
    dict: dict,
    random.Random: _same_stream,
}
"""Types that are copied. (A set with its items in Python's own order is not among them: a copy may order them
otherwise.)"""


def _same(before: Any, now: Any) -> bool:
    """Return whether a field holds what it held: the same trackers, or equal plain values."""
    if before is now:
        return True
    if type(before) is not type(now):
        return False
    if isinstance(before, (list, tuple)):
        return len(before) == len(now) and all(map(_same, before, now))
    if isinstance(before, dict):
        return list(before) == list(now) and all(_same(before[key], now[key]) for key in before)
    if isinstance(before, VariableTracker):
        a, b = constant_or(before, _UNSET), constant_or(now, _UNSET)
        return a is not _UNSET and type(a) is type(b) and bool(a == b)
    return isinstance(before, _PLAIN) and bool(before == now)


_PLAIN = (bool, int, float, str, bytes, frozenset)
