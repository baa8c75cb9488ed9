"""Control flow between instructions."""

from __future__ import annotations

from tracer_core.bytecode.instruction import Instruction, Program
from tracer_core.bytecode.ops import OPS


def is_terminal(op: str) -> bool:
    """Return whether the next instruction in the list does not follow (return, raise, unconditional jump)."""
    return OPS[op].terminal


def successors(instruction: Instruction, next: Instruction | None) -> tuple[Instruction, ...]:
    """Return where control goes when nothing is raised: the next instruction unless terminal, then the jump's target.

    Args:
        next: what stands after it in the list; None at the end.
    """
    following: tuple[Instruction, ...] = ()
    if next is not None and not OPS[instruction.op].terminal:
        following = (next,)
    if instruction.target is not None:
        following += (instruction.target,)
    return following


def following(program: Program) -> dict[Instruction, Instruction | None]:
    """Return the stack after each instruction in the list."""
    instructions = program.instructions
    return dict(zip(instructions, [*instructions[1:], None], strict=True)) if instructions else {}


def reachable(program: Program) -> set[Instruction]:
    """Return the instructions that can run, including the handlers of instructions that can."""
    after = following(program)
    seen: set[Instruction] = set()
    todo = program.instructions[:1]
    while todo:
        instruction = todo.pop()
        if instruction in seen:
            continue
        seen.add(instruction)
        todo.extend(successors(instruction, after[instruction]))
        if instruction.handler is not None:
            todo.append(instruction.handler.target)
    return seen
