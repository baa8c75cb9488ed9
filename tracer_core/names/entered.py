"""How the frame that starts now was called: by a user's call of a compiled object, or from anywhere else."""

from __future__ import annotations

import sys
from types import FrameType

from tracer_core.names.code import is_module_call

_LOOKING = ("tracer_core.frame_eval.hook", "tracer_core.frame_eval.convert", "tracer_core.observer")


def is_what_was_compiled(looking: str) -> bool:
    """Return whether the frame that starts is what a person compiled, and not something that it calls, or that the
    collector or a library's bookkeeping runs. `looking` is the calling module."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and (_module(frame) in (looking, *_LOOKING) or is_module_call(frame.f_code)):
        frame = frame.f_back
    return frame is not None and _module(frame) == "tracer_core.frame_eval.api" and frame.f_code.co_name == "switched"


def _module(frame: FrameType) -> object:
    return frame.f_globals.get("__name__")
