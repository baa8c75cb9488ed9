"""What people call: trace a function, record a block, compile, load.

torch and the engine are imported when something is traced, so that a saved recording opens without them.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator
from typing import Any

from tracer_core import recording
from tracewalk.shown import Trace


@contextlib.contextmanager
def record(label: str = "") -> Iterator[Trace]:
    """Record what the engine does in this thread inside the block. The trace is complete when the block is left, also
    when an exception leaves it.

        with tw.record() as t:
            compiled(x)
        t.breaks

    Args:
        label: what the recording is of, for people.
    """
    from tracer_core.observer import observing

    trace = Trace()
    recorder = recording.Recorder(label)
    try:
        with observing(recorder):
            yield trace
    finally:
        trace.fill(recorder.finish())


def trace(fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Trace:
    """Run `fn(*args, **kwargs)` once through the engine, and return the recording. The graphs run as they are.

    Nothing that was compiled before is reused, so that every step is there, however often `fn` is traced.
    What `fn` returns is left aside; to have that too, or to choose a back end, use `record` and `compile`.
    An exception of `fn` comes through, and what was recorded until then is its attribute `__trace__`.
    """

    def backend(graph: Any, _example_inputs: Any) -> Any:  # its own: versions are shared by back end
        return graph.forward

    compiled = compile(fn, backend=backend)
    with record(_label(fn)) as recorded:
        try:
            compiled(*args, **kwargs)
        except BaseException as error:
            with contextlib.suppress(AttributeError):
                error.__trace__ = recorded  # type: ignore[attr-defined]
            raise
    return recorded


def compile(fn: Any = None, /, **options: Any) -> Any:
    """`tracer_core.compile`: the engine as a compiler. Takes what `torch.compile` takes; also a decorator."""
    import tracer_core

    return tracer_core.compile(fn, **options)


def load(path: str | os.PathLike[str]) -> Trace:
    """Read a recording that `Trace.save` wrote. Needs no torch, and runs nothing that is in the file.

    Raises:
        tracer_core.recording.TraceFileError: the file is not a whole recording that this version can read.
    """
    return Trace(recording.load(path).data)


def _label(fn: Callable[..., Any]) -> str:
    return str(getattr(fn, "__qualname__", None) or type(fn).__qualname__)
