"""Whether anything is being compiled, and what a traced program is told of that.

`QUESTIONS` is all that a trace answers otherwise than plain Python. What else a program may ask of the process is
answered as plain Python answers it, under a guard (`tracer_core.host.global_state`), or ends the graph.
"""

from __future__ import annotations

import threading
from typing import Any

import torch

from tracer_core.host.as_found import put_back_attributes


class _Thread(threading.local):
    active = False


THREAD = _Thread()
put_back_attributes(THREAD, "active")


def is_compiling() -> bool:
    """Whether tracewalk is tracing in this thread. While it traces a function, calls of this are True."""
    return THREAD.active


QUESTIONS: dict[Any, str] = {
    torch.compiler.is_compiling: "torch.compiler.is_compiling()",
    torch.compiler.is_dynamo_compiling: "torch.compiler.is_dynamo_compiling()",
    is_compiling: "tracer_core.is_compiling()",
}
"""Functions that give True in a trace and False in plain Python, each as a person writes it. Libraries ask by one of
these (`is_torchdynamo_compiling()` of transformers, `torch._dynamo.is_compiling()`)."""
