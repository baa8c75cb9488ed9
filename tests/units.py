"""How pytest-xdist gives the tests to its processes: in units, each of which one process runs from start to end.

A file is a unit, so that its tests create once what they share: a recording, a kernel, a census of all operators.
Two folders are units as a whole, since two JupyterLabs at a time would only wait for each other. The conformance
programs, a large part of all work, share no more than the file that defines them: they come last, and in many units,
so that the processes end together.
"""

from __future__ import annotations

from typing import Any

import pytest

WHOLE_FOLDERS = ("tests/browser/", "tests/notebooks/")
PROGRAMS = "tests/conformance/test_conformance.py::test_program["


def unit_of(node_id: str) -> str:
    """Return the name of the test's unit: a folder, a file of programs, or a file of tests."""
    for folder in WHOLE_FOLDERS:
        if node_id.startswith(folder):
            return folder
    if node_id.startswith(PROGRAMS):
        return node_id.removeprefix(PROGRAMS).partition(".")[0]
    return node_id.partition("::")[0]


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: item.nodeid.startswith(PROGRAMS))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Return a scheduler of our units. (pytest-xdist has a mark for groups. It has no effect with pytest 9.2.)"""
    from xdist.scheduler import LoadScopeScheduling

    class ByUnit(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return unit_of(nodeid)

    config.option.loadscopereorder = False  # else the units with most tests, the programs, would come first
    return ByUnit(config, log)
