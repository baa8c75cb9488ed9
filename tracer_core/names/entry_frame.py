"""Tell the frame that a user's call of a compiled object starts from all other frames."""

from __future__ import annotations

import sys
from types import FrameType

from tracer_core.names.code import is_module_call

_OURS = ("tracer_core.frame_eval.hook", "tracer_core.frame_eval.convert", "tracer_core.observer")


def is_entry_frame(caller: str) -> bool:
    """Return whether the starting frame is the one that a person compiled, and not a callee, nor a frame that the
    collector or a library's bookkeeping runs. `caller` is the calling module."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and (_module(frame) in (caller, *_OURS) or is_module_call(frame.f_code)):
        frame = frame.f_back
    return frame is not None and _module(frame) == "tracer_core.frame_eval.api" and frame.f_code.co_name == "switched"


def _module(frame: FrameType) -> object:
    return frame.f_globals.get("__name__")
