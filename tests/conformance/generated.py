"""Runs generated programs two ways and shrinks the first that differs.

`python -m tests.conformance.generated --count 20000` runs that many; see `grammar` for what they are.
"""

from __future__ import annotations

import argparse
import hashlib
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from hypothesis import HealthCheck, Phase, given, seed, settings

from tests.conformance.compare import BEHAVIOUR, explain, unlike_plain, unlike_torch
from tests.conformance.grammar import programs
from tests.conformance.pool import Workers
from tests.conformance.program import Listed
from tests.conformance.ways import Record

SECONDS = 120.0
"""As long may a program take, one way."""


class Differs(AssertionError):
    """A program that does not do the same two ways."""


class Differential:
    """Runs program texts as plain Python and one compiled way, in the processes of `workers`."""

    def __init__(self, way: str, workers: Workers, *, graphs: bool = False, ignore: Sequence[str] = ()) -> None:
        self.way = way
        self.ignore = ignore
        self.skip: Sequence[str] = ()
        self.graphs = graphs
        self.ran = 0
        self.raised = 0
        self._folder = tempfile.TemporaryDirectory()
        self._workers = workers

    def check(self, text: str) -> None:
        """Raise `Differs`, with everything there is to say, unless both ways agree or the text is to be skipped."""
        if any(each in text for each in self.skip):
            return
        path = Path(self._folder.name) / f"generated_{hashlib.sha1(text.encode()).hexdigest()[:12]}.py"
        path.write_text(text)
        program = Listed(path, "generated", ("I1",), None, "")
        records = {way: self._workers.of(way).run(program, way) for way in ("plain", self.way)}
        self.ran += 1
        self.raised += any(call.outcome.startswith("raised") for call in records["plain"].calls)
        differs = [each for each in unlike_plain(records["plain"], records[self.way]) if each not in self.ignore]
        if self.graphs and not differs:
            records["torch"] = self._workers.of("torch").run(program, "torch")
            if not unlike_plain(records["plain"], records["torch"]):
                differs = unlike_torch(records["torch"], records[self.way])
        path.unlink()
        if differs:
            raise Differs(describe(text, differs, records))

    def close(self) -> None:
        self._folder.cleanup()


def describe(text: str, differs: Sequence[str], records: dict[str, Record]) -> str:
    function = text[text.index("@program") :]
    return "\n".join([f"differs in {', '.join(differs)}", "", function, *explain(records)])


def run(differential: Differential, count: int, *, breaks: bool, size: int, start: int | None) -> None:
    """Check `count` programs; the first that differs is shrunk and raised as `Differs`."""

    @given(programs(breaks=breaks, size=size))
    @settings(
        max_examples=count,
        deadline=None,
        database=None,
        derandomize=start is None,
        phases=[Phase.generate, Phase.shrink],
        suppress_health_check=list(HealthCheck),
        print_blob=False,
    )
    def every(text: str) -> None:
        differential.check(text)

    (every if start is None else seed(start)(every))()


def main(argv: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.conformance.generated", description=__doc__)
    parser.add_argument("--count", type=int, default=200, help="how many programs (default: %(default)s)")
    parser.add_argument("--way", default="ours", choices=["ours", "torch"], help="compared with plain Python")
    parser.add_argument("--graphs", action="store_true", help="compare graphs with torch.compile as well")
    parser.add_argument("--no-breaks", action="store_true", help="without print and branches on values")
    parser.add_argument("--size", type=int, default=12, help="most statements in a program (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=None, help="other programs than the usual ones")
    parser.add_argument("--rounds", type=int, default=1, help="go on with the next seed, this many times")
    parser.add_argument("--ignore", default="", metavar="ASPECT,...", help=f"do not compare: {', '.join(BEHAVIOUR)}")
    parser.add_argument("--skip", action="append", default=[], metavar="TEXT", help="not programs that contain TEXT")
    options = parser.parse_args(argv)
    workers = Workers(SECONDS)
    differential = Differential(options.way, workers, graphs=options.graphs, ignore=options.ignore.split(","))
    differential.skip = options.skip
    seeds = [options.seed] if options.rounds == 1 else range(options.seed or 0, (options.seed or 0) + options.rounds)
    started, found = time.perf_counter(), 0
    try:
        for start in seeds:
            try:
                run(differential, options.count, breaks=not options.no_breaks, size=options.size, start=start)
            except Differs as difference:
                found += 1
                print(f"seed {start}: {difference}\n", flush=True)
    finally:
        differential.close()
        workers.close()
        seconds = time.perf_counter() - started
        print(f"{differential.ran} programs ran, {differential.raised} of them raised, {seconds:.1f} s")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
