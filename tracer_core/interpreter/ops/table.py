"""The table of instruction handlers."""

from __future__ import annotations

from collections.abc import Callable
from typing import NoReturn

from tracer_core.bytecode import Decoded, Instruction
from tracer_core.errors import Unsupported
from tracer_core.variables.core.base import VariableTracker
from tracer_core.variables.core.tracing import Tracing
from tracer_core.variables.functions.frames import Frame

# A handler changes the frame; one that returns a tracker ends the frame with it.
OpHandler = Callable[[Tracing, Frame, Instruction], VariableTracker | None]

_handlers: dict[str, OpHandler] = {}


def op(*names: str) -> Callable[[OpHandler], OpHandler]:
    """Register the handler of these canonical instructions."""

    def register(handler: OpHandler) -> OpHandler:
        for name in names:
            if name in _handlers:
                raise ValueError(f"two handlers for {name}")
            _handlers[name] = handler
        return handler

    return register


def handlers_of(code: Decoded) -> list[OpHandler]:
    """Return the handler of each instruction, looked up once for a code."""
    if not code.handlers:
        code.handlers = [_handlers.get(instruction.op, _unknown) for instruction in code.instructions]
    return code.handlers


def _unknown(tx: Tracing, frame: Frame, instruction: Instruction) -> NoReturn:
    raise Unsupported("instruction", name=instruction.origin.opname if instruction.origin else instruction.op)
