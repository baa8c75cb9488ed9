"""Ctrl-C, and a signal handler of the program, at any place while a frame is traced: nothing is left changed."""

from __future__ import annotations

import gc
import inspect
import logging
import random
import signal
import sys
import warnings
from collections.abc import Iterator
from types import CodeType
from typing import Any

import pytest
import torch
import torch._guards
import torch.utils._python_dispatch as python_dispatch
from torch._C._dynamo import eval_frame

import tracer_core
from tests.frame_eval.interrupting import Place, interrupted, places
from tracer_core.compiling import is_compiling
from tracer_core.frame_eval import threads
from tracer_core.global_state import PROPERTIES
from tracer_core.guards.kinds import libraries
from tracer_core.variables import overlay


class TooLong(Exception):
    """What a handler of the program raises."""


def raises(number: int, frame: Any) -> None:
    raise TooLong("out of time")


@pytest.fixture(autouse=True)
def handler_of_the_program(ctrl_c: None) -> Iterator[None]:
    before = signal.signal(signal.SIGUSR1, raises)
    yield
    signal.signal(signal.SIGUSR1, before)


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
    }


# Where something is switched: what blocks are entered and left by, and our own code around a trace.
_BLOCKS = ("__enter__", "__exit__")
_FILES = (
    "contextlib.py",
    "_python_dispatch.py",
    "torch/_guards.py",
    *(
        "tracer_core/" + name
        for name in ("signals.py", "warned.py", "as_found.py", "torch_state.py", "graph/state.py")
    ),
    *("tracer_core/frame_eval/" + name for name in ("api.py", "hook.py", "convert.py", "threads.py")),
    *("tracer_core/codegen/" + name for name in ("compile_frame.py", "surroundings.py", "unseen.py")),
    "tracer_core/interpreter/depth.py",
)


def switches(code: CodeType) -> bool:
    of_torch_or_ours = "/torch/" in code.co_filename or "/tracer_core/" in code.co_filename
    return (
        code.co_name in _BLOCKS
        or code.co_name == "switched"
        or code.co_filename.endswith(_FILES)
        or (of_torch_or_ours and bool(code.co_flags & inspect.CO_GENERATOR))
    )


Given = tuple[Any, tuple[torch.Tensor, torch.Tensor]]


def fresh() -> Given:
    tracer_core.reset()
    return tracer_core.compile(program, backend="eager", options={"raise_internal_faults": True}), inputs()


@pytest.fixture(scope="module")
def found() -> list[Place]:
    """The places where something is switched. A signal comes when one is reached for the first time: later on it may
    be inside a function of torch's in C++ that nothing may be raised in, and that ends the process."""
    for _ in range(2):  # the first traces import and remember much
        compiled, arguments = fresh()
        reached = places(lambda compiled=compiled, arguments=arguments: compiled(*arguments), switches)
    return list(reached)


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


@pytest.mark.row("I5", "O8")
@pytest.mark.parametrize(
    ("number", "error"), [(signal.SIGINT, KeyboardInterrupt), (signal.SIGUSR1, TooLong)], ids=["ctrl-c", "handler"]
)
def test_nothing_is_left_changed_wherever_a_signal_comes(
    found: list[Place], number: int, error: type[BaseException]
) -> None:
    of_blocks = [place for place in found if place[0].co_name in _BLOCKS]
    assert len(found) > 300 and len(of_blocks) > 50
    choice = random.Random(number)
    for place in choice.sample(of_blocks, 20) + choice.sample(found, 20):
        given = fresh()
        before = state()
        with pytest.raises(error):
            interrupted(lambda given=given: given[0](*given[1]), place, number)
        expect_nothing_left(given, before, named(place))
