"""Compute which fast locals may still be read."""

from __future__ import annotations

from tracer_core.bytecode.flow import following, successors
from tracer_core.bytecode.instruction import Instruction, Program

_READS = frozenset({"LOAD_FAST", "DELETE_FAST"})


def live_before(program: Program) -> dict[Instruction, frozenset[str]]:
    """Return, for each instruction, the locals whose value some path from it may read before storing them anew.

    Paths through exception handlers count. DELETE_FAST reads (it raises on an unbound name), and so does MAKE_CELL
    on an argument, whose value moves into the cell. What is in a cell already is not a fast local: the caller keeps
    all cells. `locals()` and debuggers do not count as reads.
    """
    bit: dict[str, int] = {}
    reads: dict[Instruction, int] = {}
    keeps: dict[Instruction, int] = {}
    for instruction in program.instructions:
        name = _local_read(instruction, program)
        reads[instruction] = 0 if name is None else 1 << bit.setdefault(name, len(bit))
        stored = instruction.op == "STORE_FAST"
        keeps[instruction] = ~(1 << bit.setdefault(instruction.arg, len(bit))) if stored else -1
    masks = _propagate(program, reads, keeps)
    names = tuple(bit)
    sets: dict[int, frozenset[str]] = {}
    for mask in masks.values():
        if mask not in sets:
            sets[mask] = frozenset(name for index, name in enumerate(names) if mask >> index & 1)
    return {instruction: sets[mask] for instruction, mask in masks.items()}


def _local_read(instruction: Instruction, program: Program) -> str | None:
    reads = instruction.op in _READS or (instruction.op == "MAKE_CELL" and instruction.arg in program.varnames)
    return str(instruction.arg) if reads else None


def _propagate(
    program: Program, reads: dict[Instruction, int], keeps: dict[Instruction, int]
) -> dict[Instruction, int]:
    """Propagate backward to a fixed point, one bit for each local."""
    after = following(program)
    backwards = program.instructions[::-1]
    live = dict.fromkeys(program.instructions, 0)
    changed = True
    while changed:
        changed = False
        for instruction in backwards:
            out = 0
            for successor in successors(instruction, after[instruction]):
                out |= live[successor]
            mask = reads[instruction] | out & keeps[instruction]
            if instruction.handler is not None:
                mask |= live[instruction.handler.target]
            if mask != live[instruction]:
                live[instruction] = mask
                changed = True
    return live
