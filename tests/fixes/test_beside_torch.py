"""`t.beside_torch()`: the engine beside the installed `torch.compile`, where they agree and where they part. What
torch does is asked of torch, here again."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch._dynamo
from torch._C._dynamo import eval_frame

import tracewalk as tw
from tests.fixes import programs
from tracer_core.fixes import torch_run
from tracer_core.recording.beside_torch import BesideTorch, TorchRow

X = torch.ones(3)


def compared(function: Callable[..., Any], *calls: tuple[Any, ...]) -> BesideTorch:
    with tw.record() as trace:
        for args in calls:
            function(*args)
    return trace.beside_torch()


def by_torch(function: Callable[..., Any], *calls: tuple[Any, ...]) -> dict[str, int]:
    """Graphs, operations and lines with breaks of torch's compiler."""
    graphs: list[torch.fx.GraphModule] = []

    def backend(graph: torch.fx.GraphModule, _examples: Any) -> Any:
        graphs.append(graph)
        return graph.forward

    torch._dynamo.reset()
    torch._dynamo.utils.clear_compilation_metrics()
    compiled = torch.compile(function, backend=backend)
    for args in calls:
        compiled(*args)
    lines = {one.user_stack[-1].lineno for one in torch._dynamo.utils.graph_break_reasons}
    compilations = sum(bool(one.has_guarded_code) for one in torch._dynamo.utils.get_compilation_metrics())
    torch._dynamo.reset()
    called = [node for graph in graphs for node in graph.graph.nodes if node.op.startswith("call")]
    counts = {"graphs": len(graphs), "operations": len(called), "lines with a break": len(lines)}
    return {**counts, "compilations": compilations}


def rows(found: BesideTorch, kind: str) -> list[TorchRow]:
    return [row for row in found.rows if row.kind == kind]


@pytest.mark.parametrize(
    ("function", "calls"),
    [
        (programs.prints, [(X,), (torch.ones(4),)]),
        (programs.branch, [(X,), (-X,)]),
        (programs.where_it_starts, [(X,)]),
        (programs.Scaled(), [(torch.ones(n, 4),) for n in (2, 3, 5)]),
        (programs.Stacked(), [(torch.ones(n, 4),) for n in (2, 3, 5)]),
    ],
)
def test_numbers_of_torch_are_those_of_torch(function: Callable[..., Any], calls: list[tuple[Any, ...]]) -> None:
    expected = by_torch(function, *calls)
    found = compared(function, *calls)
    assert {one.name: one.torch for one in found.figures if one.name in expected} == expected
    assert [row.text for row in rows(found, "results")] == [
        f"{who} gives the results of plain Python ({len(calls)} call{'s' if len(calls) > 1 else ''})."
        for who in ("The engine", "`torch.compile`")
    ]


@pytest.mark.parametrize("function", [programs.prints, programs.branch])
def test_both_do_the_same(function: Callable[..., Any]) -> None:
    found = compared(function, (X,), (-X,))
    assert found.headline == "The engine and `torch.compile` capture the same graphs, with the same breaks."
    assert found.differences == []
    (one,) = rows(found, "breaks")
    assert one.text == "Both break the graph here."
    assert (one.pane, one.item) == ("breaks", 0)
    assert one.step is not None


def test_only_torch_breaks() -> None:
    found = compared(programs.where_it_starts, (X,))
    (one,) = rows(found, "breaks")
    assert one.source == "start = x.storage_offset()"
    assert one.text == "Only `torch.compile` breaks the graph here; the engine goes on."
    assert one.torch.startswith("torch.* op returned non-Tensor")
    assert one.engine == ""
    assert one.step is not None
    assert found.headline.startswith("Only `torch.compile` breaks the graph at programs.py:")
    assert [row.text for row in rows(found, "graphs")][:1] == [
        "The graphs part after 1 operation (`add`): the engine goes on with `add`, `torch.compile` ends the graph."
    ]
    assert "      torch.compile: " in str(found)


