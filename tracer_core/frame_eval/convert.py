"""A frame starts and no cached version fits: skip it, or trace it and cache the result."""

from __future__ import annotations

import contextlib
import threading
import time
import traceback
import warnings
import weakref
from collections.abc import Callable, Iterator
from dataclasses import replace
from importlib import import_module
from types import CodeType
from typing import TYPE_CHECKING, Any

from tracer_core import observer as observers
from tracer_core.errors import BackendError, FaultWarning, InternalError, Unsupported
from tracer_core.files import shown_file
from tracer_core.frame_eval import c_frame, engine, lookup
from tracer_core.frame_eval.cache import CodeState, Version, leave_to_python, remember
from tracer_core.frame_eval.folders import is_ours
from tracer_core.frame_eval.kernel import is_kernels, kernel_entered
from tracer_core.frame_eval.options import option
from tracer_core.frame_eval.rules import refusal_now, transform_called, why_skip, why_skip_here
from tracer_core.frame_input import CompiledFrame, FrameInput, SkippedFrame
from tracer_core.guards import compile_guards
from tracer_core.in_sight import tensors_in_sight
from tracer_core.reasons import REASONS
from tracer_core.signals import Marking, is_from_outside

if TYPE_CHECKING:
    from tracer_core.frame_eval.hook import Hook

TraceFrame = Callable[[FrameInput], CompiledFrame | SkippedFrame]

DELIVERED = (Unsupported, BackendError, InternalError, Warning)
"""What the user gets to see when tracing raises it (a warning of ours, where the user made warnings errors)."""

_lock = threading.RLock()


class _Tracing(threading.local):
    active = False


_tracing = _Tracing()
_tracers: list[TraceFrame] = []


def is_tracing() -> bool:
    """Whether a frame is being traced, or its graph compiled, in this thread."""
    return _tracing.active


@contextlib.contextmanager
def use_tracer(trace_frame: TraceFrame) -> Iterator[None]:
    """Trace frames with `trace_frame` inside the block, in all threads, instead of with the engine's."""
    _tracers.append(trace_frame)
    try:
        yield
    finally:
        _tracers.remove(trace_frame)


def prepare() -> None:
    """Have all at hand that tracing needs, before a frame of the program starts."""
    if not _tracers:
        engine.load()


def _tracer() -> TraceFrame:
    if _tracers:
        return _tracers[-1]
    trace_frame: TraceFrame = import_module("tracer_core.codegen.compile_frame").trace_frame
    return trace_frame


def convert(hook: Hook, frame: Any, states: dict[Any, Any]) -> c_frame.FrameResult:
    """The answer to the C side, for `frame`, under `hook`. `states` is the C side's dict for the frame's code.

    Raises:
        Unsupported: with `fullgraph`, where the graph would end.
        BackendError: the back end failed.
        InternalError: our own fault, with the option `raise_internal_faults`.
        KeyboardInterrupt: the user stopped the tracing.
        Interrupted: a signal handler of the program raised its error.
    """
    code = frame.f_code
    if is_ours(frame.f_globals):
        leave_to_python(code, recursive=False)
        return c_frame.FrameResult(None, True, c_frame.SKIP)
    if is_kernels(code):
        leave_to_python(code, recursive=True)
        return c_frame.FrameResult(None, True, c_frame.SKIP_ALL)
    if kernel_entered(code, frame.f_globals):
        return c_frame.FrameResult(None, False, c_frame.SKIP)
    refused = transform_called(code, frame.f_globals)
    if refused is not None:
        return _refuse(hook, code, refused, recursive=True)
    skipped = why_skip(code, frame.f_globals) or why_skip_here(code)
    if skipped is not None:
        return _leave(code, skipped)
    refused = refusal_now(code, frame.f_locals)
    if refused is not None:
        return _refuse(hook, code, refused, recursive=False)
    state = states.get(hook)
    if state is None:
        remember(code)
        state = states.setdefault(hook, CodeState())
    lookup.on_miss(code)
    if state.stopped is not None:
        return c_frame.run_plainly()
    if state.idle and not tensors_in_sight(code, frame.f_locals, frame.f_globals):
        return _idle(code, state)
    with _lock:
        version = state.holding(frame.f_locals)
        if version is not None:  # added after the C side's lookup, or missed by it while other threads looked
            lookup.on_late_hit(code, version)
            return _answer(code, version)
        if len(state.versions) >= option(hook.config, "cache_size_limit"):
            return _at_limit(hook, code, state, frame.f_locals)
        _tracing.active = True
        try:
            with Marking():
                return _compile(hook, frame, state)
        finally:
            _tracing.active = False


# After so many frames that had nothing to do with tensors, one traced in vain counting for several, nobody asks any
# more.
_IDLE_LIMIT = 256
_IDLE_TRACE = 16


def _idle(code: CodeType, state: CodeState) -> c_frame.FrameResult:
    """Another frame that has nothing to do with tensors."""
    state.idle += 1
    message = REASONS["no-tensor-work"].sentence.format(name=code.co_qualname)
    return _leave(code, SkippedFrame("no-tensor-work", message, forever=state.idle > _IDLE_LIMIT))


def _refuse(hook: Hook, code: CodeType, refused: Unsupported, *, recursive: bool) -> c_frame.FrameResult:
    """Leave a frame to Python, with what it calls if `recursive`, but not its code for ever."""
    if hook.config.fullgraph:
        raise refused.placed(shown_file(code.co_filename), code.co_firstlineno, code.co_qualname)
    return _leave(code, SkippedFrame(refused.reason_id, refused.message, recursive, forever=False))


