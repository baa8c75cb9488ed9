"""Tell the user's own files and frames from those of installed packages, of Python, and of this product. Needs no
torch."""

from __future__ import annotations

import functools
import importlib.util
import os
from enum import IntEnum
from types import FrameType
from typing import Any

from tracer_core.names.folders import LIBRARY_FOLDERS, SITE_FOLDERS


class Owner(IntEnum):
    """The owner of a file: of the running lines, the innermost of the greatest owner is shown to people."""

    LANGUAGE = 0
    """Python, or torch and its dependencies."""
    PACKAGE = 1
    """An installed package, or no file at all."""
    USER = 2


_UNDER_TORCH = ("torchgen", "functorch", "numpy", "sympy")


@functools.cache
def _language() -> tuple[str, ...]:
    found = importlib.util.find_spec("torch")
    torch = (found.submodule_search_locations or ()) if found is not None else ()
    return (
        *(os.path.join(os.path.realpath(folder), "") for folder in torch),
        *(os.path.join(folder, package, "") for folder in SITE_FOLDERS for package in _UNDER_TORCH),
    )


_TYPED_IN = ("<stdin>", "<ipython-input", "<doctest ")


@functools.cache
def owner_of(filename: str) -> Owner:
    """Return the owner of the code in this file."""
    if filename.startswith("<"):
        if filename.startswith(_TYPED_IN):
            return Owner.USER
        return Owner.LANGUAGE if filename.startswith("<frozen ") else Owner.PACKAGE
    path = os.path.realpath(filename)
    if path.startswith(_language()):
        return Owner.LANGUAGE
    if path.startswith(SITE_FOLDERS):
        return Owner.PACKAGE
    return Owner.LANGUAGE if path.startswith(LIBRARY_FOLDERS) else Owner.USER


def is_ours(globals: dict[str, Any]) -> bool:
    """Return whether code with these globals belongs to this product: it is not traced, and not reported to
    observers."""
    name = globals.get("__name__")
    return type(name) is str and name.partition(".")[0] in ("tracer_core", "tracewalk")


def is_users(frame: FrameType) -> bool:
    """Return whether the frame runs the user's own code."""
    return owner_of(frame.f_code.co_filename) is Owner.USER and not is_ours(frame.f_globals)
