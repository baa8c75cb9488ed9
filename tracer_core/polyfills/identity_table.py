"""A table of objects by identity. A trace handles each of its functions as one step."""

from __future__ import annotations

from typing import Any


class IdentityTable:
    """A table that keeps its keys alive, so that their addresses stay unique."""

    def __init__(self) -> None:
        self.entries: dict[int, tuple[Any, Any]] = {}


def new_table() -> IdentityTable:
    return IdentityTable()


def found_in(table: IdentityTable, obj: Any) -> tuple[Any, ...]:
    """Return the entry for `obj` in a tuple of one, or an empty tuple."""
    entry = table.entries.get(id(obj))
    return () if entry is None else entry[1:]


def note_in(table: IdentityTable, obj: Any, what: Any) -> None:
    table.entries[id(obj)] = obj, what
