"""The committed lists of programs, a line each: `not_yet.txt`, `pinned.txt` and `by_torch.txt`. `--update` writes
them."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from tests.conformance.compare import TRACING, traced
from tests.conformance.pool import harness_digest
from tests.conformance.program import Listed
from tests.conformance.ways import Record

FOLDER = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class ProgramList:
    """A file of lines `program: what is noted of it`."""

    path: Path
    head: str

    def read(self) -> dict[str, str]:
        """What is noted of each program."""
        if not self.path.exists():
            return {}
        lines = [line for line in self.path.read_text().splitlines() if line.strip() and not line.startswith("#")]
        return {name.strip(): what.strip() for name, _, what in (line.partition(":") for line in lines)}

    def write(self, entries: Mapping[str, str], judged: Iterable[str]) -> None:
        """Replace the entries of the `judged` programs by `entries`; those of others stay."""
        judged = set(judged)
        kept = {name: what for name, what in self.read().items() if name not in judged}
        lines = [f"{name}: {what}\n" for name, what in sorted({**kept, **entries}.items())]
        self.path.write_text(self.head + "".join(lines))


NOT_YET = ProgramList(
    FOLDER / "not_yet.txt",
    "# Programs whose graphs, operators or compilations are not yet those of torch.compile, and in what.\n"
    "# Results, side effects, exceptions and output have no such list. `--update` writes this one.\n",
)
PINNED = ProgramList(
    FOLDER / "pinned.txt",
    "# Programs whose graphs are not compared one by one with torch.compile (`differs=`, or in not_yet.txt), and\n"
    "# what our engine does with them: for each call the graphs that ran, the operators in them, and the graphs\n"
    "# that were compiled. A change here is to be looked at. `--update --way ours` writes this one.\n",
)

BY_TORCH = ProgramList(
    FOLDER / "by_torch.txt",
    "# How torch.compile traces each program that is compared with it: a digest of the graphs, operators and\n"
    "# compilations of each call, and of what they depend on: the program's file, torch, and how programs are run.\n"
    "# A line that is missing or out of date costs time: torch runs the program. `--update` writes this one.\n",
)
ASKED_AGAIN = 10
"""Of as many programs, torch runs one each time, whatever the list says."""


def is_pinned(program: Listed, not_yet: Mapping[str, str]) -> bool:
    """Whether only our own record says how often the program breaks and recompiles."""
    return program.differs is not None or program.id in not_yet


def pin(record: Record) -> str:
    """Graphs run, operators in them and graphs compiled, call by call; of equal calls in a row one, with a count."""
    calls = [f"{len(call.ran)} {sum(map(len, call.ran))} {call.compiled}" for call in record.calls]
    runs: list[tuple[str, int]] = []
    for each in calls:
        if runs and runs[-1][0] == each:
            runs[-1] = (each, runs[-1][1] + 1)
        else:
            runs.append((each, 1))
    return ", ".join(each if count == 1 else f"{each} x{count}" for each, count in runs)


def moved_pins(records: Mapping[Listed, Record]) -> dict[str, tuple[str, str]]:
    """Programs that are not as pinned: what the list says of each, and what came. Failed runs say nothing."""
    not_yet, pinned = NOT_YET.read(), PINNED.read()
    moved = {}
    for program, record in records.items():
        if is_pinned(program, not_yet) and not record.failure:
            was, now = pinned.get(program.id, "nothing"), pin(record)
            if was != now:
                moved[program.id] = (was, now)
    return moved


def tracing_digest(program: Listed, record: Record) -> str:
    """A digest of how the record was traced, and of what `torch.compile` depends on when it traces the program."""
    versions = f"torch {version('torch').partition('+')[0]}, Python {sys.version_info[:2]}"
    digest = hashlib.sha256(harness_digest(versions) + program.path.read_bytes())
    digest.update(repr((program.id, [traced(record, aspect) for aspect in TRACING])).encode())
    return digest.hexdigest()[:16]


def torch_does_the_same(program: Listed, ours: Record, by_torch: Mapping[str, str]) -> bool:
    """Whether the list says that `torch.compile` traces the program as `ours`. Of some, torch itself is asked."""
    asked_again = int(hashlib.sha256(program.id.encode()).hexdigest(), 16) % ASKED_AGAIN == 0
    return not asked_again and by_torch.get(program.id) == tracing_digest(program, ours)
