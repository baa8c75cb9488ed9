"""Find the program's line that is running, and warn there."""

from __future__ import annotations

import sys
import warnings
from types import FrameType

from tracer_core.names.owners import is_users


def warn(text: str, category: type[Warning]) -> None:
    """Warn at the innermost line of the program among the running calls."""
    frame = program_frame()
    if frame is None:
        warnings.warn(text, category, stacklevel=2)
    else:
        warnings.warn_explicit(text, category, frame.f_code.co_filename, frame.f_lineno)


def program_frame() -> FrameType | None:
    """Return the innermost running frame of the program's own code."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and not is_users(frame):
        frame = frame.f_back
    return frame
