"""`Version`: the contents of a module for one CPython version, and the one for the running Python.

A CPython that is supported has a module `cpython3NN` here with all of `Version`; `cpython` is that of the Python that
runs. To support another one, write its module, and name it below: nothing else depends on the Python version.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

from tracer_core.bytecode.exception_table import TableEntry
from tracer_core.bytecode.instruction import Span, Spelled


class Version(Protocol):
    """The contents of a module for one CPython version."""

    @property
    def OPCODES(self) -> Mapping[str, int]:
        """The number of each instruction by name."""

    @property
    def FIRST_WITH_OPERAND(self) -> int:
        """The lowest number of an instruction that has an operand."""

    @property
    def CACHES(self) -> Mapping[str, int]:
        """The code units (2 bytes) of inline cache that follow an instruction; none where it is not listed."""

    @property
    def CANONICAL(self) -> Mapping[str, str]:
        """The canonical operation of each CPython instruction that has one. The others are prefixes, or caches."""

    @property
    def FLAGGED(self) -> Mapping[str, tuple[str, str]]:
        """Instructions whose lowest operand bit distinguishes two canonical operations: the one for 0, the one for
        1."""

    @property
    def BACKWARD(self) -> frozenset[str]:
        """Jumps whose operand counts backwards."""

    @property
    def EXTENDED_ARG(self) -> str:
        """The prefix with the higher bits of an operand."""

    @property
    def KEYWORDS(self) -> str:
        """The prefix of a call with the names of its keyword arguments."""

    @property
    def COMPARISONS(self) -> Sequence[str]:
        """How comparisons are spelled, by the number that is their operand."""

    @property
    def BINARY_OPERATORS(self) -> Sequence[str]:
        """How binary operators are spelled, in-place ones included, by the number that is their operand."""

    @property
    def IDENTITIES(self) -> Sequence[str]:
        """How `is` and its opposite are spelled, by the number that is their operand."""

    @property
    def MEMBERSHIPS(self) -> Sequence[str]:
        """How `in` and its opposite are spelled, by the number that is their operand."""

    @property
    def NULL_BELOW_CALLABLE(self) -> bool:
        """Whether the empty slot of a call lies below the callable, or between it and the arguments."""

    @property
    def DELEGATING(self) -> int:
        """The operand of a RESUME at which a `yield from` resumes."""

    def spell(self, op: str, number: int, keywords: int | None, backward: bool) -> Sequence[Spelled]:
        """Return the instructions for one canonical one with this operand (0 where it has none). `keywords` is the
        constant with the names of a call's keyword arguments; `backward` means that the target of a jump precedes it.

        Raises:
            ValueError: it jumps backward and cannot.
        """

    def prologue(
        self, cells: Sequence[str], free: Sequence[str], *, generator: bool
    ) -> Iterable[tuple[str, str | int | None]]:
        """Return the canonical operations, with operands, that a code with these cells and free variables begins
        with."""

    def slots(self, varnames: Sequence[str], cells: Sequence[str], free: Sequence[str]) -> tuple[str, ...]:
        """Return the names of a frame's slots, in order, that operands of variables count."""

    def parse_exception_table(self, table: bytes) -> Iterable[TableEntry]:
        """Return the entries of `co_exceptiontable`."""

    def encode_exception_table(self, entries: Iterable[TableEntry]) -> bytes:
        """Return the bytes of `co_exceptiontable`."""

    def encode_line_table(self, spans: Iterable[tuple[Span | None, int]], first_line: int) -> bytes:
        """Return the bytes of `co_linetable`, from where each instruction comes from and its size in code units,
        caches included."""


if sys.version_info[:2] == (3, 11):
    from tracer_core.bytecode import cpython311

    cpython: Version = cpython311
else:
    raise ImportError(f"tracewalk does not know the bytecode of Python {sys.version_info[0]}.{sys.version_info[1]}")
