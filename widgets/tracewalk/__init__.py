"""tracewalk: a step debugger for graph capture, in a notebook.

In: functions that use torch, or cells under `%%trace`. Out: recordings (`Trace`), shown in the explorer or as
stand-alone pages. The engine is `tracer_core`; this package shows its recordings.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tracewalk.api import compile, last_trace, load, record, story, trace
from tracewalk.dispatching import trace_dispatch
from tracewalk.shown import Trace

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

    from tracewalk.explorer import Explorer

__all__ = [
    "Explorer",
    "Trace",
    "compile",
    "last_trace",
    "load",
    "load_ipython_extension",
    "record",
    "story",
    "trace",
    "trace_dispatch",
]


def __getattr__(name: str) -> Any:
    if name == "Explorer":
        from tracewalk.explorer import Explorer

        return Explorer
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def load_ipython_extension(shell: InteractiveShell) -> None:
    """Add the cell magic `%%trace`. `%load_ext tracewalk` calls this."""
    from tracewalk.magics import load_ipython_extension as load_magics

    load_magics(shell)
