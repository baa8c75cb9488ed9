"""Calls of modules without hooks: what is traced of them, what is guarded, and what the program observes."""

from __future__ import annotations

import linecache
import traceback
from collections.abc import Callable
from typing import Any

import pytest
import torch

import tracer_core
from tracer_core.bytecode import decoded
from tracer_core.observer import observing
from tracer_core.recording import Trace
from tracer_core.recording.recorder import Recorder
from tracer_core.variables.objects.module_calls import calls_between


class Block(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.inner = torch.nn.Linear(2, 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.inner(x) + 1


class Refuses(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        raise ValueError("no")


def recorded(block: Block, change: Callable[[Any], Any] | None = None) -> Trace:
    """Record two calls of the compiled module, with a change of its inner one between them."""
    compiled = tracer_core.compile(block, backend="eager")
    recorder, x = Recorder(), torch.ones(1, 2)
    with observing(recorder):
        assert torch.equal(compiled(x), block(x))
        if change is not None:
            change(block.inner)
        assert torch.equal(compiled(x), block(x))
    return Trace(recorder.finish())


def test_only_forward_is_traced() -> None:
    trace = recorded(Block())
    names = {code.qualname for step in trace.steps for code in (step.code, *step.inlined)}
    assert names == {"Block.forward", "Linear.forward"}
    assert {step.depth for step in trace.steps} == {0, 1}
    about = {guard.text for guard in trace.guards if "inner" in guard.text and "hooks" in guard.text}
    assert about == {"self.inner has no hooks, and the methods of its class"}


@pytest.mark.parametrize(
    ("change", "seen"),
    [
        (lambda inner: inner.register_forward_hook(lambda module, args, result: result * 2), "_forward_hooks"),
        (lambda inner: inner.register_forward_pre_hook(lambda module, args: (args[0] * 2,)), "_forward_pre_hooks"),
        (lambda inner: setattr(inner, "forward", lambda x: x - 5), "forward of its own"),
    ],
    ids=["hook", "pre-hook", "forward"],
)
def test_a_change_is_noticed(change: Callable[[Any], Any], seen: str) -> None:
    trace = recorded(Block(), change)
    (failed,) = (check for call in trace.calls for check in call.checks if not check.reused)
    assert seen in failed.seen


def test_a_hook_on_all_modules_is_noticed() -> None:
    handles: list[Any] = []
    register = torch.nn.modules.module.register_module_forward_hook
    block = Block()
    compiled = tracer_core.compile(block, backend="eager")
    before = compiled(torch.ones(1, 2))
    handles.append(register(lambda module, args, result: result * 3))
    try:
        assert torch.equal(compiled(torch.ones(1, 2)), block(torch.ones(1, 2)))
        assert not torch.equal(compiled(torch.ones(1, 2)), before)
    finally:
        handles.pop().remove()
    assert torch.equal(compiled(torch.ones(1, 2)), before)


def test_a_hook_that_the_trace_registers_runs() -> None:
    def function(block: Block, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        first = block(x)
        handle = block.inner.register_forward_hook(lambda module, args, result: result * 3)
        second = block(x)
        handle.remove()
        return first, second, block(x)

    block, x = Block(), torch.ones(1, 2)
    expected = function(block, x)
    found = tracer_core.compile(function, backend="eager")(block, x)
    assert all(map(torch.equal, found, expected))


def test_tracebacks_have_the_frames_between() -> None:
    def function(module: torch.nn.Module, x: torch.Tensor) -> Any:
        try:
            module(x + 1)
        except ValueError as error:
            return error

    def entries(error: BaseException) -> list[tuple[str, int | None]]:
        return [(entry.name, entry.lineno) for entry in traceback.extract_tb(error.__traceback__)]

    found = tracer_core.compile(function, backend="eager")(Refuses(), torch.ones(1))
    names = ["function", "_wrapped_call_impl", "_call_impl", "forward"]
    assert [name for name, _ in entries(found)] == names
    assert entries(found) == entries(function(Refuses(), torch.ones(1)))


def test_the_frames_between_stand_at_the_calls() -> None:
    lines = [
        linecache.getline(function.__code__.co_filename, decoded(function.__code__).line_at(position)).strip()
        for function, position in calls_between()
    ]
    assert lines == ["return self._call_impl(*args, **kwargs)", "return forward_call(*args, **kwargs)"]
