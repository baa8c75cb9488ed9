"""Recognize the frames of a notebook's kernel at work: sending output, showing values, keeping the history.

A traced cell enters the kernel (Jupyter's or marimo's) by a `print` or a `display`, and the kernel goes on through
whatever libraries it is built from, which the program may use for itself as well. So its frames are not known by
their libraries, but by who entered them.
"""

from __future__ import annotations

import os
import sys
from types import CodeType
from typing import Any

from tracer_core.frame_eval.origins import folder, is_installed, outer_caller
from tracer_core.names.owners import is_ours

_RUNS_CELLS = (
    *("kernelbase", "ipkernel", "kernelapp", "zmqshell", "embed", "inprocess", "eventloops", "trio_runner"),
    *("control", "thread", "shellchannel", "subshell", "subshell_manager", "debugger", "compiler"),
)
"""Modules of ipykernel that run cells, which are the program's code."""

_SHOWS = (
    *("display", "display_functions", "display_trap", "displayhook", "displaypub", "formatters", "history"),
    *("historyapp", "hooks", "logger", "page", "payload", "payloadpage", "ultratb"),
)
"""Modules of IPython's core that show values and keep the history; others run code for the program."""

_OUTPUT_OF = ("InteractiveShell._tee.", "InteractiveShell.show", "ZMQDisplayPublisher.")
"""Functions of the shell that do the same, by the beginning of their qualified names."""

_KERNEL, _CLIENT, _IPYTHON, _MARIMO = (folder(name) for name in ("ipykernel", "jupyter_client", "IPython", "marimo"))
_CORE = None if _IPYTHON is None else os.path.join(_IPYTHON, "core", "")
_PRETTY = None if _IPYTHON is None else os.path.join(_IPYTHON, "lib", "pretty.py")
_MARIMO_SHOWS = tuple(os.path.join(_MARIMO or os.sep, part, "") for part in ("_messaging", "_output"))
"""The folders of marimo that send output and show values; others run the program's cells and functions."""
_FOLDERS = tuple(found for found in (_KERNEL, _CLIENT, _IPYTHON, _MARIMO) if found is not None)


def kernel_entered(code: CodeType, globals: dict[str, Any]) -> bool:
    """Return whether the kernel entered the starting frame of `code`: code of a library, which no code of the program
    has called."""
    if not ("ipykernel" in sys.modules or "marimo" in sys.modules) or not is_installed(code, globals):
        return False
    caller = outer_caller()
    while caller is not None and not is_ours(caller.f_globals):
        if _path(caller.f_code).startswith(_FOLDERS):
            return True
        if not is_installed(caller.f_code, caller.f_globals):
            return False
        caller = caller.f_back
    return False


def _path(code: CodeType) -> str:
    return os.path.realpath(code.co_filename)


def is_kernels(code: CodeType) -> bool:
    """Return whether `code`, with everything that runs inside it, belongs to the kernel."""
    path = _path(code)
    if path == _PRETTY or (_CLIENT is not None and path.startswith(_CLIENT)):
        return True
    if _KERNEL is not None and path.startswith(_KERNEL):
        return _module(path, _KERNEL) not in _RUNS_CELLS or code.co_qualname.startswith(_OUTPUT_OF)
    if _CORE is not None and path.startswith(_CORE):
        return _module(path, _CORE) in _SHOWS or code.co_qualname.startswith(_OUTPUT_OF)
    return path.startswith(_MARIMO_SHOWS)


def _module(path: str, folder: str) -> str:
    return path.removeprefix(folder).partition(os.sep)[0].removesuffix(".py")
