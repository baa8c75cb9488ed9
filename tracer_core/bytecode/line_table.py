"""Write `co_linetable` as CPython 3.11 reads it: one entry for each run of up to 8 code units."""

from __future__ import annotations

from collections.abc import Iterable

from tracer_core.bytecode.instruction import Span

_MAX_UNITS = 8
_ONE_LINE, _NO_COLUMNS, _LONG, _NO_LOCATION = 10, 13, 14, 15


def encode_line_table(spans: Iterable[tuple[Span | None, int]], first_line: int) -> bytes:
    """Args:
    spans: where each instruction comes from, and its size in code units (2 bytes), caches included.
    first_line: `co_firstlineno`, which the first entry is relative to.
    """
    table = bytearray()
    line = first_line
    for span, units in spans:
        while units > 0:
            line = _append_entry(table, span, min(units, _MAX_UNITS), line)
            units -= _MAX_UNITS
    return bytes(table)


def _append_entry(table: bytearray, span: Span | None, units: int, previous_line: int) -> int:
    """Append an entry; return the line that the next entry is relative to."""
    if span is None or span.line is None:
        _append_head(table, _NO_LOCATION, units)
        return previous_line
    line, column, end_column = span.line, span.column, span.end_column
    end_line = line if span.end_line is None else span.end_line
    delta = line - previous_line
    if column is None and end_column is None and end_line == line:
        _append_head(table, _NO_COLUMNS, units)
        _append_signed(table, delta)
    elif column is None or end_column is None or end_line != line or not _fits_short(delta, column, end_column):
        _append_head(table, _LONG, units)
        _append_signed(table, delta)
        _append_unsigned(table, end_line - line)
        _append_unsigned(table, 0 if column is None else column + 1)
        _append_unsigned(table, 0 if end_column is None else end_column + 1)
    elif delta == 0 and column < 80 and 0 <= end_column - column < 16:
        _append_head(table, column >> 3, units)
        table.append((column & 7) << 4 | end_column - column)
    else:
        _append_head(table, _ONE_LINE + delta, units)
        table += bytes((column, end_column))
    return line


def _fits_short(delta: int, column: int, end_column: int) -> bool:
    return 0 <= delta <= 2 and column < 128 and end_column < 128


def _append_head(table: bytearray, kind: int, units: int) -> None:
    table.append(0x80 | kind << 3 | units - 1)


def _append_unsigned(table: bytearray, value: int) -> None:
    while value >= 64:
        table.append(0x40 | value & 0x3F)
        value >>= 6
    table.append(value)


def _append_signed(table: bytearray, value: int) -> None:
    _append_unsigned(table, -value << 1 | 1 if value < 0 else value << 1)
