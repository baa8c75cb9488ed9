"""tracewalk: a step debugger for graph capture, in a notebook.

Comes in: functions that use torch, or cells under `%%trace`. Goes out: recordings (`Trace`) that show themselves in
the explorer, and as stand-alone pages. The engine is `tracer_core`; this package shows what it recorded.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tracewalk.api import compile, last_trace, load, record, trace
from tracewalk.shown import Trace

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

    from tracewalk.explorer import Explorer

__all__ = ["Explorer", "Trace", "compile", "last_trace", "load", "load_ipython_extension", "record", "trace"]


def __getattr__(name: str) -> Any:
    if name == "Explorer":
        from tracewalk.explorer import Explorer

        return Explorer
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def load_ipython_extension(shell: InteractiveShell) -> None:
    """What `%load_ext tracewalk` calls: adds the cell magic `%%trace`."""
    from tracewalk.magics import load_ipython_extension as load_magics

    load_magics(shell)
