"""Convert a frame that starts without a cached version: skip it, or trace it and cache the result."""

from __future__ import annotations

import contextlib
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from dataclasses import replace
from importlib import import_module
from types import CodeType
from typing import TYPE_CHECKING, Any

from tracer_core import observer as observers
from tracer_core.compiling import THREAD
from tracer_core.errors import BackendError, FaultWarning, InternalError, Unsupported
from tracer_core.frame_eval import c_frame, engine, limits, lookup, sweep
from tracer_core.frame_eval.cache import CodeState, Version, skip_frames_of
from tracer_core.frame_eval.callers import called_from, is_called_by_compiled_code, note_replacement
from tracer_core.frame_eval.kernel import is_kernels, kernel_entered
from tracer_core.frame_eval.options import option
from tracer_core.frame_eval.rules import mode_around, refusal_now, transform_called, why_skip, why_skip_here
from tracer_core.frame_eval.started import StartedFrame
from tracer_core.frame_input import CompiledFrame, FrameInput, SkippedFrame, Written
from tracer_core.guards import compile_guards
from tracer_core.host import torch_state  # noqa: F401  (what torch keeps is put back, too)
from tracer_core.host.process_state import ProcessState
from tracer_core.host.program_line import warn
from tracer_core.host.signals import clear_frames, is_external_error, mark_handlers
from tracer_core.listing import python_listing
from tracer_core.names.code import frame_name, is_module_call
from tracer_core.names.files import shown_file
from tracer_core.names.owners import is_ours
from tracer_core.names.where import Where
from tracer_core.reachable_tensors import may_reach_tensors
from tracer_core.reasons import REASONS

if TYPE_CHECKING:
    from tracer_core.frame_eval.hook import Hook

TraceFrame = Callable[[FrameInput], CompiledFrame | SkippedFrame]

DELIVERED = (Unsupported, BackendError, InternalError, Warning)
"""Errors that reach the user when tracing raises them (our warning too, if the user turned warnings into errors)."""

_lock = threading.RLock()


_tracers: list[TraceFrame] = []


@contextlib.contextmanager
def use_tracer(trace_frame: TraceFrame) -> Iterator[None]:
    """Trace frames with `trace_frame` inside the block, in all threads, instead of with the engine's."""
    _tracers.append(trace_frame)
    try:
        yield
    finally:
        _tracers.remove(trace_frame)


def prepare() -> None:
    """Load all that tracing needs before a frame of the program starts."""
    if not _tracers:
        engine.load()


def _tracer() -> TraceFrame:
    if _tracers:
        return _tracers[-1]
    trace_frame: TraceFrame = import_module("tracer_core.codegen.compile_frame").trace_frame
    return trace_frame


def convert(hook: Hook, frame: Any) -> c_frame.FrameResult:
    """Return the answer to the C side, for `frame`, under `hook`.

    Raises:
        Unsupported: with `fullgraph`, where the graph would end.
        BackendError: the back end failed.
        InternalError: our own fault, with the option `raise_internal_faults`.
        KeyboardInterrupt: the user stopped the tracing.
        Interrupted: a signal handler of the program raised its error.
    """
    code = frame.f_code
    if is_ours(frame.f_globals) or is_module_call(code):
        skip_frames_of(code, recursive=False)
        return c_frame.run_plainly(c_frame.SKIP)
    if is_kernels(code):
        skip_frames_of(code, recursive=True)
        return c_frame.run_plainly(c_frame.SKIP_ALL)
    if kernel_entered(code, frame.f_globals):
        return c_frame.run_plainly(c_frame.SKIP)
    if hook.config.fullgraph and is_called_by_compiled_code():
        # Its graph has raised, and plain Python runs instead, of which no graph is required.
        return c_frame.run_plainly(c_frame.SKIP_ALL)
    refused = transform_called(code, frame.f_globals) or mode_around(code, frame.f_locals)
    if refused is not None:
        return _refuse(hook, code, refused, recursive=True)
    skipped = why_skip(code, frame.f_globals) or why_skip_here(code)
    if skipped is not None:
        return _leave(code, skipped)
    refused = refusal_now(code, frame.f_locals)
    if refused is not None:
        return _refuse(hook, code, refused, recursive=False)
    started = StartedFrame.of(hook, frame)
    state = started.state
    lookup.on_miss(code, frame.f_locals, frame.f_globals, hook.config)
    if state.stopped is not None:
        return c_frame.run_plainly()
    if state.idle and not may_reach_tensors(code, frame.f_locals, frame.f_globals):
        return _idle(frame, state)
    with _lock:
        version = started.cache.holding(frame.f_locals, started.region)
        if version is not None:
            # Another compiled object has the version, or the C side has forgotten it, or missed it while other
            # threads were looking up.
            lookup.on_late_hit(code, version)
            return _run_version(started, version)
        limit = limits.reached(started)
        if limit is not None:
            return limits.give_up(started, limit)
        return _compile_apart(started)


# After so many frames that had nothing to do with tensors, where one traced in vain counts for several, stop
# checking.
_IDLE_LIMIT = 256
_IDLE_TRACE = 16


def _idle(frame: Any, state: CodeState) -> c_frame.FrameResult:
    """Count another frame that does not work on tensors."""
    state.idle += 1
    message = REASONS["no-tensors-in-sight"].filled({"name": frame_name(frame.f_code, frame.f_locals)})
    return _leave(frame.f_code, SkippedFrame("no-tensors-in-sight", message, forever=state.idle > _IDLE_LIMIT))


