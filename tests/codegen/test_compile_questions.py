"""Programs that ask whether they are being compiled, and whose graph ends: what they are told, what is recorded."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch

import tracer_core
import tracewalk as tw
from tracer_core.compiling import CHECKS

OPTIONS = {"raise_internal_faults": True}


def masked(x: torch.Tensor, mask: torch.Tensor | None = None) -> torch.Tensor:
    if mask is None and not torch.compiler.is_compiling():
        mask = torch.ones(3)
    return x * mask[None]  # type: ignore[index]


def masked_after_a_break(x: torch.Tensor) -> tuple[torch.Tensor, bool]:
    mask = None if torch.compiler.is_compiling() else torch.ones(3)
    print("between")
    return x * mask[None], torch.compiler.is_compiling()  # type: ignore[index]


def checked(x: torch.Tensor) -> tuple[torch.Tensor, bool]:
    if not torch.compiler.is_compiling() and bool((x > 3).all()):
        x = x - 1
    print("checked")
    return x + 1, torch.compiler.is_compiling()


def test_the_recording_says_what_the_function_was_told() -> None:
    trace = tw.trace(masked, torch.ones(2, 3))
    first, last = trace.attempts
    assert (first.outcome, last.outcome) == ("restarted", "compiled")
    assert first.message.startswith("The code calls torch.compiler.is_compiling(), which returns True while tracing")
    assert "'NoneType' object is not subscriptable" in first.message
    assert len(trace.graphs) == 1
    assert trace.breaks == []


def test_breaks_that_only_the_given_up_attempt_met_are_not_recorded() -> None:
    trace = tw.trace(checked, torch.ones(2))
    assert [(one.id, one.reason_id, one.root_line) for one in trace.breaks] == [
        (0, "print", checked.__code__.co_firstlineno + 3)
    ]


def test_after_a_break_the_answer_stays_what_it_was() -> None:
    compiled = tracer_core.compile(masked_after_a_break, backend="eager", options=OPTIONS)
    assert compiled(torch.ones(2, 3))[1] is False
    tracer_core.reset()
    compiled = tracer_core.compile(checked, backend="eager", options=OPTIONS)
    assert compiled(torch.ones(2))[1] is True


def test_a_full_graph_with_plain_pythons_answer() -> None:
    compiled = tracer_core.compile(masked, backend="eager", fullgraph=True, options=OPTIONS)
    assert torch.equal(compiled(torch.ones(2, 3)), masked(torch.ones(2, 3)))


def test_a_full_graph_that_neither_answer_gives() -> None:
    compiled = tracer_core.compile(masked_after_a_break, backend="eager", fullgraph=True, options=OPTIONS)
    with pytest.raises(tracer_core.Unsupported, match="The code calls `print"):
        compiled(torch.ones(2, 3))


@pytest.mark.row("F10")
@pytest.mark.parametrize("function", CHECKS, ids=CHECKS.values())
def test_every_question_is_answered_with_true_in_a_whole_graph(function: Any) -> None:
    def asks(x: torch.Tensor) -> tuple[torch.Tensor, bool]:
        return x + 1, function()

    assert asks(torch.ones(2))[1] is False
    assert tracer_core.compile(asks, backend="eager", fullgraph=True, options=OPTIONS)(torch.ones(2))[1] is True


def test_one_that_libraries_ask_by_torchs_own_compiler() -> None:
    import torch._dynamo

    compiled = tracer_core.compile(
        lambda x: (x + 1, torch._dynamo.is_compiling()), backend="eager", fullgraph=True, options=OPTIONS
    )
    assert compiled(torch.ones(2))[1] is True


@pytest.mark.parametrize(
    "question", [torch.jit.is_tracing, torch._C._is_tracing, lambda: torch._C._get_tracing_state() is not None]
)
def test_questions_about_torch_jit_have_the_answer_of_the_moment(question: Any) -> None:
    def asks(x: torch.Tensor) -> torch.Tensor:
        return x * (2.0 if question() else 3.0)

    compiled = tracer_core.compile(asks, backend="eager", options=OPTIONS)
    assert compiled(torch.ones(())).item() == 3.0
    traced = torch.jit.trace(lambda x: compiled(x), torch.ones(()), check_trace=False)
    assert math.isclose(traced(torch.ones(())).item(), 2.0)
    assert compiled(torch.ones(())).item() == 3.0


def test_questions_about_transforms_have_the_answer_of_the_moment() -> None:
    def asks(x: torch.Tensor) -> torch.Tensor:
        return x + torch._C._are_functorch_transforms_active()

    compiled = tracer_core.compile(asks, backend="eager", options=OPTIONS)
    one = torch.ones(())
    assert compiled(one).item() == 1
    assert torch.vmap(lambda x: compiled(one) + x)(torch.zeros(1)).item() == 2
    assert compiled(one).item() == 1
