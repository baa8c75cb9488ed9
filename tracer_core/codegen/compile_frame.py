"""`trace_frame`: from a frame that starts to the code that replaces it, in as many attempts as it takes."""

from __future__ import annotations

import contextlib
from types import CodeType

from tracer_core.codegen.attempts.attempt import Attempt
from tracer_core.codegen.attempts.ending import LEAVES
from tracer_core.codegen.attempts.hidden_fakes import hide_fakes
from tracer_core.codegen.attempts.surroundings import collected, turn_torchs_logs_off
from tracer_core.codegen.resume.boxes import boxes_of
from tracer_core.codegen.resume.functions import resume_of
from tracer_core.errors import TraceAgain
from tracer_core.frame_input import CompiledFrame, FrameInput, SkippedFrame
from tracer_core.interpreter.depth import make_room_to_recurse
from tracer_core.interpreter.load import load_handlers
from tracer_core.interpreter.machine import MustRestart
from tracer_core.variables.objects import overlay

load_handlers()

MAX_ATTEMPTS = 64


def trace_frame(input: FrameInput) -> CompiledFrame | SkippedFrame:
    """Trace the frame and generate its new code.

    Raises:
        Unsupported: the graph would end and the config requires a full graph.
        BackendError: the back end failed.
    """
    # Attempts hold the content of boxes: they must release it before the program does.
    release = collected() if boxes_of(input.code) else contextlib.nullcontext()
    make_room_to_recurse()
    turn_torchs_logs_off()
    hide_fakes()
    with release:
        outcome = _in_attempts(input)
    overlay.collect()
    return outcome


def _in_attempts(input: FrameInput) -> CompiledFrame | SkippedFrame:
    failure: MustRestart | None = None
    # How the attempt ended in which `is_compiling()` returned True, once it returns False in later ones.
    as_compiled: MustRestart | None = None
    plainly = _reported_eager(input.code)
    for number in range(1, MAX_ATTEMPTS + 1):
        attempt = Attempt(input, number, failure, plainly)
        try:
            outcome = attempt.run()
        except TraceAgain:
            attempt.release()
            continue
        attempt.release()
        if not isinstance(outcome, MustRestart):
            return outcome
        if as_compiled is None and outcome.compiling_check is not None:
            as_compiled, failure, plainly = outcome, None, True
            continue
        failure = outcome
        if as_compiled is not None and plainly and not _gets_as_far(outcome, as_compiled):
            failure, plainly = as_compiled, False
        # (A failure found at the end has its place once an attempt has stopped there.)
        if input.config.fullgraph and failure.unsupported.where is not None:
            raise failure.unsupported.placed()
    raise RuntimeError(f"{input.name} was traced {MAX_ATTEMPTS} times and failed at a new place each time")


def _reported_eager(code: CodeType) -> bool:
    """Return whether `code` resumes a function in which `is_compiling()` returned False before the break."""
    resume = resume_of(code)
    return resume is not None and resume.point.reports_eager


def _gets_as_far(plain: MustRestart, as_compiled: MustRestart) -> bool:
    """Return whether an attempt with plain Python's answers is preferred to the one that reported that it is
    compiling.

    It is where it loses nothing, as plain Python and code that resumes after a break give the same answers then, and
    where one of them ends in an exception of the program, as what plain Python raises is what counts.
    """
    ends = (plain.unsupported.reason_id, as_compiled.unsupported.reason_id)
    return plain.position == as_compiled.position or LEAVES in ends
