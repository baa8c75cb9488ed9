"""Name files as users know them: a notebook's cell is `Cell In[3]`, not the file that holds it."""

from __future__ import annotations

from collections.abc import Callable

_names: list[Callable[[str], str]] = []


def name_files(name: Callable[[str], str]) -> None:
    """Show files as `name(filename)` in recordings, guards and messages."""
    _names[:] = [name]


def shown_file(filename: str) -> str:
    """Return the file's name as people know it."""
    return _names[0](filename) if _names else filename


def place(filename: str, line: int | None) -> str:
    """Return `model.py:12`; in a cell, as the notebook writes it, `Cell In[3], line 12`."""
    short = filename.replace("\\", "/").rsplit("/", 1)[-1]
    if line is None:
        return short
    return f"{short}, line {line}" if short.startswith("Cell ") else f"{short}:{line}"
