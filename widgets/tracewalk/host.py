"""What depends on the program that shows the notebook, and on the kernel: what an explorer's output contains, and the
thread in which the explorer may run parts of the program."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, TypeVar

from IPython.core.getipython import get_ipython

T = TypeVar("T")

_SIGNS = ("DATABRICKS_RUNTIME_VERSION", "DEEPNOTE_PROJECT_ID", "PYCHARM_HOSTED", "VSCODE_PID")
"""Variables in the environment of kernels whose hosts know a widget only once its view is shown."""


def needs_view(shell: Any) -> bool:
    """Return whether the host starts a widget when its view is shown, and not as soon as the kernel creates it.
    JupyterLab, Notebook and those made from them start it at once."""
    if "google.colab" in sys.modules:
        return True
    if "__vsc_ipynb_file__" in getattr(shell, "user_ns", {}):
        return True
    return "JPY_SESSION_NAME" not in os.environ and any(name in os.environ for name in _SIGNS)


def between_cells(work: Callable[[], T]) -> T:
    """Return `work()`, which runs parts of the program. It runs in the kernel's main thread, once the cell that runs
    there has ended: JupyterLab sends the explorer's messages to a thread of their own, where a cell that runs
    meanwhile would see, and change, what the work changes for a moment, as `sys.stdout`."""
    loop = getattr(getattr(get_ipython(), "kernel", None), "io_loop", None)
    if loop is None or threading.current_thread() is threading.main_thread():
        return work()
    done: Future[T] = Future()

    def run() -> None:
        try:
            done.set_result(work())
        except BaseException as error:  # noqa: BLE001 - raised where the work is waited for
            done.set_exception(error)

    loop.add_callback(run)
    return done.result()
