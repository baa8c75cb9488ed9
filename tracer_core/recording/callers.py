"""Record the calls that lead to a frame: where a graph broke further out, each function is traced on its own, and the
frames of its trace do not show them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from types import CodeType, FrameType

from tracer_core.names.owners import is_users
from tracer_core.recording import schema


def callers_of(
    code: schema.Code,
    knows: Callable[[CodeType], bool],
    record_of: Callable[[CodeType], schema.Code],
    originals: Mapping[int, schema.Code],
) -> list[schema.Place]:
    """Return the running calls that lead to the frame of `code`, which starts: those of the program, from the
    outermost recorded function inwards.

    A function's generated code calls its resume functions: these count as the function itself, not as its callees.

    Args:
        knows: whether a code is recorded already.
        record_of: returns the record of a code, which is added if need be.
        originals: by number, the codes that generated codes run for.
    """
    found, inner = [], code
    for running, line in _running(knows):
        record = record_of(running)
        record = originals.get(record.id, record)
        if inner.resumes is None or inner.resumes != (record.id if record.resumes is None else record.resumes):
            found.append(schema.Place(record.id, line))
        inner = record
    return found[::-1]


def _running(knows: Callable[[CodeType], bool]) -> list[tuple[CodeType, int]]:
    """Return the running calls of recorded functions, innermost first, and those of the program between them."""
    found: list[tuple[CodeType, int]] = []
    outermost = 0
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        known = knows(frame.f_code)
        if known or is_users(frame):
            found.append((frame.f_code, frame.f_lineno))
            outermost = len(found) if known else outermost
        frame = frame.f_back
    return found[:outermost]
