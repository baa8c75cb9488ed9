"""Turn decoded operands back into numbers: the pools of names, constants and slots of a code object."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tracer_core.bytecode.instruction import Instruction, Program
from tracer_core.bytecode.ops import OPS, Operand
from tracer_core.bytecode.version import cpython

_OWN_CELL_OPS = frozenset({"MAKE_CELL", "LOAD_CLOSURE"})
"""In a class body inside a method, `__class__` is both a cell of its own and a free variable: these mean the cell."""


class Pools:
    """The pools of one code object: they start with the entries of the template, in its order (the first constant is
    a function's docstring), and grow."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.names = list(program.template.co_names)
        self.constants: list[Any] = list(program.template.co_consts)
        self.varnames = _all_locals(program)
        self._name_index = _first_index(self.names)
        self._constant_index = _first_index(map(id, self.constants))
        self._local_index = _first_index(self.varnames)
        slots = cpython.slots(self.varnames, program.cellvars, program.freevars)
        own = len(slots) - len(program.freevars)
        index = _first_index(slots[:own])
        self._cell_index = {name: index[name] for name in program.cellvars}
        self._free_index = {name: own + number for number, name in enumerate(program.freevars)}

    def encode(self, instruction: Instruction) -> int:
        """Return the operand of an instruction as a number; 0 where it has none."""
        if instruction.op == "COPY_FREE_VARS":
            return len(self.program.freevars)
        return _ENCODER_OF[instruction.op](self, instruction)

    def keywords(self, instruction: Instruction) -> int | None:
        """Return the constant with the names of a call's keyword arguments, if it has any."""
        names = instruction.arg.keywords
        return self.constant(names) if names else None

    def name(self, name: str) -> int:
        index = self._name_index.setdefault(name, len(self.names))
        if index == len(self.names):
            self.names.append(name)
        return index

    def constant(self, value: Any) -> int:
        if not self.constants and isinstance(value, str):
            self.constants.append(None)  # a string in first place would become the function's docstring
        index = self._constant_index.setdefault(id(value), len(self.constants))
        if index == len(self.constants):
            self.constants.append(value)
        return index

    def local(self, name: str) -> int:
        return self._local_index[name]

    def cell(self, op: str, name: str) -> int:
        tables = [self._free_index, self._cell_index]
        if op in _OWN_CELL_OPS:
            tables.reverse()
        return next(table[name] for table in tables if name in table)


_ENCODERS: dict[Operand, Callable[[Pools, Instruction], int]] = {
    Operand.NONE: lambda pools, instruction: 0,
    Operand.COUNT: lambda pools, instruction: int(instruction.arg),
    Operand.NAME: lambda pools, instruction: pools.name(instruction.arg),
    Operand.CONSTANT: lambda pools, instruction: pools.constant(instruction.arg),
    Operand.LOCAL: lambda pools, instruction: pools.local(instruction.arg),
    Operand.CELL: lambda pools, instruction: pools.cell(instruction.op, instruction.arg),
    Operand.COMPARISON: lambda pools, instruction: cpython.COMPARISONS.index(instruction.arg),
    Operand.BINARY: lambda pools, instruction: cpython.BINARY_OPERATORS.index(instruction.arg),
    Operand.IDENTITY: lambda pools, instruction: cpython.IDENTITIES.index(instruction.arg),
    Operand.MEMBERSHIP: lambda pools, instruction: cpython.MEMBERSHIPS.index(instruction.arg),
    Operand.CALL: lambda pools, instruction: int(instruction.arg.count),
}
_ENCODER_OF = {op: _ENCODERS[info.operand] for op, info in OPS.items()}


_LOCAL_OPS = frozenset(op for op, info in OPS.items() if info.operand is Operand.LOCAL)


def _all_locals(program: Program) -> list[str]:
    used = [each.arg for each in program.instructions if each.op in _LOCAL_OPS]
    return list(dict.fromkeys([*program.varnames, *used]))


def _first_index(keys: Any) -> dict[Any, int]:
    table: dict[Any, int] = {}
    for index, key in enumerate(keys):
        table.setdefault(key, index)
    return table
