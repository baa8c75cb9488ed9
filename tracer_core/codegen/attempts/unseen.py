"""What the user has watching tensor work is for real tensors: it does not see the work on fakes while tracing."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import torch


@contextlib.contextmanager
def fakes_unseen() -> Iterator[None]:
    """No hooks on tensors saved for backward, and no events for a running profiler, inside."""
    recorded = torch._C._autograd._profiler_enabled()
    before = torch._C._autograd._saved_tensors_hooks_set_tracing(True)
    if recorded:
        torch._C._autograd._enable_record_function(False)
    try:
        yield
    finally:
        torch._C._autograd._saved_tensors_hooks_set_tracing(before)
        if recorded:
            torch._C._autograd._enable_record_function(True)
