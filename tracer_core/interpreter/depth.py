"""Limit nested calls: in the traced program, by Python's own limit, and in the interpreter that traces them."""

from __future__ import annotations

import sys
import threading

from tracer_core.host.process_state import restore_attributes_after_tracing

MAX_DEPTH = 200
"""The greatest number of calls inlined into one another."""

# An inlined call takes about ten of the interpreter's own Python frames.
_FRAMES_PER_CALL = 16
# Frames that the last call of the program needs besides its own: calls of functions in C count, too.
_SPARE = 8


class _Program(threading.local):
    levels = MAX_DEPTH


_program = _Program()


restore_attributes_after_tracing(_program, "levels")


def make_room_to_recurse() -> None:
    """Raise Python's recursion limit until tracing ends, by the number of frames that the deepest inlining needs."""
    limit = sys.getrecursionlimit()
    _program.levels = limit - _frames_now() - _SPARE
    sys.setrecursionlimit(limit + MAX_DEPTH * _FRAMES_PER_CALL)


def levels_left() -> int:
    """Return how many calls the traced program may nest before it comes near Python's limit. (There the graph breaks,
    and plain Python raises or not.)"""
    return max(1, _program.levels)


def _frames_now() -> int:
    count, frame = 0, sys._getframe()
    while frame.f_back is not None:
        count, frame = count + 1, frame.f_back
    return count
