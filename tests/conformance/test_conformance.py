"""Every program under `programs/`, one test each."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec

import pytest

from tests.conformance import not_yet
from tests.conformance.compare import explain, judge
from tests.conformance.pool import Runner
from tests.conformance.program import Listed, list_programs

PROGRAMS = list_programs()
NOT_YET = not_yet.read()
WAYS = ["plain", "torch", "ours"] if find_spec("tracer_core.codegen") else ["plain", "torch"]


@pytest.fixture(scope="session")
def runner() -> Iterator[Runner]:
    runner = Runner()
    yield runner
    runner.close()


def parameter(program: Listed) -> object:
    return pytest.param(program, id=program.id, marks=[pytest.mark.row(row) for row in program.rows])


@pytest.mark.parametrize("program", [parameter(each) for each in PROGRAMS])
def test_program(program: Listed, runner: Runner) -> None:
    records = {way: runner.run(program, way) for way in WAYS}
    verdict = judge(program, records)
    details = "\n".join(explain(records))
    assert not verdict.entry, details
    assert not verdict.wrong, f"not as plain Python in {', '.join(verdict.wrong)}\n{details}"
    assert not verdict.unclear, "names of the engine's own in what a person reads\n" + "\n".join(verdict.unclear)
    if "ours" not in WAYS:
        return
    if program.id in NOT_YET:
        assert verdict.differs, f"{program.id} now traces as torch.compile does: take its line out of not_yet.txt"
    else:
        assert not verdict.differs, f"not as torch.compile in {', '.join(verdict.differs)}\n{details}"


def test_not_yet_names_programs() -> None:
    unknown = set(NOT_YET) - {program.id for program in PROGRAMS}
    assert not unknown, f"not_yet.txt names programs that do not exist: {', '.join(sorted(unknown))}"
