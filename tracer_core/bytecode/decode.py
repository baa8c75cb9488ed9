"""Code object -> `Program`."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from types import CodeType
from typing import Any

from tracer_core.bytecode import cpython311 as cpython
from tracer_core.bytecode.exception_table import parse_exception_table
from tracer_core.bytecode.instruction import CallShape, Handler, Instruction, Origin, Program, Span
from tracer_core.bytecode.operand_text import operand_text
from tracer_core.bytecode.ops import OPS, Operand


def decode(code: CodeType) -> Program:
    """Takes a code object apart. `code` itself is kept as the program's template and not changed."""
    instructions, offsets = _Decoder(code).run()
    _attach_handlers(code, instructions, offsets)
    return Program(
        template=code,
        instructions=instructions,
        varnames=list(code.co_varnames),
        cellvars=list(code.co_cellvars),
        freevars=list(code.co_freevars),
    )


def localsplus_names(code: CodeType) -> tuple[str, ...]:
    """Names of a frame's slots: locals, cells that are no local (an argument's cell sits in its slot), free ones."""
    own_cells = tuple(name for name in code.co_cellvars if name not in code.co_varnames)
    return code.co_varnames + own_cells + code.co_freevars


class _Offsets:
    """Finds the instruction that a jump to a byte offset reaches: the first one that starts there or later, for
    prefixes (EXTENDED_ARG, KW_NAMES, PRECALL) belong to what follows them."""

    def __init__(self, instructions: list[Instruction], offsets: list[int]) -> None:
        self.instructions = instructions
        self.offsets = offsets

    def at(self, offset: int) -> Instruction:
        return self.instructions[bisect_left(self.offsets, offset)]

    def between(self, start: int, end: int) -> list[Instruction]:
        return self.instructions[bisect_left(self.offsets, start) : bisect_left(self.offsets, end)]


class _Decoder:
    def __init__(self, code: CodeType) -> None:
        self.code = code
        self.slots = localsplus_names(code)
        self.instructions: list[Instruction] = []
        self.offsets: list[int] = []
        self.jumps: list[tuple[Instruction, int]] = []

    def run(self) -> tuple[list[Instruction], _Offsets]:
        raw = self.code.co_code
        positions = list(self.code.co_positions())
        extended = 0
        keywords: tuple[str, ...] = ()
        for offset in range(0, len(raw), 2):
            name = cpython.OPNAMES[raw[offset]]
            if name == "CACHE":
                continue
            operand = extended << 8 | raw[offset + 1]
            extended = operand if name == "EXTENDED_ARG" else 0
            if name == "KW_NAMES":
                keywords = self.code.co_consts[operand]
            if name in cpython.PREFIXES:
                continue
            instruction = self._instruction(name, operand, offset)
            if instruction.op == "CALL":
                instruction.arg = CallShape(operand, keywords)
                keywords = ()
            position = positions[offset // 2]
            instruction.span = None if position[0] is None else Span(*position)
            self.instructions.append(instruction)
            self.offsets.append(offset)
        offsets = _Offsets(self.instructions, self.offsets)
        for instruction, target in self.jumps:
            instruction.target = offsets.at(target)
        return self.instructions, offsets

    def _instruction(self, name: str, operand: int, offset: int) -> Instruction:
        op = cpython.CANONICAL[name]
        target: int | None = None
        if OPS[op].jumps:
            step = -operand if "BACKWARD" in name else operand
            target = offset + 2 + 2 * step
        if name == "LOAD_GLOBAL":
            op = "LOAD_GLOBAL_NULL" if operand & 1 else "LOAD_GLOBAL"
            operand >>= 1
        arg = _OPERANDS[OPS[op].operand](self, operand)
        text = operand_text(op, arg, operand, target) if cpython.OPCODES[name] >= cpython.FIRST_WITH_OPERAND else ""
        instruction = Instruction(op, arg, origin=Origin(name, text, offset))
        if target is not None:
            self.jumps.append((instruction, target))
        return instruction


_OPERANDS: dict[Operand, Callable[[_Decoder, int], Any]] = {
    Operand.NONE: lambda decoder, operand: None,
    Operand.COUNT: lambda decoder, operand: operand,
    Operand.NAME: lambda decoder, operand: decoder.code.co_names[operand],
    Operand.CONSTANT: lambda decoder, operand: decoder.code.co_consts[operand],
    Operand.LOCAL: lambda decoder, operand: decoder.slots[operand],
    Operand.CELL: lambda decoder, operand: decoder.slots[operand],
    Operand.COMPARISON: lambda decoder, operand: cpython.COMPARISONS[operand],
    Operand.BINARY: lambda decoder, operand: cpython.BINARY_OPERATORS[operand],
    Operand.IDENTITY: lambda decoder, operand: cpython.IDENTITIES[operand],
    Operand.MEMBERSHIP: lambda decoder, operand: cpython.MEMBERSHIPS[operand],
    Operand.CALL: lambda decoder, operand: CallShape(operand),
}


def _attach_handlers(code: CodeType, instructions: list[Instruction], offsets: _Offsets) -> None:
    for entry in parse_exception_table(code.co_exceptiontable):
        handler = Handler(offsets.at(entry.target), entry.depth, entry.push_lasti)
        for instruction in offsets.between(entry.start, entry.end):
            instruction.handler = handler
