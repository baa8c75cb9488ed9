"""What all tests share: rows of the engine's table, artefacts, hypothesis profiles, and no silent skips in CI."""

from __future__ import annotations

import os
import re
import signal
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

ROOT = Path(__file__).resolve().parents[1]
ROWS_PAGE = ROOT / "docs" / "engine-rows.md"
IN_CI = os.environ.get("CI") == "true"

settings.register_profile("dev", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True, print_blob=True)
settings.load_profile("ci" if IN_CI else "dev")


LONGER = dict.fromkeys(("browser", "conformance", "models", "notebooks", "test_packaging.py"), 1800)
"""Seconds that a test may take, in parts of this folder where one waits for a browser, a kernel, an installation, or
for all programs at once. (pyproject.toml says what others may.)"""


@pytest.fixture
def ctrl_c() -> Iterator[None]:
    """Ctrl-C is handled as in a terminal, wherever the tests were started: `nohup`, and some CI, have it ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def engine_rows() -> list[str]:
    """The ids in the first column of the tables in docs/engine-rows.md, in their order."""
    return re.findall(r"^\| ([A-Z]\d+) \|", ROWS_PAGE.read_text(encoding="utf-8"), re.MULTILINE)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--rows", action="store_true", help="print each row of the engine's table with its passing tests"
    )


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(_RowCounter(), "tracewalk-rows")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Write each test's row ids into its report (it travels between processes), and refuse ids that do not exist.
    Give those more time that need it."""
    known = set(engine_rows())
    for item in items:
        seconds = LONGER.get(item.path.relative_to(ROOT / "tests").parts[0])
        if seconds is not None and item.get_closest_marker("timeout") is None:
            item.add_marker(pytest.mark.timeout(seconds))
        for marker in item.iter_markers("row"):
            unknown = set(marker.args) - known
            if unknown or not marker.args:
                raise pytest.UsageError(
                    f"{item.nodeid}: @pytest.mark.row{marker.args} names no row of {ROWS_PAGE.relative_to(ROOT)}"
                )
            item.user_properties += [("row", row) for row in marker.args]


class _RowCounter:
    """Counts passing tests a row, over all worker processes, and prints them for `--rows`."""

    def __init__(self) -> None:
        self.passed: Counter[str] = Counter()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call" and report.passed:
            self.passed.update(str(value) for name, value in report.user_properties if name == "row")

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if not terminalreporter.config.getoption("--rows"):
            return
        rows = engine_rows()
        terminalreporter.section("rows: passing tests")
        for row in rows:
            terminalreporter.write_line(f"{row:>4} {self.passed[row]:>5}")
        done = sum(1 for row in rows if self.passed[row])
        terminalreporter.write_line(f"{done} of {len(rows)} rows have a passing test")


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """In CI a skipped test is a missing part of the machine, so it fails the run."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if not IN_CI or reporter is None or session.exitstatus not in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED):
        return
    skipped = reporter.stats.get("skipped", []) + reporter.stats.get("xfailed", [])
    if skipped:
        reporter.write_line(f"\nCI: {len(skipped)} tests were skipped or expected to fail; none may be", red=True)
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


@pytest.fixture(scope="session")
def artifacts() -> Path:
    """Where tests leave what people may want to look at afterwards, e.g. screenshots. Not part of the repository."""
    folder = ROOT / "test-artifacts"
    folder.mkdir(exist_ok=True)
    return folder
