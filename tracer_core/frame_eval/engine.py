"""Load the engine when a hook is first switched on, before a frame of the program starts.

Were it loaded while that frame waits, the many modules (some of torch's own compiler come along) would be run with as
little of Python's recursion limit as the program has left there, and be left half done.
"""

from __future__ import annotations

import sys
import threading
from importlib import import_module

import torch
from torch.utils._python_dispatch import _disable_current_modes

_LEVELS = 2000
_lock = threading.Lock()
_loaded: list[str] = []


def load() -> None:
    """Import all that tracing a frame needs; doing so again costs nothing."""
    if _loaded:
        return
    with _lock:
        before = sys.getrecursionlimit()
        sys.setrecursionlimit(before + _LEVELS)
        try:
            # Some modules create tensors, which the program's modes must not see.
            with torch._C.DisableTorchFunction(), _disable_current_modes():
                _import()
        finally:
            sys.setrecursionlimit(before)
        _loaded.append("engine")


def _import() -> None:
    import_module("tracer_core.codegen.compile_frame")
    # Creating symbolic shapes imports it, and that imports the rest.
    import_module("torch.fx.experimental.validator")
