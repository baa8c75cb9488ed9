"""What all tests share: nothing compiled at the start, rows of the engine's table, profiles, and no silent skips."""

from __future__ import annotations

import gc
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from hypothesis import settings
from torch._C._dynamo import eval_frame

import tracer_core
from tests import rows, units
from tests.conformance.pool import Workers
from tests.untimed_guards import leave_guards_untimed
from tracer_core.host.global_state import PROPERTIES

ROOT = Path(__file__).resolve().parents[1]
IN_CI = os.environ.get("CI") == "true"

settings.register_profile("dev", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True, print_blob=True)
settings.load_profile("ci" if IN_CI else "dev")


LONGER = dict.fromkeys(("browser", "conformance", "models", "notebooks", "test_packaging.py"), 1800)
"""Seconds that a test may take, in parts of this folder where one waits for a browser, a kernel, an installation, or
for all programs at once. (pyproject.toml says what others may.)"""


def pytest_collection_finish() -> None:
    leave_guards_untimed()
    # What modules hold stays to the end. Python's collector need not look through it again and again: a full
    # collection takes a quarter of a second else, and many tests ask for one.
    gc.collect()
    gc.freeze()


@pytest.fixture
def nothing_frozen() -> Iterator[None]:
    """Python's collector is as in a process of a user: the engine sets older objects aside where it collects."""
    gc.unfreeze()
    yield
    gc.freeze()


@pytest.fixture(autouse=True)
def nothing_compiled() -> Iterator[None]:
    """Each test starts and ends with nothing compiled and the hook off."""
    tracer_core.reset()
    assert eval_frame.get_eval_frame_callback() is None
    yield
    assert eval_frame.get_eval_frame_callback() is None
    tracer_core.reset()


@pytest.fixture(autouse=True)
def settings_as_they_were() -> Iterator[None]:
    """A test leaves torch's settings as it found them: a later one may compare threads, which have their own."""
    before = {name: setting.read() for name, setting in PROPERTIES.items()}
    yield
    after = {name: setting.read() for name, setting in PROPERTIES.items()}
    changed = {name: (before[name], after[name]) for name in before if before[name] != after[name]}
    assert not changed, f"settings the test left changed (before, after): {changed}"


@pytest.fixture
def optimizers_unmarked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Once `torch.compile` is used, it marks parts of torch's optimizers as not to be compiled, for good. Here they
    are as in a process that has not used it."""
    for cls in vars(torch.optim).values():
        for name, part in list(vars(cls).items()) if isinstance(cls, type) else []:
            unmarked = getattr(part, "_torchdynamo_orig_callable", None)
            if unmarked is not None:
                monkeypatch.setattr(cls, name, unmarked)


@pytest.fixture
def ctrl_c() -> Iterator[None]:
    """Ctrl-C is handled as in a terminal, wherever the tests were started: `nohup`, and some CI, have it ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--rows", action="store_true", help="print which rows of docs/engine-rows.md are done")


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(_RowCounter(), "tracewalk-rows")
    config.pluginmanager.register(units, "tracewalk-units")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Refuse marks of rows that do not exist, and give those tests more time that need it."""
    known = {clause.row for clause in rows.clauses()}
    for item in items:
        seconds = LONGER.get(item.path.relative_to(ROOT / "tests").parts[0])
        if seconds is not None and item.get_closest_marker("timeout") is None:
            item.add_marker(pytest.mark.timeout(seconds))
        for marker in item.iter_markers("row"):
            unknown = set(marker.args) - known
            if unknown or not marker.args:
                raise pytest.UsageError(
                    f"{item.nodeid}: @pytest.mark.row{marker.args} names no row of docs/engine-rows.md"
                )


class _RowCounter:
    """Notes which tests passed, over all worker processes, and prints for `--rows` which clauses they show."""

    def __init__(self) -> None:
        self.passed: set[str] = set()
        self.failed: set[str] = set()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call":
            (self.passed if report.passed else self.failed).update(rows.names_of_test(report.nodeid))

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if not terminalreporter.config.getoption("--rows"):
            return
        shown = self.passed - self.failed
        by_row: dict[str, list[rows.Clause]] = {}
        for clause in rows.clauses():
            by_row.setdefault(clause.row, []).append(clause)
        terminalreporter.section("rows: clauses shown")
        done = 0
        for row, parts in by_row.items():
            count = sum(not each.is_open and shown.issuperset(each.shown_by) for each in parts)
            is_open = any(each.is_open for each in parts)
            done += count == len(parts)
            terminalreporter.write_line(f"{row:>4} {count:>3} of {len(parts)}{', open' if is_open else ''}")
        terminalreporter.write_line(f"{done} of {len(by_row)} rows are done")


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
def workers() -> Iterator[Workers]:
    """The processes that run conformance programs, one pair for all tests: loading torch takes seconds."""
    workers = Workers()
    yield workers
    workers.close()


@pytest.fixture(scope="session")
def artifacts() -> Path:
    """Where tests leave what people may want to look at afterwards, e.g. screenshots. Not part of the repository."""
    folder = ROOT / "test-artifacts"
    folder.mkdir(exist_ok=True)
    return folder
