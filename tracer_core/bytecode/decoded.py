"""`Decoded`: a code object's program with facts that are computed once, shared by all that run the code."""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable
from types import CodeType
from typing import Any

from tracer_core.bytecode.decode import decode
from tracer_core.bytecode.instruction import Instruction, Program
from tracer_core.bytecode.liveness import live_before
from tracer_core.bytecode.version import cpython


class Decoded:
    """A code object ready to be traced: its program, and the position of each instruction.

    `handlers` has the handler of each instruction; the interpreter fills it in when it first runs the code.
    """

    def __init__(self, code: CodeType) -> None:
        # The program holds a copy of the code: data kept for a code must not keep it alive.
        self.program: Program = decode(code.replace())
        self.instructions: list[Instruction] = self.program.instructions
        self.index: dict[Instruction, int] = {ins: i for i, ins in enumerate(self.instructions)}
        self.handlers: list[Callable[..., Any]] = []

    @functools.cached_property
    def live(self) -> dict[Instruction, frozenset[str]]:
        """Return the locals that may still be read when an instruction is about to run."""
        return live_before(self.program)

    def line_at(self, position: int) -> int:
        """Return the line of an instruction, or of the nearest one before it that has one; else the function's
        first."""
        for at in range(position, -1, -1):
            span = self.instructions[at].span
            if span is not None and span.line is not None:
                return span.line
        return self.program.template.co_firstlineno

    def send_at(self, position: int) -> Instruction | None:
        """Return the SEND of the `yield from` in which a generator that resumes at this position waits; None where it
        waits at a `yield`."""
        resumed = self.instructions[position]
        if resumed.op != "RESUME" or resumed.arg != cpython.DELEGATING:
            return None
        return next(self.instructions[at] for at in range(position, -1, -1) if self.instructions[at].op == "SEND")

    @functools.cached_property
    def has_loop(self) -> bool:
        """Return whether any jump goes backwards."""
        return any(i.target is not None and self.index[i.target] <= at for i, at in self.index.items())


_decoded: dict[int, tuple[weakref.ref[CodeType], Decoded]] = {}


def decoded(code: CodeType) -> Decoded:
    """Return the decoded form of `code`, kept as long as the code."""
    found = _decoded.get(id(code))
    if found is not None:
        return found[1]
    made, key = Decoded(code), id(code)
    _decoded[key] = (weakref.ref(code, lambda _: _decoded.pop(key, None)), made)
    return made


def first_line(code: CodeType) -> int:
    """Return the line where the code begins: of a resume function, the one where it resumes."""
    return decoded(code).line_at(0)


def forget_decoded() -> None:
    """Forget all decoded code."""
    _decoded.clear()
