"""`python -m tests.conformance`: run programs and print the table."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence

from tests.conformance import table
from tests.conformance.compare import Verdict, explain, judge
from tests.conformance.lists import BY_TORCH, NOT_YET, PINNED, is_pinned, moved_pins, pin, tracing_digest
from tests.conformance.pool import SECONDS, Runner, Workers, ask_ways, run_all
from tests.conformance.program import Listed, list_programs
from tests.conformance.rewriting import ask_rewriting, is_comparable, judge_rewriting
from tests.conformance.ways import EAGER, REWRITING, Record


def arguments(argv: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.conformance", description=__doc__)
    parser.add_argument("--only", action="append", default=[], metavar="NAME", help="programs whose id contains NAME")
    parser.add_argument("--row", action="append", default=[], metavar="ID", help="programs that show row ID, as I3")
    parser.add_argument("--way", default="plain,torch,ours", help="which ways to run (default: %(default)s)")
    parser.add_argument(
        "--backend",
        default=EAGER,
        choices=(EAGER, *REWRITING),
        help="with others than eager, ours is compared with plain Python, but not its graphs (default: %(default)s)",
    )
    parser.add_argument("-j", "--jobs", type=int, default=2, help="programs at a time (default: %(default)s)")
    parser.add_argument(
        "--seconds", type=float, default=SECONDS, help="for a program, one way (default: %(default)s)"
    )
    parser.add_argument("-v", "--verbose", action="store_true", help="show what differs, line by line")
    parser.add_argument("-q", "--quiet", action="store_true", help="show rows that do not agree only")
    parser.add_argument("--fresh", action="store_true", help="run plain Python and torch.compile anew")
    parser.add_argument("--update", action="store_true", help="write pinned.txt, and with torch the other lists")
    return parser.parse_args(argv)


def chosen(programs: list[Listed], only: Sequence[str], rows: Sequence[str]) -> list[Listed]:
    if only:
        programs = [each for each in programs if any(name in each.id for name in only)]
    if rows:
        programs = [each for each in programs if set(rows) & set(each.rows)]
    return programs


def main(argv: Sequence[str]) -> int:
    options = arguments(argv)
    rewrites = options.backend != EAGER
    ways = ["plain", "ours"] if rewrites else options.way.split(",")
    unknown = [way for way in ways if way not in ("plain", "torch", "ours")]
    if unknown:
        print(f"unknown way {unknown[0]!r}: choose from plain, torch, ours")
        return 2
    listed = list_programs(where=is_comparable) if rewrites else list_programs()
    programs = chosen(listed, options.only, options.row)
    if not programs:
        print("no program has that name or row; run without --only and --row to see all")
        return 2
    started = time.perf_counter()
    ask, judged = (ask_rewriting, judge_rewriting) if rewrites else (ask_ways(*ways), judge)

    def runner() -> Runner:
        return Runner(Workers(options.seconds), use_cache=not options.fresh, backend=options.backend)

    results = dict(run_all(programs, ask, runner, jobs=options.jobs))
    verdicts = [judged(program, results[program]) for program in programs]
    show(verdicts, results, ways, options)
    print("\n".join(table.summary(verdicts, ways)))
    print(f"time: {time.perf_counter() - started:.1f} s")
    moved = {}
    if "ours" in ways and not rewrites:
        if options.update:
            update(verdicts, results, ways, everything=programs == listed)
        moved = moved_pins({program: records["ours"] for program, records in results.items()})
        for name, (was, now) in moved.items():
            print(f"not as pinned: {name} ({was} before, {now} now)")
    return 0 if all(v.agrees for v in verdicts) and not moved else 1


def update(
    verdicts: Sequence[Verdict], results: dict[Listed, dict[str, Record]], ways: Sequence[str], *, everything: bool
) -> None:
    """Write the lists from what was found. What failed keeps its line; with `everything` run, other lines go."""
    judged = [v.program.id for v in verdicts]
    if "torch" in ways:
        entries = {v.program.id: ", ".join(v.differs) for v in verdicts if v.differs and not v.wrong}
        NOT_YET.write(entries, NOT_YET.read() if everything else judged)
    if {"plain", "torch"} <= {*ways}:
        BY_TORCH.write(by_torch(verdicts, results), BY_TORCH.read() if everything else judged)
    not_yet = NOT_YET.read()
    ran = [v.program for v in verdicts if not results[v.program]["ours"].failure]
    pins = {each.id: pin(results[each]["ours"]) for each in ran if is_pinned(each, not_yet)}
    failed = {v.program.id for v in verdicts} - {each.id for each in ran}
    PINNED.write(pins, PINNED.read().keys() - failed if everything else [each.id for each in ran])


def by_torch(verdicts: Sequence[Verdict], results: dict[Listed, dict[str, Record]]) -> dict[str, str]:
    """The lines of programs that are to be traced as torch traces them, and that it runs as plain Python does."""
    compared = [v.program for v in verdicts if v.program.differs is None and not v.entry]
    records = {program: results[program]["torch"] for program in compared}
    return {each.id: tracing_digest(each, record) for each, record in records.items() if not record.failure}


def show(
    verdicts: Sequence[Verdict],
    results: dict[Listed, dict[str, Record]],
    ways: Sequence[str],
    options: argparse.Namespace,
) -> None:
    width = max(len(v.program.id) for v in verdicts)
    print(table.header(ways, width))
    for verdict in verdicts:
        if options.quiet and verdict.agrees:
            continue
        print(table.row(verdict, results[verdict.program], ways, width))
        if options.verbose:
            print("\n".join(f"    {line}" for line in explain(results[verdict.program])))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
