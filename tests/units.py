"""How pytest-xdist gives the tests to its processes: in units, each of which one process runs from start to end.

A file is a unit, so that its tests create once what they share: a recording, a kernel, a census of all operators.
Two folders are units as a whole, since two JupyterLabs at a time would only wait for each other. Of more processes
than processors, the last runs these two alone, since it waits for a browser and for kernels most of the time. The
conformance programs, a large part of all work, share no more than the file that defines them: they come last, and in
many units, so that the processes end together.
"""

from __future__ import annotations

import os
from collections.abc import Collection
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


def next_unit(units: Collection[str], *, extra: bool) -> str | None:
    """Return which of the units a process runs next, in their order but for the two folders. An `extra` process runs
    nothing else; the others run them when nothing else is left. None if the process is done."""
    waiting = [unit for unit in units if unit in WHOLE_FOLDERS]
    wanted = waiting if extra else [*(unit for unit in units if unit not in WHOLE_FOLDERS), *waiting]
    return wanted[0] if wanted else None


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

        def _is_extra(self, node: Any) -> bool:
            # (They are in the order in which they were ready.)
            last = max(self.nodes, key=lambda each: int(each.gateway.id.removeprefix("gw")))
            return len(self.nodes) > (os.cpu_count() or 1) and node is last

        def _assign_work_unit(self, node: Any) -> None:
            # (At the start, each process gets a unit.)
            unit = next_unit(self.workqueue, extra=self._is_extra(node)) or next(iter(self.workqueue))
            self.workqueue.move_to_end(unit, last=False)
            super()._assign_work_unit(node)

        def _reschedule(self, node: Any) -> None:
            if next_unit(self.workqueue, extra=self._is_extra(node)) is not None:
                super()._reschedule(node)
            elif not node.shutting_down:
                node.shutdown()  # once it has run what it was given

    config.option.loadscopereorder = False  # else the units with most tests, the programs, would come first
    return ByUnit(config, log)