def _refuse(hook: Hook, code: CodeType, refused: Unsupported, *, recursive: bool) -> c_frame.FrameResult:
    """Run a frame as plain Python, with the frames it calls if `recursive`; its code may be traced later."""
    if hook.config.fullgraph:
        refused.where = Where.of(0, [(code, code.co_firstlineno), *called_from(code)])
        raise refused.placed()
    return _leave(code, SkippedFrame(refused.reason_id, refused.message, recursive, forever=False))


def _leave(code: CodeType, skipped: SkippedFrame) -> c_frame.FrameResult:
    """Run a frame as plain Python, and others of its code too if `skipped` is for ever: until the next recording, so
    that each of them can be recorded with its reason."""
    watching = observers.current()
    if watching is not None:
        watching.on_skip(code, skipped.reason_id, skipped.message)
    if skipped.forever:
        skip_frames_of(code, recursive=skipped.recursive, until_watched=not skipped.recursive)
    return c_frame.run_plainly(c_frame.SKIP_ALL if skipped.recursive else c_frame.SKIP)


def _run_version(started: StartedFrame, version: Version) -> c_frame.FrameResult:
    assert version.code is not None
    check = lookup.guard_of(started.code, version)
    manager = c_frame.GuardManager.of(check, f"guards of version {version.number}", started.code)
    started.use(version, manager)
    return c_frame.FrameResult(c_frame.GuardedCode(version.code, manager), c_frame.TRACE)


def _compile_apart(started: StartedFrame) -> c_frame.FrameResult:
    """Compile the frame, and leave the state of the thread and the process unchanged."""
    found = ProcessState()
    try:
        try:
            THREAD.active = True
            mark_handlers()
            return _compile(started)
        except BaseException as error:
            if is_external_error(error):
                clear_frames(error)
            raise
        finally:
            found.put_back()
    finally:
        found.put_back()  # Ctrl-C may come in the midst of that, too.


def _compile(started: StartedFrame) -> c_frame.FrameResult:
    hook, frame, code, state = started.hook, started.frame, started.code, started.state
    number = started.cache.last_number + 1
    watching = observers.current()
    began = time.perf_counter()
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
            callers=called_from(code),
        )
        result = _tracer()(given)
        if isinstance(result, SkippedFrame):
            outcome = "skipped"
            if result.idle and not result.forever:
                state.idle += _IDLE_TRACE
                result = replace(result, forever=state.idle > _IDLE_LIMIT)
            return _leave(code, result)
        if watching is not None and result.written is not None:
            watching.on_generated(code, result.code, _listing(result.written, code), result.resumes)
        note_replacement(result.code, code)
        guards = compile_guards(result.guards, frame.f_globals, frame.f_builtins)
        version = Version(number, guards, result.code, started.subject.key)
        started.cache.add(version)
        outcome = "compiled"
        return _once(result.code, code) if version.code is None else _run_version(started, version)
    except DELIVERED as delivered:
        outcome = "fault" if isinstance(delivered, InternalError) else "skipped"
        raise
    except RecursionError:  # no stack space even to begin
        outcome = "skipped"
        raise
    except BaseException as fault:
        if is_external_error(fault):
            outcome = "interrupted"
            raise
        return _fault(hook, frame, state, fault)
    finally:
        if watching is not None:
            watching.on_compile_end(outcome, time.perf_counter() - began)


def _listing(written: Written, replaced: CodeType) -> str:
    """Return the code as text. It is only for observers, so a fault in writing it does not stop the compilation."""
    try:
        return python_listing(written, replaced)
    except Exception as error:  # noqa: BLE001
        return f"# This code cannot be listed: {observers.said(error)}\n"


def _once(code: CodeType, instead_of: CodeType) -> c_frame.FrameResult:
    """Run code for this one frame of `instead_of`."""
    manager = c_frame.GuardManager.of(lambda f_locals: False, "was for one frame", instead_of)
    sweep.drop_later(manager)
    return c_frame.FrameResult(c_frame.GuardedCode(code, manager), c_frame.TRACE)


def raised_in(code: CodeType, error: BaseException) -> c_frame.FrameResult:
    """Raise `error` to the user: from here, or, if the frame is a resume function, from inside it, since the blocks
    around the break are entered and only its own code leaves them."""
    resume = import_module("tracer_core.codegen.resume")
    known = resume.resume_of(code)
    if known is None:
        raise error
    return _once(resume.raising(known, error), code)


def stopped_in(code: CodeType, error: BaseException) -> c_frame.FrameResult:
    """Let `error`, an external one that was raised while the frame was traced, leave the frame."""
    resume = import_module("tracer_core.codegen.resume")
    known = resume.resume_of(code)
    return _once(resume.raising_at_start(code, error) if known is None else resume.raising(known, error), code)


def _fault(hook: Hook, frame: Any, state: CodeState, fault: BaseException) -> c_frame.FrameResult:
    """Report a failure of our own code once, and run the code as plain Python."""
    text = "".join(traceback.format_exception(fault))
    watching = observers.current()
    if watching is not None:
        watching.on_fault(text)
    code = frame.f_code
    place = f"{frame_name(code, frame.f_locals)} ({shown_file(code.co_filename)}:{code.co_firstlineno})"
    if option(hook.config, "raise_internal_faults"):
        raise InternalError(f"tracewalk failed while tracing {place}. The fault is ours.") from fault
    state.stopped = ("fault", f"tracewalk failed while tracing {place}")
    warn(
        f"tracewalk failed while tracing {place}, so it runs as plain Python, with the same results. The fault is "
        f"ours: please report it with this text.\n{text}",
        FaultWarning,
    )
    return c_frame.run_plainly()
