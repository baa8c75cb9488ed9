"""Tell the user's own files from those of installed packages and of Python. Needs no torch."""

from __future__ import annotations

import functools
import importlib.util
import os
from enum import IntEnum

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
