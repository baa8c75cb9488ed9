"""Generated code as a person reads it: a Python listing."""

from __future__ import annotations

from types import CodeType


def python_listing(code: CodeType) -> str:
    """What the code does, one statement a line, as Python text."""
    from tracer_core.bytecode import decode, listing

    return listing(decode(code))
