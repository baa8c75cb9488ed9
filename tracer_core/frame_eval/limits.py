"""Limit the number of versions of a code.

Versions are counted for each compiled object and, among the many things that run the same code in it, for each of
these. Only those count that can still be reused: one goes when an object goes that its guards compare with.
"""

from __future__ import annotations

import gc

from tracer_core import observer as observers
from tracer_core.errors import CacheLimitWarning, Unsupported
from tracer_core.frame_eval import c_frame
from tracer_core.frame_eval.options import option
from tracer_core.frame_eval.started import StartedFrame
from tracer_core.host.program_line import warn

_TOGETHER = 8
"""All objects that run the same code together may have this many times the limit."""


def reached(started: StartedFrame) -> int | None:
    """Return the limit, if no further version may be compiled for the frame; else None."""
    over, state = _exceeded(started), started.state
    if over is not None and state.collected != started.cache.last_number:
        # Some of the versions may be for objects that are unreachable but not freed yet.
        state.collected = started.cache.last_number
        if any(version.watches for version in started.cache.versions):
            gc.collect()
            over = _exceeded(started)
    return over


def _exceeded(started: StartedFrame) -> int | None:
    limit: int = option(started.hook.config, "cache_size_limit")
    used = started.cache.used_in(started.region)
    if sum(version.subject == started.subject.key for version in used) >= limit:
        return limit
    return limit * _TOGETHER if len(used) >= limit * _TOGETHER else None


def give_up(started: StartedFrame, limit: int) -> c_frame.FrameResult:
    """Run the frame as plain Python, with all it calls. The existing versions are reused where they fit.

    Raises:
        Unsupported: with `fullgraph`.
    """
    used = started.cache.used_in(started.region)
    failure = used[-1].guards.explain(started.frame.f_locals) if used else None
    unsupported = Unsupported(
        "cache-limit",
        function=str(started.subject),
        limit=limit,
        failure="its code is gone" if failure is None else failure.difference,
    )
    unsupported.where = None if failure is None else failure.guard.where
    if started.hook.config.fullgraph:
        raise unsupported.placed()
    watching = observers.current()
    if watching is not None:
        watching.on_skip(started.code, "cache-limit", unsupported.message)
    warned = started.state.warned
    if started.region not in warned:
        warned.add(started.region)
        warn(str(unsupported.placed()), CacheLimitWarning)
    return c_frame.run_plainly(c_frame.SKIP_ALL)
