"""Freeing what the C side keeps of versions that were dropped.

An entry of the C side's list can be emptied at any time, but it stays in the list; only all entries of a code can be
taken away at once. And the guards of an entry may be what is being checked, just when the object dies that they are
about. So both are put off until no thread looks anything up.
"""

from __future__ import annotations

import sys
import weakref
from types import CodeType, FrameType

from tracer_core.frame_eval import c_frame

_DEAD_ENTRIES = 64
"""So many dead entries of one code are left in its list."""

_buried: list[c_frame.GuardManager] = []
_passing: list[c_frame.GuardManager] = []
_dead: dict[int, tuple[weakref.ref[CodeType], int]] = {}
due: list[None] = []
"""Not empty when `sweep` has something to do."""

looking_up: list[CodeType] = []
"""The code of what runs while the C side looks something up: guards, and the hook."""


def drop(manager: c_frame.GuardManager) -> None:
    """Empty the C side's entry behind `manager`, whose guards may be running."""
    if _busy():
        _buried.append(manager)
        due[:] = [None]
    _count(manager)
    manager.drop()


def drop_later(manager: c_frame.GuardManager) -> None:
    """Drop what is about to run once, when that has begun."""
    _passing.append(manager)
    due[:] = [None]


def _count(manager: c_frame.GuardManager) -> None:
    code = None if manager.code is None else manager.code()
    if code is None:
        return
    reference, count = _dead.get(id(code), (None, 0))
    if reference is None or reference() is not code:
        reference, count = weakref.ref(code), 0
    _dead[id(code)] = (reference, count + 1)
    if count + 1 >= _DEAD_ENTRIES:
        due[:] = [None]


def sweep() -> None:
    """Free what was dropped, unless a thread is looking something up."""
    if _busy():
        return
    while _passing:
        drop(_passing.pop())
    _buried.clear()
    due.clear()
    for key, (reference, count) in list(_dead.items()):
        code = reference()
        if code is None:
            del _dead[key]
        elif count >= _DEAD_ENTRIES:
            del _dead[key]
            if c_frame.only_ours(code):
                c_frame.forget(code)


def _busy() -> bool:
    """Whether a thread is looking something up."""
    return any(map(_looks_up, sys._current_frames().values()))


def _looks_up(frame: FrameType | None) -> bool:
    while frame is not None:
        if any(frame.f_code is code for code in looking_up):
            return True
        frame = frame.f_back
    return False
