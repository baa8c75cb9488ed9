"""Programs as text."""

from __future__ import annotations

import dis
from types import CodeType
from typing import Any

from tracer_core.bytecode.instruction import CallShape, Instruction, Program
from tracer_core.bytecode.operand_text import constant_text
from tracer_core.bytecode.ops import OPS, Operand


def disassembly(code: CodeType) -> str:
    """Return a code's own instructions as text, as Python's `dis` writes them."""
    return dis.Bytecode(code).dis()


def listing(program: Program) -> str:
    """Return one line per instruction: source line where it changes, label if jumped to, operation, operand,
    handler."""
    labels = _labels(program)
    lines = [f"{program.template.co_qualname}:"]
    previous_line: int | None = None
    for instruction in program.instructions:
        line = instruction.span.line if instruction.span is not None else None
        shown_line = str(line) if line is not None and line != previous_line else ""
        previous_line = line if line is not None else previous_line
        label = f"{labels[instruction]}:" if instruction in labels else ""
        text = f"{shown_line:>5} {label:>5} {instruction.op:<22} {_operand(instruction, labels)}"
        lines.append(f"{text:<60} {_handler(instruction, labels)}".rstrip())
    return "\n".join(lines) + "\n"


def _labels(program: Program) -> dict[Instruction, str]:
    targets = {instruction.target for instruction in program.instructions}
    targets |= {instruction.handler.target for instruction in program.instructions if instruction.handler is not None}
    marked = [instruction for instruction in program.instructions if instruction in targets]
    return {instruction: f"L{number}" for number, instruction in enumerate(marked, start=1)}


def _operand(instruction: Instruction, labels: dict[Instruction, str]) -> str:
    if instruction.target is not None:
        return f"to {labels.get(instruction.target, '(outside the program)')}"
    return _argument(OPS[instruction.op].operand, instruction.arg)


def _argument(operand: Operand, arg: Any) -> str:
    if operand is Operand.NONE:
        return ""
    if operand is Operand.CONSTANT:
        return constant_text(arg)
    if isinstance(arg, CallShape):
        return f"{arg.count}" + (f" keywords {', '.join(arg.keywords)}" if arg.keywords else "")
    return str(arg)


def _handler(instruction: Instruction, labels: dict[Instruction, str]) -> str:
    handler = instruction.handler
    if handler is None:
        return ""
    lasti = ", lasti" if handler.push_lasti else ""
    return f"; on error {labels.get(handler.target, '(outside the program)')} depth {handler.depth}{lasti}"
