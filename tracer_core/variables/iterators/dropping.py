"""Values whose dropping a program can observe: a generator suspended in a `try` or `with` block runs code then.

A frame that hands such a value to a resume function hands it over in a box, a list that the resume function empties,
so that only the resume function holds it, and it is freed when the program drops it.
"""

from __future__ import annotations

import types

from tracer_core.errors import Unsupported
from tracer_core.sources import AttrSource, LocalSource, Source
from tracer_core.variables.core.base import VariableTracker
from tracer_core.variables.iterators.generators import LocalGeneratorObjectVariable

BOX = "___box"
"""The prefix of a resume function's parameters that are boxes."""


def box_of(tracker: VariableTracker) -> str | None:
    """Return the box in which the caller passed `tracker`, or the value that it is a part of, to the frame. (A value
    in a generator's frame is not a part of the generator.)"""
    path = [] if tracker.source is None else tracker.source.path()
    through_frame = any(isinstance(step, AttrSource) and step.attr == "gi_frame" for step in path)
    return None if through_frame else _box(path)


def found_through_box(tracker: VariableTracker) -> bool:
    """Return whether it can be found only until a box is emptied."""
    return tracker.source is not None and _box(tracker.source.path()) is not None


def _box(path: list[Source]) -> str | None:
    root = path[0] if path else None
    return root.local if isinstance(root, LocalSource) and root.local.startswith(BOX) else None


def refuse_to_drop(tracker: VariableTracker) -> None:
    """Break where the root frame drops a generator that is in a block, so that Python drops it.

    Raises:
        Unsupported: `tracker` is one.
    """
    if isinstance(tracker, LocalGeneratorObjectVariable):
        shows = tracker.waits_in_a_block
    else:
        shows = tracker.source is not None and tracker.python_type() is types.GeneratorType and bool(box_of(tracker))
    if shows:
        raise Unsupported("generator-dropped", name=tracker.describe())


def dropping_shows(tracker: VariableTracker) -> bool:
    """Return whether dropping it may run user code."""
    if isinstance(tracker, LocalGeneratorObjectVariable):
        return not tracker.finished and tracker.has_blocks
    return box_of(tracker) is not None
