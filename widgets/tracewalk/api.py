"""Provide the functions that people call: trace a function, record a block, compile, load.

torch and the engine are imported when something is traced, so that a saved recording opens without them.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable
from types import CodeType
from typing import Any, TypeVar, overload

from tracer_core import name_files, recording
from tracer_core.recording.arguments import CALLABLE, LABEL, PATH, takes
from tracer_core.recording.trace import RECORDING
from tracewalk.progress import progress
from tracewalk.shown import Trace

F = TypeVar("F", bound=Callable[..., Any])
Backend = Callable[..., Callable[..., Any]]


def _cell_or_file(filename: str) -> str:
    """Return the number of a notebook's cell, or the name of any other file unchanged."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    described = None if shell is None else shell.compile.format_code_name(filename)
    return filename if described is None else " ".join(described)


name_files(_cell_or_file)


class record:
    """Record everything that this thread runs inside the block. The trace is complete when the block ends, also by an
    exception.

        with tw.record() as t:
            model(x)
        t.breaks

    Your functions that the block calls are traced anew, and their graphs run as they are. Functions compiled with
    `compile` keep their back end and their versions.

    Args:
        label: the name of the recording, for people.
        dynamic: as for `compile`, for functions that are not compiled already.
        level: `"dispatch"` also records the steps of the dispatcher: those of `tracer_core.make_fx` inside the block,
            and, when the block ends, those under each node of the captured graphs, forward and backward.

    Raises:
        ValueError: there is no such level.
    """

    @takes(label=LABEL)
    def __init__(self, label: str = "", *, dynamic: bool | None = None, level: str = "bytecode") -> None:
        if level not in LEVELS:
            raise ValueError(f"level must be one of {', '.join(LEVELS)}, but is {level!r}.")
        self._label = label
        self._level = level
        self._dynamic = dynamic
        self._leave: Callable[[], None] | None = None

    def __enter__(self) -> Trace:
        from tracer_core import enabled, make_config
        from tracer_core.observer import observing

        if self._leave is not None:
            raise RuntimeError("This tw.record() is already in use; create another one for a nested block.")
        from tracer_core.fixes import KeepingDispatchRecorder, KeepingRecorder

        trace = Trace()
        recorder = (KeepingDispatchRecorder if self._level == "dispatch" else KeepingRecorder)(self._label)
        trace.kept = recorder.kept
        watch = observing(recorder)
        # The hook is installed last and removed first, so that no frame of this module is traced.
        hook = enabled(make_config(backend=_run_as_it_is(), dynamic=self._dynamic))
        shown = progress(lambda: f"Tracing: {recorder.so_far()}")

        def leave() -> None:
            try:
                hook.__exit__(None, None, None)
                if isinstance(recorder, recording.DispatchRecorder):
                    for node in recorder.live.calls:
                        recorder.live.trace(node, recorder)
                trace.fill(recorder.finish(), recorder.live)
                remember(trace)
            finally:
                hook.__exit__(None, None, None)  # Ctrl-C may have come as the first call began.
                watch.__exit__(None, None, None)
                shown.__exit__(None, None, None)

        self._leave = leave
        try:
            shown.__enter__()
            watch.__enter__()
            hook.__enter__()
        except BaseException:  # Ctrl-C, which comes after a call
            self.__exit__()
            raise
        return trace

    def __exit__(self, *exception: object) -> None:
        leave, self._leave = self._leave, None
        if leave is not None:
            leave()


LEVELS = ("bytecode", "dispatch")


