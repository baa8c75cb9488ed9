"""Decode a code object into a `Program`."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from itertools import chain, islice, repeat
from types import CodeType
from typing import Any, NamedTuple

from tracer_core.bytecode.instruction import CallShape, Handler, Instruction, Origin, Program, Span
from tracer_core.bytecode.operand_text import operand_text
from tracer_core.bytecode.ops import OPS, Operand
from tracer_core.bytecode.version import cpython


def decode(code: CodeType) -> Program:
    """Decode a code object. `code` itself is kept as the program's template and not changed.

    A call and its prefixes become one CALL with the place of CPython's own. A method call over several lines has the
    names of its keyword arguments on another line, which is lost: it can neither fail nor be seen, but by a line
    tracer.
    """
    instructions, offsets = _Decoder(code).run()
    _attach_handlers(code, instructions, offsets)
    return Program(
        template=code,
        instructions=instructions,
        varnames=list(code.co_varnames),
        cellvars=list(code.co_cellvars),
        freevars=list(code.co_freevars),
    )


class _Offsets:
    """Find the instruction that a jump to a byte offset reaches: the first one that starts there or later, since
    prefixes belong to the instruction after them."""

    def __init__(self, instructions: list[Instruction], offsets: list[int]) -> None:
        self.instructions = instructions
        self.offsets = offsets

    def at(self, offset: int) -> Instruction:
        return self.instructions[bisect_left(self.offsets, offset)]

    def between(self, start: int, end: int) -> list[Instruction]:
        return self.instructions[bisect_left(self.offsets, start) : bisect_left(self.offsets, end)]


class _Plan(NamedTuple):
    """How to decode one CPython instruction."""

    name: str
    op: str
    decode_operand: Callable[[_Decoder, int], Any]
    text: Callable[[Any, int], str]
    direction: int
    """The code units per unit of a jump's operand, 1 or -1; 0 for other instructions."""
    size: int
    """In bytes, with its caches."""


class _Decoder:
    def __init__(self, code: CodeType) -> None:
        self.code = code
        self.slots = cpython.slots(code.co_varnames, code.co_cellvars, code.co_freevars)
        self.names = code.co_names
        self.constants = code.co_consts
        self.instructions: list[Instruction] = []
        self.offsets: list[int] = []
        self.jumps: list[tuple[Instruction, int]] = []

    def run(self) -> tuple[list[Instruction], _Offsets]:
        raw = self.code.co_code
        # (A code object may have a line table that does not reach its end.)
        positions = list(islice(chain(self.code.co_positions(), repeat((None, None, None, None))), len(raw) // 2))
        extended = following = 0
        keywords: tuple[str, ...] = ()
        while following < len(raw):
            offset, position = following, positions[following // 2]
            plan = _PLANS[raw[offset]]
            operand = extended << 8 | raw[offset + 1]
            if plan is None:
                following += 2
                extended = operand if raw[offset] == _EXTENDED_ARG else 0
                if raw[offset] == _KEYWORDS:
                    keywords = self.constants[operand]
                continue
            following += plan.size  # (Caches need not be looked at.)
            instruction = self._instruction(plan, operand, offset)
            extended = 0
            if instruction.op == "CALL":
                instruction.arg = CallShape(instruction.arg, keywords)
                keywords = ()
            if position[0] is not None:
                instruction.span = Span(*position)
            self.instructions.append(instruction)
            self.offsets.append(offset)
        offsets = _Offsets(self.instructions, self.offsets)
        for instruction, target in self.jumps:
            instruction.target = offsets.at(target)
        return self.instructions, offsets

    def _instruction(self, plan: _Plan, number: int, offset: int) -> Instruction:
        if plan.name in _FLAGGED:
            plan, number = _FLAGGED[plan.name][number & 1], number >> 1
        arg = plan.decode_operand(self, number)
        if not plan.direction:
            return Instruction(plan.op, arg, origin=Origin(plan.name, plan.text(arg, number), offset))
        target = offset + plan.size + 2 * plan.direction * number
        instruction = Instruction(plan.op, arg, origin=Origin(plan.name, f"to {target}", offset))
        self.jumps.append((instruction, target))
        return instruction


_OPERANDS: dict[Operand, Callable[[_Decoder, int], Any]] = {
    Operand.NONE: lambda decoder, number: None,
    Operand.COUNT: lambda decoder, number: number,
    Operand.NAME: lambda decoder, number: decoder.names[number],
    Operand.CONSTANT: lambda decoder, number: decoder.constants[number],
    Operand.LOCAL: lambda decoder, number: decoder.slots[number],
    Operand.CELL: lambda decoder, number: decoder.slots[number],
    Operand.COMPARISON: lambda decoder, number: cpython.COMPARISONS[number],
    Operand.BINARY: lambda decoder, number: cpython.BINARY_OPERATORS[number],
    Operand.IDENTITY: lambda decoder, number: cpython.IDENTITIES[number],
    Operand.MEMBERSHIP: lambda decoder, number: cpython.MEMBERSHIPS[number],
    Operand.CALL: lambda decoder, number: number,  # becomes a CallShape with the keywords of its prefix
}


def _plan(name: str, op: str) -> _Plan:
    direction = 0
    if OPS[op].jumps:
        direction = -1 if name in cpython.BACKWARD else 1
    has_operand = cpython.OPCODES[name] >= cpython.FIRST_WITH_OPERAND
    text = operand_text(op) if has_operand else lambda arg, number: ""
    size = 2 + 2 * cpython.CACHES.get(name, 0)
    return _Plan(name, op, _OPERANDS[OPS[op].operand], text, direction, size)


_PLANS: list[_Plan | None] = [None] * 256
"""By opcode number; None for prefixes and caches."""
for _name, _op in cpython.CANONICAL.items():
    _PLANS[cpython.OPCODES[_name]] = _plan(_name, _op)
_FLAGGED = {name: (_plan(name, plain), _plan(name, flagged)) for name, (plain, flagged) in cpython.FLAGGED.items()}
_EXTENDED_ARG, _KEYWORDS = cpython.OPCODES[cpython.EXTENDED_ARG], cpython.OPCODES.get(cpython.KEYWORDS)


def _attach_handlers(code: CodeType, instructions: list[Instruction], offsets: _Offsets) -> None:
    for entry in cpython.parse_exception_table(code.co_exceptiontable):
        handler = Handler(offsets.at(entry.target), entry.depth, entry.push_lasti)
        for instruction in offsets.between(entry.start, entry.end):
            instruction.handler = handler
