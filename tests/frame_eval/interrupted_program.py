"""A program, and what is as before when its tracing was interrupted."""

from __future__ import annotations

import gc
import logging
import signal
import sys
import warnings
from typing import Any

import torch
import torch._guards
import torch.utils._python_dispatch as python_dispatch
from torch._C._dynamo import eval_frame

import tracer_core
from tests.frame_eval.interrupting import Place
from tracer_core import observer as observers
from tracer_core.compiling import is_compiling
from tracer_core.frame_eval import lookup, threads
from tracer_core.guards.kinds import libraries
from tracer_core.host.global_state import PROPERTIES
from tracer_core.host.signals import waiting
from tracer_core.variables.objects import overlay


class TooLong(Exception):
    """What a handler of the program raises."""


def raises(number: int, frame: Any) -> None:
    raise TooLong("out of time")


def program(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    with torch.no_grad():
        z = x * 2 + y.real
    with torch.autocast("cpu", enabled=False), torch.inference_mode(False):
        w = torch.nn.functional.relu(x) @ x.t()
    return (z.sum() + w[0]).view(-1) * y.shape[0]


def inputs() -> tuple[torch.Tensor, torch.Tensor]:
    return torch.ones(3, 2, requires_grad=True), torch.ones(3, 2, dtype=torch.complex64)


def state() -> dict[str, Any]:
    """What torch and Python tell of this thread and process, and what our own code keeps of a trace."""
    saved = torch._C._autograd._saved_tensors_hooks_set_tracing(False)
    torch._C._autograd._saved_tensors_hooks_set_tracing(saved)
    return {
        **{name: setting.read() for name, setting in PROPERTIES.items()},
        "modes": python_dispatch._get_current_dispatch_mode_stack(),
        "in a mode": (
            python_dispatch._is_in_torch_dispatch_mode,
            python_dispatch._is_in_non_infra_torch_dispatch_mode,
            python_dispatch._is_in_any_mode_without_ignore_compile_internals,
        ),
        "keys": (torch._C._dispatch_tls_local_include_set(), torch._C._dispatch_tls_local_exclude_set()),
        "type of a tensor": type(torch.ones(())),
        "only CPU tensors lifted": torch._C._only_lift_cpu_tensors(),
        "forward mode": torch._C._is_fwd_grad_enabled(),
        "contexts": dict(vars(torch._guards._TLS)),
        "warns always": torch.is_warn_always_enabled(),
        "saved tensors' hooks traced": saved,
        "filters": (id(warnings.filters), list(warnings.filters), warnings.showwarning),
        "collector": (gc.isenabled(), gc.get_freeze_count()),
        "recursion": sys.getrecursionlimit(),
        "logs": [logging.getLogger(name).disabled for name in sorted(logging.root.manager.loggerDict)],
        "handlers": [(number, signal.getsignal(number)) for number in sorted(signal.valid_signals())],
        "hook": eval_frame.get_eval_frame_callback(),
        "region": (threads.this.thread.depth, threads.this.thread.region),
        "compiling": is_compiling(),
        "overlay": (id(overlay.current), id(overlay.placeholders), id(overlay.made)),
        "reads": libraries._active.reads,
        "observer": (observers.current(), list(observers.ACTIVE)),
        "waiting": (dict(waiting), dict(lookup.interrupted)),
    }


Given = tuple[Any, tuple[torch.Tensor, torch.Tensor]]


def fresh(backend: str = "eager") -> Given:
    tracer_core.reset()
    return tracer_core.compile(program, backend=backend, options={"raise_internal_faults": True}), inputs()


def named(place: Place) -> str:
    code, offset = place
    return f"{code.co_qualname} ({code.co_filename}:{code.co_firstlineno}), after {offset}"


def expect_nothing_left(given: Given, before: dict[str, Any], where: str) -> None:
    """All is as `before`, and another call gives what plain Python gives."""
    compiled, arguments = given
    after = state()
    assert {name: after[name] for name in before if after[name] != before[name]} == {}, where
    result, expected = compiled(*arguments), program(*arguments)
    assert torch.equal(result, expected) and result.requires_grad == expected.requires_grad, where
