"""What is around the tracing of a frame: torch's logs, Python's collector, and the frames that errors keep alive."""

from __future__ import annotations

import contextlib
import gc
import logging
import sys
from collections.abc import Iterator


@contextlib.contextmanager
def collected() -> Iterator[None]:
    """Have Python's collector take what was made inside and is in circles. It need not look at what was there before,
    unless the program has put aside some of that itself."""
    aside = not gc.get_freeze_count()
    if aside:
        gc.freeze()
    try:
        yield
    finally:
        gc.collect()
        if aside:
            gc.unfreeze()


@contextlib.contextmanager
def torchs_logs_off() -> Iterator[None]:
    """torch logs what an operation refuses on fake tensors or symbols; here that is a break, told by us."""
    logs = [logging.getLogger(name) for name in _TORCHS_LOGS]
    before = [log.disabled for log in logs]
    for log in logs:
        log.disabled = True
    try:
        yield
    finally:
        for log, disabled in zip(logs, before, strict=True):
            log.disabled = disabled


_TORCHS_LOGS = ("torch._subclasses.fake_tensor", "torch.fx.experimental.sym_node")


@contextlib.contextmanager
def collector_paused() -> Iterator[None]:
    """No automatic garbage collection inside. A walk's many objects live until it ends: the collector would go
    through all of the process again and again, a fifth of the time, and find nothing."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def without_traces(failure: Exception, *others: Exception) -> None:
    """Take from an error, and from those it comes of, the frames of ours that they were raised in. What the program
    is handling, in whose context they all are, is the program's."""
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
