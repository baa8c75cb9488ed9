"""`Frame`: one activation of a code, walked symbolically, and the decoded code it shares with others."""

from __future__ import annotations

import functools
import itertools
import weakref
from types import CodeType
from typing import TYPE_CHECKING, Any

from tracer_core.bytecode import Instruction, Program, decode, live_before
from tracer_core.variables.base import VariableTracker
from tracer_core.variables.cells import CellVariable

if TYPE_CHECKING:
    from tracer_core.interpreter.ops import OpHandler


class Decoded:
    """A code object ready to be walked: its program, the position of each instruction, the handler of each."""

    def __init__(self, code: CodeType) -> None:
        from tracer_core.interpreter.ops import handler_of

        # A copy of the code stays in the program: what is kept for a code must not keep it alive.
        self.program: Program = decode(code.replace())
        self.instructions: list[Instruction] = self.program.instructions
        self.index: dict[Instruction, int] = {ins: i for i, ins in enumerate(self.instructions)}
        self.handlers: list[OpHandler] = [handler_of(ins.op) for ins in self.instructions]

    @functools.cached_property
    def live(self) -> dict[Instruction, frozenset[str]]:
        """The locals that may still be read when an instruction is about to run."""
        return live_before(self.program)

    def line_at(self, position: int) -> int:
        """The line of an instruction, or of the nearest one before it that has one; else the function's first."""
        for at in range(position, -1, -1):
            span = self.instructions[at].span
            if span is not None and span.line is not None:
                return span.line
        return self.program.template.co_firstlineno

    @functools.cached_property
    def has_loop(self) -> bool:
        """Whether some jump goes back."""
        return any(i.target is not None and self.index[i.target] <= at for i, at in self.index.items())


_decoded: dict[int, tuple[weakref.ref[CodeType], Decoded]] = {}


def decoded(code: CodeType) -> Decoded:
    """The decoded form of `code`, kept as long as the code."""
    found = _decoded.get(id(code))
    if found is not None:
        return found[1]
    made, key = Decoded(code), id(code)
    _decoded[key] = (weakref.ref(code, lambda _: _decoded.pop(key, None)), made)
    return made


def first_line(code: CodeType) -> int:
    """The line where the code begins: of a resume function, the one where it goes on."""
    return decoded(code).line_at(0)


def forget_decoded() -> None:
    """Let go of all decoded code."""
    _decoded.clear()


_uids = itertools.count()


class Frame:
    """The state of one activation. `pc` is the position of the next instruction."""

    __slots__ = (
        "caught", "cells", "code", "decoded", "depth", "globals", "locals", "namespace", "parent", "pc", "stack",
        "suspended", "uid",
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
        self.locals = locals
        self.cells = cells
        self.parent = parent
        self.depth: int = 0 if parent is None else parent.depth + 1
        self.stack: list[VariableTracker] = []
        self.pc = 0
        # What a class body has bound so far; None in any other frame.
        self.namespace: dict[str, VariableTracker] | None = None
        # Exceptions being handled in this frame, the innermost last.
        self.caught: list[VariableTracker] = []
        # A generator's frame that waits at a `yield`.
        self.suspended = False

    @property
    def program(self) -> Program:
        return self.decoded.program

    def jump(self, instruction: Instruction) -> None:
        """Go on at the instruction's target."""
        assert instruction.target is not None
        self.pc = self.decoded.index[instruction.target]

    def push(self, tracker: VariableTracker) -> None:
        self.stack.append(tracker)

    def pop(self) -> VariableTracker:
        return self.stack.pop()

    def pop_n(self, count: int) -> list[VariableTracker]:
        """The top `count` items, the deepest first."""
        if not count:
            return []
        items = self.stack[-count:]
        del self.stack[-count:]
        return items
