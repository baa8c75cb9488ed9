"""Hide the trace's work on fake tensors from the user's modes, which watch work on real tensors."""

from __future__ import annotations

import torch

from tracer_core.host.process_state import restore_after_tracing


def hide_fakes() -> None:
    """Turn off hooks on tensors saved for backward, and events for a running profiler, until tracing ends."""
    torch._C._autograd._saved_tensors_hooks_set_tracing(True)
    if torch._C._autograd._profiler_enabled():
        torch._C._autograd._enable_record_function(False)


def _record_again(recorded: bool) -> None:
    if recorded:
        torch._C._autograd._enable_record_function(True)


restore_after_tracing(torch._C._autograd._profiler_enabled, _record_again)