def _leave(code: CodeType, skipped: SkippedFrame) -> c_frame.FrameResult:
    """Leave a frame to Python, and others of its code too if `skipped` is for ever."""
    watching = observers.current()
    if watching is not None:
        watching.on_skip(code, skipped.reason_id, skipped.message)
    strategy = c_frame.SKIP_ALL if skipped.recursive else c_frame.SKIP
    if skipped.forever:
        leave_to_python(code, recursive=skipped.recursive)
    return c_frame.FrameResult(None, skipped.forever, strategy)


def _answer(code: CodeType, version: Version) -> c_frame.FrameResult:
    assert version.code is not None
    manager = c_frame.GuardManager.of(lookup.guard_of(code, version), f"guards of version {version.number}")
    version.managers.append(weakref.ref(manager))
    return c_frame.FrameResult(c_frame.GuardedCode(version.code, manager), True, c_frame.TRACE)


def _compile(hook: Hook, frame: Any, state: CodeState) -> c_frame.FrameResult:
    code, number = frame.f_code, state.last_number + 1
    watching = observers.current()
    started = time.perf_counter()
    outcome = "fault"
    if watching is not None:
        watching.on_compile_start(code, number)
    try:
        given = FrameInput(
            code=code,
            locals=frame.f_locals,
            globals=frame.f_globals,
            builtins=frame.f_builtins,
            closure=frame.closure or (),
            version=number,
            history=state.history,
            config=hook.config,
        )
        result = _tracer()(given)
        if isinstance(result, SkippedFrame):
            outcome = "skipped"
            if result.reason_id == "no-tensor-work" and not result.forever:
                state.idle += _IDLE_TRACE
                result = replace(result, forever=state.idle > _IDLE_LIMIT)
            return _leave(code, result)
        guards = compile_guards(result.guards, frame.f_globals, frame.f_builtins)
        version = Version(number, guards, result.code)
        state.add(version)
        outcome = "compiled"
        return _once(result.code) if version.code is None else _answer(code, version)
    except DELIVERED as delivered:
        outcome = "fault" if isinstance(delivered, InternalError) else "skipped"
        raise
    except RecursionError:  # there was no room even to begin
        outcome = "skipped"
        raise
    except BaseException as fault:
        if is_from_outside(fault):
            outcome = "skipped"
            raise
        return _fault(hook, code, state, fault)
    finally:
        if watching is not None:
            watching.on_compile_end(outcome, time.perf_counter() - started)


def _once(code: CodeType) -> c_frame.FrameResult:
    """Run code whose guards can already not hold again, for the frame it was made for."""
    manager = c_frame.GuardManager.of(lambda f_locals: False, "an object it was compiled for is gone")
    return c_frame.FrameResult(c_frame.GuardedCode(code, manager), True, c_frame.TRACE)


def raised_in(code: CodeType, error: BaseException) -> c_frame.FrameResult:
    """Raise `error` to the user: from here, or, where the frame is a resume function, from inside it, since the
    blocks around the break are entered and only its own code leaves them."""
    resume = import_module("tracer_core.codegen.resume")
    known = resume.resume_of(code)
    if known is None:
        raise error
    return _once(resume.raising(known, error))


def stopped_in(code: CodeType, error: BaseException) -> c_frame.FrameResult:
    """Raise `error`, which came from outside while the frame was looked at, to the user: out of the frame."""
    resume = import_module("tracer_core.codegen.resume")
    known = resume.resume_of(code)
    return _once(resume.raising_at_start(code, error) if known is None else resume.raising(known, error))


def _fault(hook: Hook, code: CodeType, state: CodeState, fault: BaseException) -> c_frame.FrameResult:
    """Our own code failed: say so once, and leave the code to Python."""
    text = "".join(traceback.format_exception(fault))
    watching = observers.current()
    if watching is not None:
        watching.on_fault(text)
    place = f"{code.co_qualname} ({code.co_filename}:{code.co_firstlineno})"
    if option(hook.config, "raise_internal_faults"):
        raise InternalError(f"tracewalk failed while tracing {place}. The fault is ours.") from fault
    state.stopped = ("fault", f"tracewalk failed while tracing {place}")
    warnings.warn(
        f"tracewalk failed while tracing {place}, so it runs as plain Python, with the same results. The fault is "
        f"ours: please report it with this text.\n{text}",
        FaultWarning,
        stacklevel=2,
    )
    return c_frame.run_plainly()


def _at_limit(hook: Hook, code: CodeType, state: CodeState, f_locals: Any) -> c_frame.FrameResult:
    """No more versions: those there are still reused where they fit, other frames run as plain Python."""
    failure = state.versions[-1].guards.explain(f_locals) if state.versions else None
    limit = option(hook.config, "cache_size_limit")
    unsupported = Unsupported(
        "cache-limit",
        function=code.co_qualname,
        limit=limit,
        failure="its code is gone" if failure is None else failure.difference,
    )
    if hook.config.fullgraph:
        raise unsupported
    state.stopped = ("cache-limit", unsupported.message)
    watching = observers.current()
    if watching is not None:
        watching.on_skip(code, "cache-limit", unsupported.message)
    warnings.warn(unsupported.message, RuntimeWarning, stacklevel=2)
    return c_frame.run_plainly()