def test_a_function_that_only_torch_leaves_to_python() -> None:
    found = compared(programs.breaks_in_a_loop, (X,))
    (one,) = rows(found, "breaks")
    assert one.source == 'print("again")'
    assert (
        one.text
        == "Both break here; `torch.compile` runs the whole function as plain Python, the engine compiles the rest."
    )
    assert not one.same
    graphs = next(one for one in found.figures if one.name == "graphs")
    assert graphs.torch == 0
    assert graphs.engine > 0


def test_versions_are_counted_by_function() -> None:
    found = compared(programs.prints, (X,), (torch.ones(4),), (torch.ones(5),))
    assert [(row.place, row.text) for row in rows(found, "compilations")] == [
        ("prints", "Both compile it once."),
        ("prints, after line 14", "Both compile it twice."),
    ]


def test_functions_of_one_name_are_told_apart_and_those_of_libraries_have_theirs() -> None:
    found = compared(programs.Stacked(), (torch.ones(2, 4),))
    assert {row.place for row in rows(found, "compilations")} == {
        "Stacked.forward",
        "Stacked.forward, after line 152",
        "Printing.forward",
        "Printing.forward, after line 142",
    }
    found = compared(torch.nn.Linear(2, 2), (torch.ones(3, 2),))
    assert [row.place for row in rows(found, "graphs")] == ["Linear.forward"]
    assert found.differences == []


def test_a_wrong_result_leads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch, "compile", lambda function, **_: lambda x: function(x) + 1)
    found = compared(programs.prints, (X,), (X + 1,))
    assert found.headline.startswith("`torch.compile` differs from plain Python in calls 1 and 2.")


def test_nothing_of_the_program_changes() -> None:
    compiled = tw.compile(programs.prints, backend="eager")
    compiled(X)
    utils = torch._dynamo.utils
    utils.counters["stats"]["mine"] += 1

    def state() -> Any:
        counters = {name: dict(counter) for name, counter in utils.counters.items()}
        metrics = len(utils.get_compilation_metrics())
        running = eval_frame.get_eval_frame_callback()
        return set(vars(programs)), counters, metrics, running, torch.get_rng_state().tolist(), random.getstate()

    with tw.record() as trace:
        programs.counts(X)
        programs.prints(X)
    before, count = state(), dict(programs.COUNT)
    found = trace.beside_torch()
    assert found.rows, str(found)
    assert state() == before
    assert count == programs.COUNT
    with tw.record() as again:
        compiled(X)
    assert [call.outcome for call in again.calls if again.codes[call.code].name == "prints"] == ["reused"]


def test_without_calls_it_says_why(tmp_path: Any) -> None:
    trace = tw.trace(programs.prints, X)
    trace.save(tmp_path / "t.trace")
    found = tw.load(tmp_path / "t.trace").beside_torch()
    assert found.rows == []
    assert str(found) == (
        "Only the trace that recorded the calls has their arguments; a loaded one does not. "
        "So the calls cannot be repeated."
    )
    with tw.record() as nothing:
        pass
    assert str(nothing.beside_torch()) == "No call was recorded. So the calls cannot be repeated."


def test_time_runs_out() -> None:
    with tw.record() as trace:
        programs.prints(X)
    found = trace.beside_torch(seconds=-1)
    assert found.rows == []
    assert found.notes[-1] == "Repeating the calls takes more than -1 seconds, so nothing was compared."


def test_it_can_stop_between_repetitions() -> None:
    with tw.record() as trace:
        programs.prints(X)
    states = list(trace.comparing_with_torch())
    assert [(one.done, one.total) for one in states] == [(0, 3), (1, 3), (2, 3), (3, 3)]
    assert [one.next for one in states] == [*torch_stages(), None]


def torch_stages() -> list[str]:
    return ["the calls as plain Python", "the calls through the engine", "the calls through torch.compile"]


def test_messages_of_torch_become_reasons() -> None:
    assert torch_run._reason("generic_jump TensorVariable()") == "Data-dependent branching"
    assert torch_run._reason("A\n  Explanation: b.\n  Hint: c") == "A: b."
    assert torch_run._guard("3/1: n == 2      # y = y*n  # f.py:15 in f\nUser stack trace:") == "n == 2"
    assert torch_run._function("f.py", "torch_dynamo_resume_in_g_at_10") == torch_run.Function(
        "f.py", "g", 10, resumed=True
    )
