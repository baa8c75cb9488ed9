"""Arguments that a resume function gets in boxes (see `tracer_core.variables.iterators.dropping`), and when these are
emptied."""

from __future__ import annotations

from collections.abc import Iterable
from types import CodeType

import torch

from tracer_core.codegen.rebuild.needs import reachable
from tracer_core.sources import LocalSource
from tracer_core.sources.parts import instance_dict
from tracer_core.variables.core.base import VariableTracker
from tracer_core.variables.core.trace_state import TraceState
from tracer_core.variables.functions.frames import Frame
from tracer_core.variables.iterators.dropping import BOX, box_of, dropping_shows
from tracer_core.variables.iterators.generators import LocalGeneratorObjectVariable
from tracer_core.variables.iterators.iterators import IteratorVariable
from tracer_core.variables.objects.user_objects import UserDefinedObjectVariable


def boxed(tracker: VariableTracker | None) -> bool:
    """Return whether the value is, or contains, one whose dropping the program can observe."""
    return tracker is not None and any(map(dropping_shows, reachable([tracker])))


def boxed_locals(root: Frame) -> frozenset[str]:
    """Return the locals to be passed on in boxes; those that are not read any more, too, as they keep the value
    alive."""
    if not any(map(dropping_shows, reachable(root.locals.values()))):
        return frozenset()
    return frozenset(name for name, value in root.locals.items() if boxed(value))


def boxes_of(code: CodeType) -> set[str]:
    """Return the parameters of a resume function's code that are boxes."""
    return {name for name in code.co_varnames[: code.co_argcount] if name.startswith(BOX)}


def leave_boxes(trace: TraceState) -> None:
    """Leave boxed arguments in their boxes as the frame returns: they are freed with the boxes."""
    changed = trace.side_effects.changed
    for tracker in [tracker for tracker in changed if _is_box(tracker)]:
        del changed[tracker]


def _is_box(tracker: VariableTracker) -> bool:
    return isinstance(tracker.source, LocalSource) and tracker.source.local.startswith(BOX)


def delete_dropped(trace: TraceState, root: Frame, alive: Iterable[VariableTracker]) -> str | None:
    """Return the box whose content the caller passed to the frame and the trace may have dropped unnoticed; None if
    there is none. `alive` are the values that live on."""
    boxes = boxes_of(root.code)
    if not boxes:
        return None
    emptied = next((box for box in map(_emptied, trace.side_effects.changed) if box is not None), None)
    if emptied is not None:
        return emptied
    held = {box_of(tracker) for tracker in (*alive, *reachable([*root.locals.values(), *root.stack]))}
    return next((name for name in sorted(boxes - held) if not _generators_have_ended(trace, name)), None)


# Nothing of the user's runs when one of these is dropped.
_PLAIN = (torch.Tensor, int, float, str, bytes, type(None))


def _emptied(changed: VariableTracker) -> str | None:
    """Return the box in which the caller passed a container to the frame, if the trace may have dropped an item of
    the container."""
    box = None if _is_box(changed) else box_of(changed)
    if box is None or isinstance(changed, IteratorVariable):
        return None
    if isinstance(changed, UserDefinedObjectVariable):
        before = instance_dict(changed.real) or {}
        if all(isinstance(before.get(name), _PLAIN) for name in (*changed.attributes, *changed.deleted)):
            return None
    return box


def _generators_have_ended(trace: TraceState, box: str) -> bool:
    """Return whether all generators in the box that the trace has met have ended."""
    met = [
        tracker
        for tracker in trace.trackers_by_object.values()
        if isinstance(tracker, IteratorVariable) and box_of(tracker) == box
    ]
    return bool(met) and all(
        isinstance(tracker, LocalGeneratorObjectVariable) and tracker.finished for tracker in met
    )
