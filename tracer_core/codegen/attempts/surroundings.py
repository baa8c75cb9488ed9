"""State around the tracing of a frame: torch's logs, Python's collector, and the frames that errors keep alive."""

from __future__ import annotations

import contextlib
import gc
import logging
import sys
from collections.abc import Iterator

from tracer_core.host.process_state import restore_after_tracing, restore_attributes_after_tracing


@contextlib.contextmanager
def collected() -> Iterator[None]:
    """Have Python's collector free objects that were created inside the block and form reference cycles. Older
    objects are put aside, unless the program has frozen some of them itself."""
    _collector.put_aside = not gc.get_freeze_count()
    if _collector.put_aside:
        gc.freeze()
    try:
        yield
    finally:
        gc.collect()
        _take_back(False)


class _Collector:
    put_aside = False


_collector = _Collector()


def _take_back(put_aside: bool) -> None:
    """Unfreeze the older objects, unless the program had frozen some."""
    if _collector.put_aside and not put_aside:
        gc.unfreeze()
        _collector.put_aside = False


restore_after_tracing(lambda: _collector.put_aside, _take_back)


_TORCHS_LOGS = list(map(logging.getLogger, ("torch._subclasses.fake_tensor", "torch.fx.experimental.sym_node")))
for _log in _TORCHS_LOGS:
    restore_attributes_after_tracing(_log, "disabled")


def turn_torchs_logs_off() -> None:
    """Turn off torch's logs: torch logs what an operation refuses on fake tensors or symbols, which we report as a
    break."""
    for log in _TORCHS_LOGS:
        log.disabled = True


@contextlib.contextmanager
def collector_paused() -> Iterator[None]:
    """Pause automatic garbage collection inside the block. An attempt's many objects live until it ends: the
    collector would scan the whole process again and again, a fifth of the time, and find nothing."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def without_traces(failure: Exception, *others: Exception) -> None:
    """Drop the tracebacks, causes and contexts of errors of the engine, which keep its frames alive. The exception
    that the program is handling, in whose context they all are, stays as it is."""
    programs = sys.exc_info()[1]
    waiting: list[BaseException | None] = [failure, *others]
    while waiting:
        error = waiting.pop()
        if (
            error is not None
            and error is not programs
            and (error.__traceback__ or error.__context__ or error.__cause__)
        ):
            waiting.extend((error.__context__, error.__cause__))
            error.__traceback__ = error.__context__ = error.__cause__ = None
