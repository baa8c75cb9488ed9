"""Tell whether anything is being compiled, and list the calls by which a traced program can find out.

`CHECKS` lists all calls that return something else in a trace than in plain Python. Other state that a program may
read has the value it has in plain Python, under a guard (`tracer_core.host.global_state`), or ends the graph.
"""

from __future__ import annotations

import threading
from typing import Any

import torch

from tracer_core.host.process_state import restore_attributes_after_tracing


class _Thread(threading.local):
    active = False


THREAD = _Thread()
restore_attributes_after_tracing(THREAD, "active")


def is_compiling() -> bool:
    """Return whether tracewalk is tracing in this thread. While it traces a function, calls of this are True."""
    return THREAD.active


CHECKS: dict[Any, str] = {
    torch.compiler.is_compiling: "torch.compiler.is_compiling()",
    torch.compiler.is_dynamo_compiling: "torch.compiler.is_dynamo_compiling()",
    is_compiling: "tracer_core.is_compiling()",
}
"""Functions that return True in a trace and False in plain Python, under the names that people write. Libraries call
one of these (`is_torchdynamo_compiling()` of transformers, `torch._dynamo.is_compiling()`)."""
