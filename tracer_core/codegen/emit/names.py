"""Names of the variables that generated code adds to a frame."""

from __future__ import annotations

import re

OUTPUTS = "___outputs"
"""The result of the graph."""
STREAMS = "___streams"
"""The state of generators, and of inputs that the graph mutates, before the first draw."""
FIRST_ARGUMENT = "___first"
"""The parameter for a first argument that the code itself keeps in a cell."""

_TEMPORARY = re.compile(r"___[0-9]+")


def temporary(number: int) -> str:
    """Return the name for a value that is used more than once."""
    return f"___{number}"


def is_temporary(name: str) -> bool:
    return _TEMPORARY.fullmatch(name) is not None


def stack_parameter(depth: int) -> str:
    """Return the name of the parameter of a resume function for the stack item at this depth."""
    return f"___stack{depth}"


def passed(depth: int) -> str:
    """Return the name for the stack item at this depth, on its way to a resume function."""
    return f"___pass{depth}"


def manager_of(depth: int) -> str:
    """Return the name for the manager (or the code that creates it) of the block whose exit lies on top of `depth`
    items."""
    return f"___with{depth}"


READABLE = {OUTPUTS: "outputs", "___pass": "kept_", "___stack": "stack_", "___with": "block_", "___": "value_"}
"""Prefixes of these names, and what people read instead."""


def is_ours(name: str) -> bool:
    """Return whether generated code has added the variable."""
    return name.startswith("___")


def is_passed(name: str) -> bool:
    return name.startswith("___pass")
