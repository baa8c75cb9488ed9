"""tracing from a script."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import torch

import tracewalk as tw


def double(x: torch.Tensor) -> torch.Tensor:
    y = x * 2
    return y + 1


def test_trace_runs_once_and_returns_the_recording() -> None:
    calls = []

    def counted(x: torch.Tensor) -> torch.Tensor:
        calls.append(1)
        return x + 1

    trace = tw.trace(counted, torch.ones(2))
    assert isinstance(trace, tw.Trace)
    assert len(calls) == 1
    assert trace.label.endswith("counted")


def test_two_steps_of_an_optimizer_are_what_plain_python_makes_of_them() -> None:
    def train(optimizer: torch.optim.Optimizer) -> None:
        optimizer.step()
        optimizer.step()

    def moved(call: Callable[..., object]) -> torch.Tensor:
        parameter = torch.nn.Parameter(torch.tensor([1.0, 2.0]))
        parameter.grad = torch.tensor([0.5, -0.5])
        call(torch.optim.Adam([parameter], lr=0.1))
        return parameter.detach()

    assert torch.equal(moved(lambda optimizer: tw.trace(train, optimizer)), moved(train))


def test_the_recording_holds_the_functions_steps_and_graph() -> None:
    trace = tw.trace(double, torch.ones(3))
    names = [step.opname for step in trace.steps if step.depth == 0]
    assert names.count("BINARY_OP") == 2
    assert names[-1] == "RETURN_VALUE"
    (graph,) = trace.graphs
    assert [trace.nodes[i].op for i in graph.nodes].count("call_function") == 2


def test_record_holds_what_runs_inside_and_keyword_arguments_pass() -> None:
    compiled = tw.compile(double, backend="eager")
    with tw.record("mine") as trace:
        with pytest.raises(RuntimeError, match="still going on"):
            len(trace)
        assert torch.equal(compiled(torch.ones(2)), torch.tensor([3.0, 3.0]))
    assert trace.label == "mine"
    assert len(trace) > 0
    compiled(torch.ones(2, 2))
    assert len(trace.calls) == len({call.id for call in trace.calls})


def test_record_takes_over_functions_that_nobody_compiled_and_lets_go_after_the_block() -> None:
    with tw.record() as trace:
        assert torch.equal(double(torch.ones(2)), torch.tensor([3.0, 3.0]))
        doubled = double(torch.ones(3))
    assert torch.equal(doubled, torch.full((3,), 3.0))
    assert [trace.codes[call.code].name for call in trace.calls] == ["double", "double"]
    assert [call.outcome for call in trace.calls] == ["compiled", "compiled"]
    double(torch.ones(4))
    assert len(trace.calls) == 2


def test_record_is_complete_when_an_exception_leaves_the_block() -> None:
    with pytest.raises(ZeroDivisionError), tw.record() as trace:
        double(torch.ones(2))
        1 / 0  # noqa: B018
    assert len(trace.graphs) == 1
    double(torch.ones(5))
    assert len(trace.calls) == 1


def test_one_record_is_not_entered_twice_at_once() -> None:
    block = tw.record()
    with block, pytest.raises(RuntimeError, match="in use"), block:
        pass


def test_an_exception_comes_through_with_the_recording() -> None:
    def fails(x: torch.Tensor) -> torch.Tensor:
        y = x + 1
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine") as caught:
        tw.trace(fails, torch.ones(1))
    assert isinstance(caught.value.__trace__, tw.Trace)  # type: ignore[attr-defined]
    assert tw.last_trace() is caught.value.__trace__  # type: ignore[attr-defined]
    (note,) = caught.value.__notes__
    assert "tracewalk.last_trace()" in note
    assert len(caught.value.__trace__) > 0  # type: ignore[attr-defined]


def test_save_and_load_give_a_trace_that_shows_itself(tmp_path: Path) -> None:
    trace = tw.trace(double, torch.ones(3))
    trace.save(tmp_path / "double.trace")
    again = tw.load(tmp_path / "double.trace")
    assert isinstance(again, tw.Trace)
    assert [step.sentence for step in again.steps] == [step.sentence for step in trace.steps]
    assert again.to_html(tmp_path / "double.html").stat().st_size > 0


def test_compile_is_a_decorator_too() -> None:
    @tw.compile(backend="eager")
    def plus(x: torch.Tensor) -> torch.Tensor:
        return x + 1

    assert torch.equal(plus(torch.zeros(2)), torch.ones(2))


def test_a_typo_says_so() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'explore'"):
        tw.explore  # type: ignore[attr-defined]  # noqa: B018


def breaks_at_once(x):
    print("begun")
    return x + 1


def test_a_break_before_any_operation_does_not_speak_of_a_graph() -> None:
    (broken,) = tw.trace(breaks_at_once, torch.ones(2)).breaks
    assert broken.action.startswith("There is nothing to compile before this line, this line runs as plain Python")


def test_a_lambda_is_named_by_its_line() -> None:
    traced = lambda x: x + 1  # noqa: E731
    line = traced.__code__.co_firstlineno
    assert tw.trace(traced, torch.ones(2)).label == f"<lambda>, line {line}"
    assert tw.trace_dispatch(traced, torch.ones(2)).label == f"<lambda>, line {line}"


def test_two_runs_of_one_function_are_told_apart() -> None:
    before, after = tw.trace(double, torch.ones(2)), tw.trace(double, torch.ones(3))
    assert str(before.diff(after)).startswith("double (before) and double (after): ")
    other = tw.trace(torch.nn.Linear(2, 2), torch.ones(2))
    assert str(before.diff(other)).startswith("double and Linear: ")
