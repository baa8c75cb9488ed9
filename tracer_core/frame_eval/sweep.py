"""Free the entries that the C side keeps for dropped versions.

An entry of the C side's list can be emptied at any time, but it stays in the list; only all entries of a code can be
taken away at once. And the guards of an entry may be what a thread checks, or is about to check, just when the object
dies that they are about. So both are deferred until no thread is inside compiled code.
"""

from __future__ import annotations

import weakref
from types import CodeType

from tracer_core.frame_eval import c_frame, threads

_DEAD_ENTRIES = 64
"""The number of dead entries of one code that are left in its list."""

_buried: list[c_frame.GuardManager] = []
_passing: list[c_frame.GuardManager] = []
_dead: dict[int, tuple[weakref.ref[CodeType], int]] = {}
due: list[None] = []
"""Not empty when `sweep` has something to do."""


def drop(manager: c_frame.GuardManager) -> None:
    """Empty the C side's entry behind `manager`, whose guards may be running."""
    if threads.any_inside():
        _buried.append(manager)
        due[:] = [None]
    _count(manager)
    manager.drop()


def drop_later(manager: c_frame.GuardManager) -> None:
    """Drop an entry that is about to run once, after it has started."""
    _passing.append(manager)
    due[:] = [None]


def _count(manager: c_frame.GuardManager) -> None:
    code = None if manager.code is None else manager.code()
    if code is None:
        return
    key = id(code)
    reference, count = _dead.get(key) or (weakref.ref(code, lambda _: _dead.pop(key, None)), 0)
    _dead[key] = (reference, count + 1)
    if count + 1 >= _DEAD_ENTRIES:
        due[:] = [None]


def sweep() -> None:
    """Free the dropped entries, unless a thread is inside compiled code."""
    if threads.any_inside():
        return
    passing = _passing[:]
    del _passing[: len(passing)]
    _buried.clear()
    due.clear()
    for manager in passing:
        drop(manager)
    for key, (reference, count) in list(_dead.items()):
        code = reference()
        if code is not None and count >= _DEAD_ENTRIES and threads.is_only_one() and c_frame.only_ours(code):
            del _dead[key]
            c_frame.forget(code)
