"""Convert a recording to tables: lists of rows with the same columns."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from tracer_core.recording import schema
from tracer_core.recording.codes import line_of
from tracer_core.recording.damage import reading
from tracer_core.recording.overview import where
from tracer_core.recording.pace import paced

if TYPE_CHECKING:
    from tracer_core.recording.trace import Trace

Row = dict[str, Any]
TABLES: dict[str, Callable[[Trace], Iterator[Row]]] = {}


def rows(trace: Trace, what: str) -> list[Row]:
    """Return the rows of the table `what`.

    Raises:
        ValueError: there is no such table.
    """
    table = TABLES.get(what)
    if table is None:
        raise ValueError(f"There is no table {what!r}; choose one of {', '.join(TABLES)}.")
    total = len(trace) if what == "steps" else 0
    return reading(lambda: list(paced(table(trace), total)))()


def _table(function: Callable[[Trace], Iterator[Row]]) -> Callable[[Trace], Iterator[Row]]:
    TABLES[function.__name__.removeprefix("_")] = function
    return function


@_table
def _steps(trace: Trace) -> Iterator[Row]:
    data, reader = trace.data, trace.index.steps
    lines: dict[tuple[int, int], int | None] = {}
    for step, (number, at) in enumerate(zip(reader.frame, reader.instruction, strict=True)):
        frame = data.frames[number]
        code = data.codes[frame.code]
        instruction = code.instructions[at]
        if (code.id, at) not in lines:
            lines[code.id, at] = line_of(code.instructions, at)
        yield {
            "step": step,
            "attempt": frame.attempt,
            "frame": number,
            "depth": frame.depth,
            "function": code.qualname,
            "file": code.filename,
            "line": lines[code.id, at],
            "opname": instruction.opname,
            "op": instruction.op,
            "arg": instruction.arg,
            "ended": bool(reader.ended[step]),
            "nodes": len(trace.index.nodes.get(step, ())),
            "guards": len(trace.index.guards.get(step, ())),
        }


@_table
def _calls(trace: Trace) -> Iterator[Row]:
    for call in trace.calls:
        failed = next((check for check in call.checks if not check.reused), None)
        yield {
            "call": call.id,
            "function": trace.codes[call.code].qualname,
            "number": call.number,
            "outcome": call.outcome,
            "version": call.version,
            "compilation": call.compilation,
            "tried": len(call.checks),
            "first_failed": failed.text if failed is not None else None,
            "seen": failed.seen if failed is not None else None,
            "message": call.message,
        }


@_table
def _checks(trace: Trace) -> Iterator[Row]:
    for call in trace.calls:
        for check in call.checks:
            yield {
                "call": call.id,
                "function": trace.codes[call.code].qualname,
                "version": check.version,
                "reused": check.reused,
                "guard": check.failed,
                "text": check.text,
                "seen": check.seen,
                "asked_for": _where(trace, check.place),
                "library": _where(trace, check.library),
            }


def _where(trace: Trace, place: schema.Place | None) -> str | None:
    return None if place is None else where(trace, place.code, place.line)


def _records(name: str) -> Callable[[Trace], Iterator[Row]]:
    """Register a table with one row per record its fields as columns, and the function's name where it has a code."""

    def table(trace: Trace) -> Iterator[Row]:
        for record in getattr(trace.data, name):
            row = {field: getattr(record, field) for field in record.__struct_fields__}
            if row.get("code") is not None and name != "graphs":
                row["function"] = trace.codes[row["code"]].qualname
            if "library" in row:
                row["file"] = None if row["code"] is None else trace.codes[row["code"]].filename
                row["library"] = _where(trace, row["library"])
            if isinstance(record, schema.Node):
                row["fakes"] = [f"{fake.dtype}[{', '.join(fake.shape)}]" for fake in record.fakes]
            yield row

    return table


_RECORDS = (
    "guards",
    "breaks",
    "notices",
    "nodes",
    "frames",
    "attempts",
    "compilations",
    "symbols",
    "side_effects",
    "bodies",
)
for _name in _RECORDS:
    TABLES[_name] = _records(_name)
