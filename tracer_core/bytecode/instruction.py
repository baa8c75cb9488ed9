"""Canonical instructions: one small instruction set into which the bytecode of every supported CPython is decoded."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import CodeType
from typing import Any, NamedTuple


class Span(NamedTuple):
    """Where in the source text an instruction comes from. Lines count from 1, columns (UTF-8 bytes) from 0;
    None where the compiler gave none."""

    line: int | None
    end_line: int | None
    column: int | None
    end_column: int | None


class Origin(NamedTuple):
    """The CPython instruction that people know: its name, its operand as `dis` prints it, its offset in bytes."""

    opname: str
    argrepr: str
    offset: int


class CallShape(NamedTuple):
    """Operand of CALL: how many arguments are on the stack, and the names of the last ones (keywords)."""

    count: int  # type: ignore[assignment]  # hides tuple.count
    keywords: tuple[str, ...] = ()


Spelled = tuple[str, int, bool]
"""A CPython instruction, one of those that a canonical one is assembled to: its name, its operand, whether it jumps.
The operand of a jump is filled in once its place and its target's are known."""


@dataclass(slots=True, eq=False)
class Handler:
    """Where an exception raised by an instruction goes: the stack is cut to `depth` items, the offset of the
    raising instruction is pushed if `push_lasti`, then the exception, and control moves to `target`."""

    target: Instruction
    depth: int
    push_lasti: bool


@dataclass(slots=True, eq=False)
class Instruction:
    """One canonical instruction. Compared by identity: jumps and handlers point at the object itself.

    `arg` is the decoded operand: a name, a constant, a count, an operator's spelling (`"+"`, `"+="`, `"<"`,
    `"is not"`), a `CallShape`, or None. `target` is where a jump goes.
    """

    op: str
    arg: Any = None
    target: Instruction | None = None
    handler: Handler | None = None
    span: Span | None = None
    origin: Origin | None = None


@dataclass(slots=True)
class Program:
    """A code object taken apart. `template` keeps what the instructions lack (name, flags, argument counts, file,
    first line); `varnames`, `cellvars`, `freevars` may be edited (arguments stay first in `varnames`)."""

    template: CodeType
    instructions: list[Instruction]
    varnames: list[str] = field(default_factory=list)
    cellvars: list[str] = field(default_factory=list)
    freevars: list[str] = field(default_factory=list)
