"""Track which threads are inside compiled code, and in which region each is."""

from __future__ import annotations

import threading
import weakref

from tracer_core.frame_eval import c_frame


class _Thread:
    """How deep a thread is in compiled code, and its region."""

    __slots__ = ("__weakref__", "depth", "region")

    def __init__(self) -> None:
        self.depth = 0
        self.region = c_frame.NO_REGION


_threads: weakref.WeakSet[_Thread] = weakref.WeakSet()


class _Local(threading.local):
    def __init__(self) -> None:
        self.thread = _Thread()
        _threads.add(self.thread)


this = _Local()
"""`this.thread` is the calling thread."""


def enter(region: int) -> None:
    """Enter `region` in this thread. (The C side knows but one region, for all threads. A thread that finds itself in
    another one's only fails to find its own cached entries.)"""
    thread = this.thread
    thread.region = region
    thread.depth += 1
    c_frame.set_region(region)


def leave(before: int) -> None:
    """Return to the region `before`."""
    thread = this.thread
    thread.region = before
    thread.depth -= 1
    c_frame.set_region(before)


def current_region() -> int:
    return this.thread.region


def any_inside() -> bool:
    """Return whether some thread is inside compiled code, so that the C side may be looking up an entry for it."""
    return any(thread.depth for thread in list(_threads))


def is_only_one() -> bool:
    """Return whether no other living thread ever was inside compiled code, so that none is about to be."""
    return len(_threads) == 1
