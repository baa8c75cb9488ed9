"""The table of instruction handlers."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tracer_core.errors import Unsupported
from tracer_core.variables.base import VariableTracker

if TYPE_CHECKING:
    from tracer_core.bytecode import Instruction
    from tracer_core.interpreter.frame import Frame
    from tracer_core.interpreter.machine import Interpreter

# A handler changes the frame; one that returns a tracker ends the frame with it.
OpHandler = Callable[["Interpreter", "Frame", "Instruction"], "VariableTracker | None"]

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


def handler_of(name: str) -> OpHandler:
    """The handler of an instruction; one that breaks by name where there is none."""
    return _handlers.get(name, _unknown)


def _unknown(tx: Interpreter, frame: Frame, instruction: Instruction) -> Any:
    raise Unsupported("instruction", name=instruction.origin.opname if instruction.origin else instruction.op)
