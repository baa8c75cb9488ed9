"""Recordings of traced programs: record, query, save and load them.

In: the engine's events, through `Recorder`, or a file, through `load`. Out: `Trace`, the only input of everything
that is shown. Reading needs no torch, and loading runs nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tracer_core.recording.comparison import Comparison
    from tracer_core.recording.condition_reader import ConditionError
    from tracer_core.recording.damage import TraceFileError
    from tracer_core.recording.dispatch import Dispatch, DispatchedCall
    from tracer_core.recording.dispatch_recorder import DispatchRecorder
    from tracer_core.recording.messages import Station
    from tracer_core.recording.recorder import Recorder
    from tracer_core.recording.schema import SCHEMA_VERSION
    from tracer_core.recording.steps import Step, Steps, Value
    from tracer_core.recording.story import Story
    from tracer_core.recording.trace import Trace, load, save

__all__ = [
    "SCHEMA_VERSION",
    "Comparison",
    "ConditionError",
    "Dispatch",
    "DispatchRecorder",
    "DispatchedCall",
    "Recorder",
    "Station",
    "Step",
    "Steps",
    "Story",
    "Trace",
    "TraceFileError",
    "Value",
    "load",
    "save",
]

_HOMES = {
    "Comparison": "comparison",
    "ConditionError": "condition_reader",
    "Dispatch": "dispatch",
    "DispatchRecorder": "dispatch_recorder",
    "DispatchedCall": "dispatch",
    "Recorder": "recorder",
    "SCHEMA_VERSION": "schema",
    "Station": "messages",
    "Step": "steps",
    "Steps": "steps",
    "Story": "story",
    "Trace": "trace",
    "TraceFileError": "damage",
    "Value": "steps",
    "load": "trace",
    "save": "trace",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
