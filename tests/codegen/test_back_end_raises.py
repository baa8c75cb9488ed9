"""A back end whose compiled function raises: plain Python's results, and one warning that names the error."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch._C._dynamo.eval_frame import get_eval_frame_callback, set_eval_frame

import tracer_core
import tracewalk as tw
from tracer_core import BackendWarning
from tracer_core.codegen.graph_call import blame


def raising(gm: Any, examples: Any) -> Callable[..., Any]:
    def run(*args: Any) -> Any:
        raise RuntimeError("boom")

    return run


def runs_then_raises(gm: Any, examples: Any) -> Callable[..., Any]:
    def run(*args: Any) -> Any:
        gm.forward(*args)
        raise RuntimeError("boom")

    return run


def as_it_is(gm: Any, examples: Any) -> Callable[..., Any]:
    def run(*args: Any) -> Any:
        return gm.forward(*args)

    return run


def draws(x, i, log):
    log.append(torch.is_grad_enabled())
    return x.sin() * torch.rand(3)


def changes_and_looks_up(x, i, log):
    with torch.no_grad():
        x += 1
    log.append(len(log))
    return torch.nn.functional.embedding(i, x.unsqueeze(-1))


def catches(x, i, log):
    try:
        return x[i]
    except IndexError:
        return x


def run(function: Any, index: int, times: int = 3) -> str:
    """Results, what was changed, and where torch's generator stands."""
    torch.manual_seed(0)
    x, log = torch.ones(3), []
    results = [function(x, torch.tensor([index]), log) for _ in range(times)]
    return f"{results} {x} {log} {torch.rand(1)}"


@pytest.mark.row("O11")
@pytest.mark.parametrize("backend", [raising, runs_then_raises])
@pytest.mark.parametrize("function", [draws, changes_and_looks_up, catches])
def test_it_is_said_once_and_the_results_are_plain_pythons(function: Any, backend: Any) -> None:
    compiled = tracer_core.compile(function, backend=backend)
    with pytest.warns(BackendWarning) as warned:
        assert run(compiled, 1) == run(function, 1)
    (said,) = [each for each in warned if each.category is BackendWarning]
    name = backend.__name__
    start = (
        f"The back end '{name}' compiled a graph of {function.__name__}, and the compiled graph raises RuntimeError"
    )
    assert str(said.message).startswith(start)
    assert (said.filename, said.lineno) == (__file__, function.__code__.co_firstlineno)


@pytest.mark.row("O11")
@pytest.mark.parametrize("backend", ["eager", "aot_eager", as_it_is])
def test_nothing_is_said_where_the_program_is_to_blame(backend: Any) -> None:
    compiled = tracer_core.compile(catches, backend=backend)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert run(compiled, 7) == run(catches, 7)


def test_ctrl_c_while_the_graph_is_tried_leaves_the_hook_on(monkeypatch: pytest.MonkeyPatch) -> None:
    tries, seen = blame.Blame._runs, []

    def interrupted(callback: Any) -> Any:
        set_eval_frame(callback)
        if callback is None:
            raise KeyboardInterrupt

    def watched(self: blame.Blame, inputs: tuple[Any, ...]) -> bool:
        seen.append(get_eval_frame_callback())
        try:
            return tries(self, inputs)
        finally:
            seen.append(get_eval_frame_callback())

    monkeypatch.setattr(blame, "set_eval_frame", interrupted)
    monkeypatch.setattr(blame.Blame, "_runs", watched)
    with pytest.raises(KeyboardInterrupt):
        tracer_core.compile(draws, backend=raising)(torch.ones(3), torch.tensor([0]), [])
    before, after = seen
    assert before is after is not None


@pytest.mark.row("O11")
def test_the_back_end_is_blamed_for_a_later_call_too() -> None:
    compiled = tracer_core.compile(catches, backend=raising)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert run(compiled, 7) == run(catches, 7)
    with pytest.warns(BackendWarning, match="boom"):
        assert run(compiled, 1) == run(catches, 1)


@pytest.mark.row("O11")
def test_the_recording_says_it() -> None:
    compiled = tracer_core.compile(draws, backend=raising)
    arguments = torch.ones(3), torch.tensor([1]), []
    with pytest.warns(BackendWarning), tw.record() as trace:
        compiled(*arguments)
    (notice,) = trace.notices
    assert notice.reason_id == "back-end-raises" and "RuntimeError: boom" in notice.message
    assert notice.line == draws.__code__.co_firstlineno
    assert "Notices" in str(trace)
    arguments[-1].clear()
    with tw.record() as later:  # nothing is compiled any more
        for _ in range(3):
            compiled(*arguments)
            arguments[-1].clear()
    assert len(later.notices) == 1 and not later.graphs
