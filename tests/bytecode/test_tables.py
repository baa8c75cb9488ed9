"""The line table and the exception table, on any content."""

from __future__ import annotations

import dis
from itertools import islice

from hypothesis import given
from hypothesis import strategies as st

from tracer_core.bytecode import Span
from tracer_core.bytecode.exception_table import TableEntry, encode_exception_table, parse_exception_table
from tracer_core.bytecode.line_table import encode_line_table


def _template() -> None: ...


columns = st.one_of(st.none(), st.integers(0, 200), st.integers(0, 100_000))


@st.composite
def spans(draw: st.DrawFn) -> Span | None:
    if draw(st.integers(0, 5)) == 0:
        return None
    line = draw(st.one_of(st.integers(1, 30), st.integers(1, 1_000_000)))
    end_line = line + draw(st.one_of(st.just(0), st.integers(0, 3), st.integers(0, 100_000)))
    start = draw(columns)
    end = draw(st.one_of(columns, st.just(start), st.builds(lambda more: (start or 0) + more, st.integers(0, 20))))
    return Span(line, end_line, start, end)


@given(st.lists(st.tuples(spans(), st.integers(1, 40)), max_size=30), st.integers(1, 100_000))
def test_python_reads_back_the_places_that_were_written(places: list[tuple[Span | None, int]], first: int) -> None:
    units = sum(size for _, size in places)
    code = _template.__code__.replace(
        co_code=bytes((dis.opmap["NOP"], 0)) * (units + 1),
        co_linetable=encode_line_table([*places, (None, 1)], first),
        co_firstlineno=first,
    )
    expected = [tuple(span or (None,) * 4) for span, size in places for _ in range(size)]
    assert list(islice(code.co_positions(), units)) == expected


@st.composite
def entries(draw: st.DrawFn) -> list[TableEntry]:
    edges = sorted(draw(st.sets(st.integers(0, 1 << 20), max_size=20)))
    return [
        TableEntry(
            2 * start,
            2 * end,
            2 * draw(st.integers(0, 1 << 20)),
            draw(st.integers(0, 5000)),
            draw(st.booleans()),
        )
        for start, end in zip(edges[::2], edges[1::2], strict=False)
    ]


@given(entries())
def test_exception_table_reads_back(table: list[TableEntry]) -> None:
    encoded = encode_exception_table(table)
    assert parse_exception_table(encoded) == table
    code = _template.__code__.replace(co_exceptiontable=encoded)
    told = dis._parse_exception_table(code)  # type: ignore[attr-defined]
    assert [(each.start, each.end, each.target, each.depth, each.lasti) for each in told] == table
