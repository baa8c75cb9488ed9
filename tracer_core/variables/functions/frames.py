"""`Frame`: the state of one activation of a code in the trace. The interpreter runs it; a generator keeps it."""

from __future__ import annotations

import itertools
from types import CodeType
from typing import Any

from tracer_core.bytecode import Instruction, Program, decoded
from tracer_core.graph.subgraph import Calls
from tracer_core.variables.core.base import VariableTracker
from tracer_core.variables.exceptions.exceptions import ExceptionVariable
from tracer_core.variables.functions.cells import CellVariable

_uids = itertools.count()


class Frame:
    """The state of one activation. `pc` is the position of the next instruction."""

    __slots__ = (
        "callers", "caught", "cells", "code", "decoded", "depth", "globals", "is_ours", "locals", "namespace",
        "parent", "pc", "stack", "suspended", "uid",
    )  # fmt: skip

    def __init__(
        self,
        code: CodeType,
        globals: dict[str, Any],
        locals: dict[str, VariableTracker],
        cells: dict[str, CellVariable],
        parent: Frame | None,
    ) -> None:
        self.uid = next(_uids)
        self.code = code
        self.decoded = decoded(code)
        self.globals = globals
        # Whether the code is the engine's own, which people are not shown.
        self.is_ours = str(globals.get("__name__")).startswith("tracer_core.")
        self.locals = locals
        self.cells = cells
        self.called_by(parent)
        self.stack: list[VariableTracker] = []
        self.pc = 0
        # The names that a class body has bound so far; None in any other frame.
        self.namespace: dict[str, VariableTracker] | None = None
        # Exceptions being handled in this frame, the innermost last.
        self.caught: list[ExceptionVariable] = []
        # A generator's frame that waits at a `yield`.
        self.suspended = False

    def called_by(self, parent: Frame | None) -> None:
        """Set the caller: `parent`, for which the frame runs next. A generator has another one each time it is
        resumed.

        `callers` are the program's calls that wait for it, the innermost first. They stay where they are meanwhile.
        """
        self.parent = parent
        self.depth: int = 0 if parent is None else parent.depth + 1
        self.callers: Calls = () if parent is None else parent.running(parent.pc - 1)

    def running(self, position: int) -> Calls:
        """Return the program's calls that are running while the frame is at this instruction, the innermost first."""
        if self.is_ours:
            return self.callers
        return ((self.code, self.decoded.line_at(position)), *self.callers)

    @property
    def program(self) -> Program:
        return self.decoded.program

    @property
    def module(self) -> Any:
        """Return the name of the code's module, as the code sees it; None if it has none."""
        return self.globals.get("__name__")

    def jump(self, instruction: Instruction) -> None:
        """Continue at the instruction's target."""
        assert instruction.target is not None
        self.pc = self.decoded.index[instruction.target]

    def leave_delegation(self, send: Instruction, result: VariableTracker) -> None:
        """Go on behind a `yield from`, whose iterator has come to its end with `result`."""
        self.pop()
        self.push(result)
        self.jump(send)

    def push(self, tracker: VariableTracker) -> None:
        self.stack.append(tracker)

    def pop(self) -> VariableTracker:
        return self.stack.pop()

    def pop_n(self, count: int) -> list[VariableTracker]:
        """Return the top `count` items, the deepest first."""
        if not count:
            return []
        items = self.stack[-count:]
        del self.stack[-count:]
        return items
