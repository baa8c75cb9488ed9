"""What instructions do to the stack: its depth, and the items that they leave."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from tracer_core.bytecode.flow import following, successors
from tracer_core.bytecode.instruction import Instruction, Program
from tracer_core.bytecode.ops import OPS

T = TypeVar("T")


def stack_after(instruction: Instruction, stack: Sequence[T], jumps: bool, create: Callable[[int], T]) -> list[T]:
    """Return the items on the stack after the instruction. `create(n)` returns the n-th new one, from the lowest
    on."""
    info, arg, items = OPS[instruction.op], instruction.arg, list(stack)
    if info.name == "COPY":
        return [*items, items[-arg]]
    if info.name == "SWAP":
        items[-1], items[-arg] = items[-arg], items[-1]
        return items
    if info.name == "PUSH_EXC_INFO":
        return [*items[:-1], create(0), items[-1]]
    kept = len(items) - info.takes(arg) + (info.keeps_on_jump if jumps else info.keeps(arg))
    depth = len(items) + info.effect(arg, jumps)
    return [*items[:kept], *map(create, range(depth - kept))]


def stack_effect(instruction: Instruction, jump: bool) -> int:
    """Return the net change of the depth; `jump` is the direction of a jump (an unconditional one only with True)."""
    return OPS[instruction.op].effect(instruction.arg, jump)


def pops(instruction: Instruction) -> int:
    """Return how many items from the top the instruction pops or reads."""
    return OPS[instruction.op].takes(instruction.arg)


def stack_depths(program: Program) -> dict[Instruction, int]:
    """Return the depth before each reachable instruction; that of a handler's first one includes the exception (and
    offset).

    Raises:
        ValueError: an instruction takes more than there is, is reached with two different depths, or has a handler
            that expects more than there is.
    """
    if not program.instructions:
        return {}
    after = following(program)
    depths = {program.instructions[0]: 0}
    todo = program.instructions[:1]

    def reach(instruction: Instruction, depth: int) -> None:
        known = depths.setdefault(instruction, depth)
        if known != depth:
            raise ValueError(
                f"{_place(program, instruction)} is reached with {known} and with {depth} items on the stack; "
                "make every way to it leave the same number."
            )

    while todo:
        instruction = todo.pop()
        depth = depths[instruction]
        if pops(instruction) > depth:
            raise ValueError(
                f"{_place(program, instruction)} takes {pops(instruction)} items but only {depth} are on the stack; "
                "push them first."
            )
        next_instruction = after[instruction]
        for successor in successors(instruction, next_instruction):
            if successor not in depths:
                todo.append(successor)
            if successor is instruction.target:
                reach(successor, depth + stack_effect(instruction, jump=True))
            if successor is next_instruction and not OPS[instruction.op].terminal:
                reach(successor, depth + stack_effect(instruction, jump=False))
        handler = instruction.handler
        if handler is not None:
            if handler.depth > depth:
                raise ValueError(
                    f"{_place(program, instruction)} has a handler that keeps {handler.depth} items, but only "
                    f"{depth} are on the stack; give it a handler of that depth or less."
                )
            if handler.target not in depths:
                todo.append(handler.target)
            reach(handler.target, handler.depth + handler.push_lasti + 1)
    return depths


def max_stack(program: Program) -> int:
    """Return the greatest depth of the stack."""
    after = following(program)
    deepest = 0
    for instruction, depth in stack_depths(program).items():
        deepest = max(deepest, depth)
        if after[instruction] is None or not OPS[instruction.op].terminal:
            deepest = max(deepest, depth + stack_effect(instruction, jump=False))
    return deepest


def _place(program: Program, instruction: Instruction) -> str:
    index = program.instructions.index(instruction)
    return f"Instruction {index} ({instruction.op}) of {program.template.co_qualname}"
