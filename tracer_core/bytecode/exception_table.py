"""Read and write `co_exceptiontable`: entries of four numbers in 6-bit groups, most significant first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

_START_OF_ENTRY = 0x80
_MORE = 0x40
_GROUP = 0x3F


class TableEntry(NamedTuple):
    """Offsets in bytes; `end` is past the last instruction covered."""

    start: int
    end: int
    target: int
    depth: int
    push_lasti: bool


def parse_exception_table(table: bytes) -> list[TableEntry]:
    numbers = _numbers(table)
    entries = []
    for start in numbers:
        length, target, packed = next(numbers), next(numbers), next(numbers)
        entries.append(TableEntry(2 * start, 2 * (start + length), 2 * target, packed >> 1, bool(packed & 1)))
    return entries


def encode_exception_table(entries: Iterable[TableEntry]) -> bytes:
    table = bytearray()
    for entry in entries:
        first = len(table)
        _append(table, entry.start // 2)
        table[first] |= _START_OF_ENTRY
        _append(table, (entry.end - entry.start) // 2)
        _append(table, entry.target // 2)
        _append(table, entry.depth << 1 | entry.push_lasti)
    return bytes(table)


def _numbers(table: bytes) -> Iterator[int]:
    value = 0
    for byte in table:
        value = value << 6 | byte & _GROUP
        if not byte & _MORE:
            yield value
            value = 0


def _append(table: bytearray, value: int) -> None:
    groups = [value & _GROUP]
    while value := value >> 6:
        groups.append(value & _GROUP | _MORE)
    table.extend(reversed(groups))
