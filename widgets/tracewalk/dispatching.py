"""Record the dispatcher's steps of a function."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tracer_core import recording
from tracer_core.recording.arguments import CALLABLE, takes
from tracewalk.shown import Trace


@takes(fn=CALLABLE)
def trace_dispatch(
    fn: Callable[..., Any],
    /,
    *args: Any,
    kwargs: Mapping[str, Any] | None = None,
    decomposition_table: Mapping[Any, Callable[..., Any]] | None = None,
    tracing_mode: str = "fake",
    pre_dispatch: bool = False,
) -> Trace:
    """Trace `fn(*args, **kwargs)` with `tracer_core.make_fx`, and return the recording of each dispatcher step:
    `trace.dispatch`. An exception of `fn` propagates, with a note that `last_trace()` returns the recording up to it.

    Args:
        fn: a function or module. Its parameters, and other tensors that it uses beside its arguments, become
            attributes of the graph.
        kwargs: keyword arguments of `fn`.
        decomposition_table: functions that compute operators by others, as `torch._decomp.core_aten_decompositions()`
            returns.
        tracing_mode: `fake` computes no values, `symbolic` also keeps sizes as symbols, `real` runs `fn`.
        pre_dispatch: trace above autograd, where composite operators are whole.
    """
    from tracer_core import make_fx
    from tracer_core.observer import observing
    from tracewalk import api

    keywords = dict(kwargs or {})

    def called(args: Any, keywords: Any) -> Any:
        return fn(*args, **keywords)

    traced = make_fx(called, decomposition_table, tracing_mode, True, pre_dispatch=pre_dispatch)
    name = api.label_of(fn)
    trace, recorder = Trace(), recording.DispatchRecorder(name)
    with observing(recorder):
        try:
            with recorder.dispatching(name) as run:
                recorder.complete_run(run, traced(args, keywords).code)
        except BaseException as error:
            error.add_note("tracewalk recorded the steps up to here: tracewalk.last_trace() gives the recording.")
            raise
        finally:
            trace.fill(recorder.finish())
            api.remember(trace)
    return trace
