"""The processes of pytest-xdist run whole units, and the programs come last."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.units import next_unit, unit_of

ROOT = Path(__file__).resolve().parents[1]

SHARING = """
import os
from pathlib import Path
import pytest

@pytest.fixture(scope="module")
def shared(pytestconfig):
    with open(pytestconfig.rootpath / "created", "a") as log:
        print(Path(__file__).name, file=log)

@pytest.mark.parametrize("name", ["one.a", "one.b", "two.a", "two.b"])
def test_program(name, shared, pytestconfig):
    with open(pytestconfig.rootpath / "ran", "a") as log:
        print(os.environ["PYTEST_XDIST_WORKER"], Path(__file__).name, name, file=log)
"""


@pytest.mark.parametrize(
    ("node_id", "unit"),
    [
        ("tests/graph/test_marks.py::test_a[x::y]", "tests/graph/test_marks.py"),
        ("tests/browser/test_fixes.py::test_a", "tests/browser/"),
        ("tests/browser/test_jupyterlab.py::test_a[1.5]", "tests/browser/"),
        ("tests/conformance/test_conformance.py::test_program[lists.append]", "lists"),
        ("tests/conformance/test_conformance.py::test_the_lists", "tests/conformance/test_conformance.py"),
        ("tests/aot/test_programs.py::test_program[lists.append]", "tests/aot/test_programs.py"),
    ],
)
def test_units(node_id: str, unit: str) -> None:
    assert unit_of(node_id) == unit


UNITS = ["tests/aot/test_a.py", "tests/browser/", "lists"]


@pytest.mark.parametrize(
    ("units", "extra", "unit"),
    [
        (UNITS, False, "tests/aot/test_a.py"),
        (UNITS[1:], False, "lists"),
        (UNITS[1:2], False, "tests/browser/"),
        (UNITS, True, "tests/browser/"),
        ([UNITS[0], UNITS[2]], True, None),
        ([], False, None),
    ],
)
def test_what_waits_is_left_to_the_extra_process(units: list[str], extra: bool, unit: str | None) -> None:
    assert next_unit(units, extra=extra) == unit


def test_a_process_runs_a_unit_from_start_to_end(tmp_path: Path) -> None:
    files = ("browser/test_page.py", "conformance/test_conformance.py", "test_other.py", "test_third.py")
    for file in files:
        path = tmp_path / "tests" / file
        path.parent.mkdir(exist_ok=True, parents=True)
        path.write_text(SHARING)
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    (tmp_path / "conftest.py").write_text("import os\nos.cpu_count = lambda: 2\n")
    command = [sys.executable, "-m", "pytest", "-n", "3", "-p", "tests.units", "--import-mode=importlib"]
    env = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    created = (tmp_path / "created").read_text().split()
    assert [created.count(name) for name in ("test_page.py", "test_other.py", "test_third.py")] == [1, 1, 1]
    ran = [line.split() for line in (tmp_path / "ran").read_text().splitlines()]
    of_programs = {(name.partition(".")[0], process) for process, file, name in ran if file == "test_conformance.py"}
    assert sorted(unit for unit, _ in of_programs) == ["one", "two"], "one process for each"
    assert {(process, file) for process, file, _ in ran if process == "gw2" or file == "test_page.py"} == {
        ("gw2", "test_page.py")
    }, "one process more than processors, for the browser alone"
    of_others = [file for process, file, _ in ran if process != "gw2"]
    assert {*of_others[:4]} <= {"test_other.py", "test_third.py"}, "programs come last"
