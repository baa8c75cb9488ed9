"""Names of the variables that generated code adds to a frame."""

from __future__ import annotations

import re

OUTPUTS = "___outputs"
"""What the graph returned."""
STREAMS = "___streams"
"""How generators, and inputs that the graph changes, stood before the first draw."""
FIRST_ARGUMENT = "___first"
"""The parameter for a first argument that the code itself keeps in a cell."""

_TEMPORARY = re.compile(r"___[0-9]+")


def temporary(number: int) -> str:
    """A value that is used more than once."""
    return f"___{number}"


def is_temporary(name: str) -> bool:
    return _TEMPORARY.fullmatch(name) is not None


def stack_parameter(depth: int) -> str:
    """The parameter of a resume function for the stack item at this depth."""
    return f"___stack{depth}"


def passed(depth: int) -> str:
    """The stack item at this depth, on its way to a resume function."""
    return f"___pass{depth}"


def manager_of(depth: int) -> str:
    """What the block is entered by (or what makes that) whose exit stands on top of `depth` items."""
    return f"___with{depth}"


READABLE = {OUTPUTS: "outputs", "___pass": "kept_", "___stack": "stack_", "___with": "block_", "___": "value_"}
"""Beginnings of these names, and what people read in their place."""


def is_ours(name: str) -> bool:
    """Whether generated code has added the variable."""
    return name.startswith("___")


def is_passed(name: str) -> bool:
    return name.startswith("___pass")