@takes(fn=CALLABLE)
def trace(fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Trace:
    """Run `fn(*args, **kwargs)` once through the engine, and return the recording. The graphs run as they are.

    No compiled version is reused, so that every step is recorded, however often `fn` is traced. The result of `fn` is
    discarded; to keep it, or to choose a back end, use `record` and `compile`. An exception of `fn` propagates, with
    a note that `last_trace()` returns the recording up to it.
    """
    __tracebackhide__ = True
    compiled = compile(fn, backend=_run_as_it_is())
    with record(label_of(fn)) as recorded:
        try:
            compiled(*args, **kwargs)
        except BaseException as error:
            with contextlib.suppress(AttributeError):
                error.__trace__ = recorded  # type: ignore[attr-defined]
            error.add_note("tracewalk recorded the run up to here: tracewalk.last_trace() gives the recording.")
            raise
    return recorded


_last: list[Trace] = []


def remember(trace: Trace) -> None:
    """Make `trace` the most recent recording."""
    _last[:] = [trace]


def last_trace() -> Trace:
    """Return the most recent recording, of a `trace`, a `record` block or a `%%trace` cell, also if an exception
    ended it.

    Raises:
        LookupError: nothing has been recorded yet.
    """
    if not _last:
        raise LookupError("Nothing has been recorded yet: call tracewalk.trace(fn, ...), or use tracewalk.record().")
    return _last[0]


def _run_as_it_is() -> Callable[..., Any]:
    """Return a new back end that runs graphs as they are. A new one, since versions are shared by back end."""

    def backend(graph: Any, _example_inputs: Any) -> Any:
        return graph.forward

    return backend


@overload
def compile(
    fn: F,
    /,
    *,
    backend: str | Backend = ...,
    dynamic: bool | None = ...,
    fullgraph: bool = ...,
    mode: str | None = ...,
    options: dict[str, Any] | None = ...,
    disable: bool = ...,
) -> F: ...


@overload
def compile(
    fn: None = None,
    /,
    *,
    backend: str | Backend = ...,
    dynamic: bool | None = ...,
    fullgraph: bool = ...,
    mode: str | None = ...,
    options: dict[str, Any] | None = ...,
    disable: bool = ...,
) -> Callable[[F], F]: ...


def compile(
    fn: Any = None,
    /,
    *,
    backend: str | Backend = "inductor",
    dynamic: bool | None = None,
    fullgraph: bool = False,
    mode: str | None = None,
    options: dict[str, Any] | None = None,
    disable: bool = False,
) -> Any:
    """Compile `fn`: capture graphs of it and of the functions it calls, and run them through a back end, with the
    results of plain Python. Also a decorator.

    Args:
        fn: a function, method or `nn.Module`; None to use it as a decorator.
        backend: a name (`"eager"` runs the graphs as they are), or a function of (graph, example inputs) that
            returns a callable.
        dynamic: True makes sizes symbolic from the start, False never does, None makes sizes symbolic once they vary.
        fullgraph: raise `tracer_core.errors.Unsupported` where the graph would break.
        mode: as for `torch.compile`, for `"inductor"`.
        options: options of the engine and of the back end.
        disable: return `fn` unchanged.
    """
    import tracer_core

    return tracer_core.compile(
        fn, backend=backend, dynamic=dynamic, fullgraph=fullgraph, mode=mode, options=options, disable=disable
    )


@takes(path=PATH)
def load(path: str | os.PathLike[str]) -> Trace:
    """Read a recording that `Trace.save` wrote. Needs no torch, and executes no part of the file.

    Raises:
        tracer_core.recording.TraceFileError: the file is not a whole recording that this version can read.
    """
    with progress(lambda: f"Loading {path} ({os.path.getsize(path) / 1e6:.0f} MB)"):
        return Trace(recording.load(path).data)


@takes(recorded=RECORDING)
def story(recorded: recording.Trace) -> recording.Story:
    """Tell a recording as some ten stations: the call, an operation, a guard, a break, the code that runs instead.

    Each is a sentence, a step, and what to look at there. A notebook shows them in the explorer, to be clicked
    through; `print` shows them as text.
    """
    return recorded.story()


def label_of(fn: Callable[..., Any]) -> str:
    """Return the name of what is traced, for people: a lambda's has its line."""
    name = str(getattr(fn, "__qualname__", None) or type(fn).__qualname__).rpartition("<locals>.")[2]
    code = getattr(fn, "__code__", None)
    return f"{name}, line {code.co_firstlineno}" if name == "<lambda>" and isinstance(code, CodeType) else name
