"""Where the explorer runs parts of the program: never beside a cell."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from types import SimpleNamespace

import pytest
from tornado.ioloop import IOLoop

from tracewalk import host


@pytest.fixture
def cells(monkeypatch: pytest.MonkeyPatch) -> Iterator[IOLoop]:
    """The loop of a kernel that runs cells in a thread of their own."""
    loops: list[IOLoop] = []
    started = threading.Event()

    def run() -> None:
        loops.append(IOLoop(make_current=True))
        loops[0].add_callback(started.set)
        loops[0].start()
        loops[0].close()

    thread = threading.Thread(target=run)
    thread.start()
    started.wait(10)
    shell = SimpleNamespace(kernel=SimpleNamespace(io_loop=loops[0]))
    monkeypatch.setattr(host, "get_ipython", lambda: shell)
    yield loops[0]
    loops[0].add_callback(loops[0].stop)
    thread.join(10)


def in_a_thread(work: Callable[[], object]) -> list[object]:
    """Return what comes of the work in another thread: its result, or its exception."""
    came: list[object] = []

    def run() -> None:
        try:
            came.append(host.between_cells(work))
        except BaseException as error:  # noqa: BLE001 - compared
            came.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join(10)
    return came


def test_work_waits_for_the_cell_that_runs_and_has_its_thread(cells: IOLoop) -> None:
    happened: list[str] = []
    threads: list[threading.Thread] = []

    def cell() -> None:
        threads.append(threading.current_thread())
        happened.append("cell begins")
        time.sleep(0.2)
        happened.append("cell ends")

    def work() -> str:
        threads.append(threading.current_thread())
        happened.append("work")
        return "done"

    cells.add_callback(cell)
    while not happened:
        time.sleep(0.001)
    assert in_a_thread(work) == ["done"]
    assert happened == ["cell begins", "cell ends", "work"]
    assert threads[0] is threads[1]


@pytest.mark.parametrize("error", [ValueError("mine"), KeyboardInterrupt(), StopIteration()])
def test_what_the_work_raises_is_raised_where_it_is_waited_for(cells: IOLoop, error: BaseException) -> None:
    def work() -> None:
        raise error

    assert in_a_thread(work) == [error]


def test_without_a_kernel_it_runs_at_once() -> None:
    assert in_a_thread(threading.current_thread) != [threading.current_thread()]
    assert host.between_cells(threading.current_thread) is threading.current_thread()
