"""Find the origin of code: Python, installed packages, this product."""

from __future__ import annotations

import collections
import importlib.util
import os
import sys
from types import CodeType, FrameType
from typing import Any

from tracer_core.names.folders import LIBRARY_FOLDERS, SITE_FOLDERS
from tracer_core.names.owners import is_ours


def folder(package: str) -> str | None:
    """Return the package's folder, with a separator at its end, or the file of a single-file module; None if it is
    not installed."""
    try:
        spec = importlib.util.find_spec(package)
    except (ImportError, ValueError):
        return None
    if spec is None:
        return None
    if not spec.submodule_search_locations:
        return None if spec.origin is None else os.path.realpath(spec.origin)
    return os.path.join(os.path.realpath(next(iter(spec.submodule_search_locations))), "")


def outer_caller() -> FrameType | None:
    """Return the innermost running frame that is not of this product: the caller of a frame that starts now."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and is_ours(frame.f_globals):
        frame = frame.f_back
    return frame


def written_in(code: CodeType, globals: dict[str, Any]) -> str:
    """Return the file of the code; for code that was created from text, as `namedtuple` and `dataclass` do, the file
    of the class that it was created for."""
    path = code.co_filename
    if path != "<string>":
        return path
    name, file = globals.get("__name__"), globals.get("__file__")
    if type(name) is str and name.startswith("namedtuple_"):
        return str(collections.__file__)
    return file if type(file) is str else path


def is_installed(code: CodeType, globals: dict[str, Any]) -> bool:
    """Return whether the code is Python's own or an installed package's."""
    path = written_in(code, globals)
    return path.startswith("<frozen ") or os.path.realpath(path).startswith((*SITE_FOLDERS, *LIBRARY_FOLDERS))
