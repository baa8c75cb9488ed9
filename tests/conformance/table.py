"""The table and the shares that the command prints."""

from __future__ import annotations

from collections.abc import Sequence

from tests.conformance.compare import TRACING, Verdict
from tests.conformance.ways import Record


def mark(agrees: bool) -> str:
    return "ok" if agrees else "NO"


def row(verdict: Verdict, records: dict[str, Record], ways: Sequence[str], width: int) -> str:
    """One line: does the behaviour agree, do graphs, operators and compilations, and what to know besides."""
    program = verdict.program
    cells = []
    if "ours" in ways:
        cells.append(mark(not verdict.wrong).ljust(7))
        if "torch" in ways:
            missing = "failure" in verdict.wrong
            cells += [mark(not missing and aspect not in verdict.differs).ljust(len(aspect)) for aspect in TRACING]
    if "torch" in ways:
        cells.append(traced(records["torch"]))
    words = [program.differs] if program.differs else []
    words += [f"WRONG {', '.join(verdict.wrong)}"] if verdict.wrong else []
    words += [record.failure.splitlines()[-1] for record in records.values() if record.failure]
    words += ["breaks more"] if verdict.breaks_more else []
    words += ["internal fault"] if "fault" in verdict.differs else []
    words += ["unclear texts"] if verdict.unclear else []
    words += verdict.entry
    return f"{program.id.ljust(width)}  {' '.join(cells)}  {'; '.join(words)}".rstrip()


def traced(record: Record) -> str:
    """Graphs run, operators in them and graphs compiled, by `torch.compile`."""
    ran = [graph for call in record.calls for graph in call.ran]
    compiled = sum(call.compiled for call in record.calls)
    return f"{len(ran):3} {sum(map(len, ran)):3} {compiled:3}"


def header(ways: Sequence[str], width: int) -> str:
    cells = ["results"] if "ours" in ways else []
    if "ours" in ways and "torch" in ways:
        cells += list(TRACING)
    if "torch" in ways:
        cells.append("torch graphs, operators, compilations")
    return f"{'program'.ljust(width)}  {' '.join(cells)}".rstrip()


def share(part: int, whole: int) -> str:
    return f"{part} of {whole} ({100 * part / whole:.1f} %)" if whole else "none"


def summary(verdicts: Sequence[Verdict], ways: Sequence[str]) -> list[str]:
    """The totals, then the programs that count against us, by name."""
    whole = len(verdicts)
    lines = [f"programs: {whole}"]
    if "ours" in ways:
        lines.append(
            f"results, side effects, exceptions, output as plain Python: "
            f"{share(sum(not v.wrong for v in verdicts), whole)}"
        )
    if "ours" in ways and "torch" in ways:
        compared = [v for v in verdicts if v.program.differs is None]
        for aspect in TRACING:
            agree = sum(aspect not in v.differs and "failure" not in v.wrong for v in compared)
            lines.append(f"{aspect} as torch.compile: {share(agree, len(compared))}")
        lines.append(f"agreement in all: {share(sum(v.agrees for v in verdicts), whole)}")
        lines.append(f"programs that break more than torch.compile: {sum(v.breaks_more for v in verdicts)}")
        lines += [f"  {v.program.id}" for v in verdicts if v.breaks_more]
    lines += [f"internal fault: {v.program.id}" for v in verdicts if "fault" in v.differs]
    lines += [f"wrong: {v.program.id} ({', '.join(v.wrong)})" for v in verdicts if v.wrong]
    lines += [f"unclear: {v.program.id}: {fault}" for v in verdicts for fault in v.unclear]
    lines += [f"entry: {v.program.id}: {fault}" for v in verdicts for fault in v.entry]
    return lines
