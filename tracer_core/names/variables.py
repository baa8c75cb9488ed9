"""Write the names of variables as the program writes them."""

from __future__ import annotations

import re

_VARIABLE = re.compile(r"\b[LG](?:\(([\w.]+)\))?\['(\w+)'\]")


def as_written(source: str) -> str:
    """Return the name of a source as the program writes it: `self.steps` for `L['self'].steps`."""
    return _VARIABLE.sub(lambda found: ".".join(filter(None, found.groups())), source)
