"""Provide the built front end: to the widget, to a saved notebook, and to the stand-alone page."""

from __future__ import annotations

import functools
import hashlib
from pathlib import Path

_STATIC = Path(__file__).parent / "static"
LOADER = _STATIC / "loader.js"


@functools.cache
def source(name: str) -> str:
    """Return the text of a module: `explorer`, `panes`, `loader`, `boot` or `graphviz`."""
    return (_STATIC / f"{name}.js").read_text(encoding="utf-8")


@functools.cache
def build() -> str:
    """Return the name of this build. A page may contain outputs of several, and each is shown by its own."""
    return hashlib.sha256((source("explorer") + source("panes")).encode()).hexdigest()[:12]


@functools.cache
def packed() -> str:
    """Return the front end in few characters, for `boot` to unpack. It stands between double quotes in HTML."""
    return (_STATIC / "explorer.packed").read_text(encoding="ascii")


def inline(name: str) -> str:
    """Return the text of a module for a script element; raise ValueError if it would end the element."""
    text = source(name)
    for ender in ("</script", "<!--"):
        if ender in text.lower():
            raise ValueError(f"The built {name}.js contains {ender!r} and cannot be put into a page.")
    return text
