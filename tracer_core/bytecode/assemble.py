"""Assemble a `Program` into a code object."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from types import CodeType

from tracer_core.bytecode.check import check_program
from tracer_core.bytecode.exception_table import TableEntry
from tracer_core.bytecode.instruction import Handler, Instruction, Program
from tracer_core.bytecode.pools import Pools
from tracer_core.bytecode.stack import max_stack
from tracer_core.bytecode.version import cpython


def assemble(program: Program) -> CodeType:
    """Build the code object. The program is not changed; locals that its instructions use and `varnames` lacks come
    last in `co_varnames`.

    Constants are pooled by identity, so each is the very object that the instruction holds, with CPython's one
    exception: strings that look like names are interned, also inside tuples and frozensets. What the template has
    in its pools stays there, used or not. A code object with an unhashable constant is unhashable itself.

    Raises:
        ValueError: the program cannot be a code object (a jump to outside, an undeclared cell, a stack that does not
            add up, ...); the message names the instruction and a remedy.
    """
    check_program(program)
    pools = Pools(program)
    units = _lower(program, pools)
    offsets = _place(units)
    return program.template.replace(
        co_code=_encode(units),
        co_consts=tuple(pools.constants),
        co_names=tuple(pools.names),
        co_varnames=tuple(pools.varnames),
        co_nlocals=len(pools.varnames),
        co_cellvars=tuple(program.cellvars),
        co_freevars=tuple(program.freevars),
        co_stacksize=max_stack(program) + _extra_stack(units),
        co_linetable=cpython.encode_line_table(
            ((unit.source.span, unit.size) for unit in units), program.template.co_firstlineno
        ),
        co_exceptiontable=cpython.encode_exception_table(_handler_runs(units, offsets)),
    )


@dataclass(slots=True, eq=False)
class _Unit:
    """One CPython instruction with the prefixes that extend its operand, and its caches. `units` are 2 bytes each."""

    name: str
    operand: int
    source: Instruction
    target: Instruction | None = None
    prefixes: int = 0
    offset: int = 0
    caches: int = field(init=False)

    def __post_init__(self) -> None:
        self.caches = cpython.CACHES.get(self.name, 0)

    @property
    def size(self) -> int:
        return self.prefixes + 1 + self.caches


def _lower(program: Program, pools: Pools) -> list[_Unit]:
    index = {instruction: number for number, instruction in enumerate(program.instructions)}
    units: list[_Unit] = []
    for number, instruction in enumerate(program.instructions):
        target = instruction.target
        backward = target is not None and index[target] <= number
        keywords = pools.keywords(instruction) if instruction.op == "CALL" else None
        for name, operand, jumps in cpython.spell(instruction.op, pools.encode(instruction), keywords, backward):
            units.append(_Unit(name, operand, instruction, target if jumps else None))
    return units


def _extra_stack(units: list[_Unit]) -> int:
    """Return the extra items that the assembled code needs: a backward jump that keeps its value copies it first,
    which takes one item more than the program itself."""
    return int(any(unit.name == "COPY" and unit.source.op != "COPY" for unit in units))


def _place(units: list[_Unit]) -> dict[Instruction, int]:
    """Set offsets, jump distances and prefixes; return the byte offset where each canonical instruction starts.

    A longer jump may need a prefix, which makes other jumps longer: repeated until nothing grows.
    """
    for unit in units:
        unit.prefixes = _prefixes(unit.operand)
    jumps = [unit for unit in units if unit.target is not None]
    while True:
        starts: dict[Instruction, int] = {}
        offset = 0
        for unit in units:
            starts.setdefault(unit.source, offset)
            unit.offset = offset
            offset += 2 * unit.size
        grew = False
        for unit in jumps:
            assert unit.target is not None
            unit.operand = abs(starts[unit.target] - (unit.offset + 2 * unit.size)) // 2
            if _prefixes(unit.operand) > unit.prefixes:
                unit.prefixes = _prefixes(unit.operand)
                grew = True
        if not grew:
            return starts


def _prefixes(operand: int) -> int:
    return max(0, (operand.bit_length() - 1) // 8)


def _encode(units: list[_Unit]) -> bytes:
    code = bytearray()
    for unit in units:
        for shift in range(8 * unit.prefixes, 0, -8):
            code += bytes((cpython.OPCODES[cpython.EXTENDED_ARG], unit.operand >> shift & 0xFF))
        code += bytes((cpython.OPCODES[unit.name], unit.operand & 0xFF))
        code += bytes(2 * unit.caches)
    return bytes(code)


def _handler_runs(units: list[_Unit], starts: dict[Instruction, int]) -> Iterable[TableEntry]:
    run: TableEntry | None = None
    for unit in units:
        end = unit.offset + 2 * unit.size
        entry = _entry(unit.offset, end, unit.source.handler, starts)
        if run is not None and entry is not None and run[2:] == entry[2:]:
            run = run._replace(end=end)
            continue
        if run is not None:
            yield run
        run = entry
    if run is not None:
        yield run


def _entry(start: int, end: int, handler: Handler | None, starts: dict[Instruction, int]) -> TableEntry | None:
    if handler is None:
        return None
    return TableEntry(start, end, starts[handler.target], handler.depth, handler.push_lasti)
