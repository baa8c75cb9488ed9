"""Every program under `programs/`, one test each."""

from __future__ import annotations

import zlib

import pytest

from tests.conformance.compare import explain, judge
from tests.conformance.lists import BY_TORCH, NOT_YET, PINNED, is_pinned, pin, torch_does_the_same
from tests.conformance.pool import Runner, Workers
from tests.conformance.program import Listed, list_programs

PROGRAMS = list_programs()
NOT_YET_AS_TORCH, PINS, TRACED_BY_TORCH = NOT_YET.read(), PINNED.read(), BY_TORCH.read()


def is_recorded(program: Listed) -> bool:
    """Whether it is among the sixth whose recordings are read here, or reaches the limit of recursion, which comes
    sooner in a recording. `python -m tests.conformance` reads all."""
    return zlib.crc32(program.id.encode()) % 6 == 0 or "recursi" in program.id


@pytest.fixture(scope="module")
def runner(workers: Workers) -> Runner:
    return Runner(workers, recorded=is_recorded)


def parameter(program: Listed) -> object:
    return pytest.param(program, id=program.id, marks=[pytest.mark.row(row) for row in program.rows])


@pytest.mark.parametrize("program", [parameter(each) for each in PROGRAMS])
def test_program(program: Listed, runner: Runner) -> None:
    """Torch is not run where a program is meant to differ from it (`differs=`), as its pin says what our engine does,
    or where `by_torch.txt` says that it does just the same. `python -m tests.conformance` runs it for all."""
    records = {way: runner.run(program, way) for way in ("plain", "ours")}
    if program.differs is None and not torch_does_the_same(program, records["ours"], TRACED_BY_TORCH):
        records["torch"] = runner.run(program, "torch")
    verdict = judge(program, records)
    details = "\n".join(explain(records))
    assert not verdict.entry, details
    assert not verdict.wrong, f"not as plain Python in {', '.join(verdict.wrong)}\n{details}"
    assert not verdict.unclear, "names of the engine's own in what a person reads\n" + "\n".join(verdict.unclear)
    if is_pinned(program, NOT_YET_AS_TORCH):
        assert pin(records["ours"]) == PINS.get(program.id), (
            "not as in pinned.txt: look at why, then run `python -m tests.conformance --way ours --update`"
            f" with `--only {program.id}`\n{details}"
        )
    if program.id in NOT_YET_AS_TORCH:
        assert verdict.differs, f"{program.id} now traces as torch.compile does: take its line out of not_yet.txt"
    else:
        assert not verdict.differs, f"not as torch.compile in {', '.join(verdict.differs)}\n{details}"


def test_the_lists_name_programs() -> None:
    programs = {program.id for program in PROGRAMS}
    pinned = {program.id for program in PROGRAMS if is_pinned(program, NOT_YET_AS_TORCH)}
    assert not NOT_YET_AS_TORCH.keys() - programs, "not_yet.txt names programs that do not exist"
    assert not TRACED_BY_TORCH.keys() - {program.id for program in PROGRAMS if program.differs is None}, (
        "by_torch.txt names programs that do not exist, or that are not compared with torch's"
    )
    assert not PINS.keys() - pinned, "pinned.txt names programs that do not exist, or that are compared with torch's"
