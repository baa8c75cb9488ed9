"""`t.try_fixes()`: each candidate, where it removes the break or recompilation, where it does not, and where it would
change results."""

from __future__ import annotations

import contextlib
import linecache
import random
from collections.abc import Callable
from typing import Any

import pytest
import torch

import tracewalk as tw
from tests.fixes import programs
from tracer_core.fixes import candidates as table
from tracer_core.guards import KINDS
from tracer_core.reasons import REASONS
from tracer_core.recording.fixes import Fixes, Tried
from tracewalk import Trace

X = torch.ones(3)


def recorded(function: Callable[..., Any], *calls: tuple[Any, ...], **options: Any) -> Trace:
    with tw.record(**options) as trace:
        for args in calls:
            function(*args)
    return trace


def tried(fixes: Fixes, name: str) -> Tried:
    found = [one for problem in fixes.problems for one in problem.tried if one.name.startswith(name)]
    assert found, str(fixes)
    return found[0]


REMOVES = [
    (programs.prints, "replay_prints", "replay_prints"),
    (programs.branch, "torch.where", "+ y = torch.where(x.sum() > 0, x + 1, x - 1)"),
    (programs.branch, "torch.cond", "+ y = torch.cond(x.sum() > 0, lambda: x + 1, lambda: x - 1)"),
    (programs.returns, "torch.where", "+ return torch.where(x.sum() > 0, x + 1, x - 1)"),
    (programs.returns, "torch.cond", "- return x - 1"),
    (programs.without_else, "torch.cond", "+ x = torch.cond(x.sum() > 0, lambda: x + 1, lambda: x.clone())"),
    (programs.chooses, "torch.where", "+ y = torch.where(x.sum() > 0, x * 2, x * 3)"),
    (programs.scalar, "the tensor", "+ s = x.sum()"),
    (
        programs.setting,
        "the constant",
        "+ return x * constant",
    ),
]


@pytest.mark.parametrize(("function", "name", "diff"), REMOVES)
def test_a_change_that_removes_the_break(function: Callable[..., Any], name: str, diff: str) -> None:
    trace = recorded(function, (X,), (-X,))
    fixes = trace.try_fixes()
    one = tried(fixes, name)
    assert (one.verdict, one.text) == ("removes", "It removes the break."), str(fixes)
    assert diff in one.diff
    assert fixes.before is not None and fixes.before.breaks == len(trace.break_places)
    assert one.after is not None and one.after.breaks < fixes.before.breaks
    assert one in fixes.helpful


CHANGES = [
    (programs.numbers, "torch.where"),  # a tensor, where plain Python returns a float
    (programs.shapes, "torch.where"),  # the branches have different shapes
    (programs.scalar_returned, "the tensor"),
]


@pytest.mark.parametrize(("function", "name"), CHANGES)
def test_a_change_of_results_is_said(function: Callable[..., Any], name: str) -> None:
    fixes = recorded(function, (X,), (-X,)).try_fixes()
    one = tried(fixes, name)
    assert one.verdict == "changes results", str(fixes)
    assert "No candidate removes it." in {problem.text for problem in fixes.problems}


WHY = [
    (
        programs.numbers,
        (X,),
        "torch.where",
        "In call 1, item 1 of the result is a tensor f32[], and 1.0 in plain Python.",
    ),
    (
        programs.shapes,
        (X,),
        "torch.where",
        "In call 1, the result is a tensor f32[3], and a tensor f32[1] in plain Python.",
    ),
    (
        programs.scalar_returned,
        (X,),
        "the tensor",
        "In call 1, item 1 of the result is a tensor f32[], and 3.0 in plain Python.",
    ),
    (
        programs.writes_in_branches,
        (-X, []),
        "torch.where",
        "In call 1, `seen` after the call has 1 item, and 0 in plain Python.",
    ),
    (
        programs.talks_in_branches,
        (-X,),
        "torch.where",
        "In call 1, it prints 'positive\\n', and nothing in plain Python.",
    ),
    (
        programs.draws_in_a_branch,
        (-X,),
        "torch.where",
        "In call 1, it draws other random numbers than plain Python, or another number of them.",
    ),
    (
        programs.lists,
        (X,),
        "the tensor",
        "The line has no call of `.item()`, `float()`, `int()` or `bool()` to leave out.",
    ),
    (programs.two_assignments, (X,), "torch.where or torch.cond", "Only a conditional expression can be rewritten, "),
]


@pytest.mark.parametrize(("function", "args", "name", "why"), WHY, ids=[row[0].__name__ + row[2] for row in WHY])
def test_why_a_change_does_not_help(function: Callable[..., Any], args: tuple[Any, ...], name: str, why: str) -> None:
    fixes = recorded(function, args).try_fixes()
    one = tried(fixes, name)
    assert one.why.startswith(why), one.why
    assert f"{one.text} {one.why}" in str(fixes)


def test_where_a_break_goes() -> None:
    one = tried(recorded(programs.item_branch, (X,)).try_fixes(), "the tensor")
    line = programs.item_branch.__code__.co_firstlineno + 1
    assert one.why == (
        f"The graph ends at programs.py:{line}, in item_branch: The code branches on the value of a tensor (bool[])."
    )


def test_what_is_left_of_a_recompilation() -> None:
    fixes = recorded(programs.mode, (X, "twice"), (X, "thrice")).try_fixes()
    one = tried(fixes, "dynamic=True")
    assert (one.text, one.why) == (
        "The recompilation stays.",
        "It was 'twice' when it was compiled, then 'thrice'.",
    )


def _without_source(text: str) -> Callable[..., Any]:
    scope: dict[str, Any] = {"torch": torch}
    exec(compile(text, "a_file_that_is_gone.py", "exec"), scope)
    return scope["f"]  # type: ignore[no-any-return]


def test_a_function_without_a_source_cannot_be_rewritten() -> None:
    fixes = recorded(
        _without_source("def f(x):\n    if x.sum() > 0:\n        x = x + 1\n    return x"), (X,)
    ).try_fixes()
    one = tried(fixes, "torch.where or torch.cond")
    assert (one.verdict, one.text) == ("not tried", "It cannot be tried automatically.")
    assert one.why == "No file has the source of `f` as a `def`, so its line cannot be rewritten."
    assert fixes.problems[0].text == "There is no change that can be tried for it automatically."


def test_nothing_is_computed_for_a_constant_that_has_an_effect(capsys: pytest.CaptureFixture[str]) -> None:
    trace = recorded(programs.prints_in_a_loop, (X,))
    capsys.readouterr()
    fixes = trace.try_fixes()
    assert capsys.readouterr().out == ""
    assert not any("constant" in one.name for problem in fixes.problems for one in problem.tried), str(fixes)


@pytest.mark.parametrize("rows", [0, 1])
def test_sizes_0_and_1_are_marked_as_unbacked(rows: int) -> None:
    def double(x: torch.Tensor) -> torch.Tensor:
        return x * 2

    fixes = recorded(tw.compile(double, backend="eager"), (torch.ones(4, 3),), (torch.ones(rows, 3),)).try_fixes()
    assert [one.name for one in fixes.helpful] == ["mark_unbacked of x"], str(fixes)
    assert fixes.helpful[0].diff == "+ torch._dynamo.decorators.mark_unbacked(x, 0)  # before each call"
    assert not any("mark_dynamic" in one.diff for problem in fixes.problems for one in problem.tried)


def test_other_sizes_are_marked_as_dynamic_beside_them() -> None:
    def double(x: torch.Tensor) -> torch.Tensor:
        return x * 2

    fixes = recorded(tw.compile(double, backend="eager"), (torch.ones(4, 3),), (torch.ones(1, 7),)).try_fixes()
    assert [one.name for one in fixes.helpful] == ["mark_unbacked of x"], str(fixes)
    assert fixes.helpful[0].diff.splitlines() == [
        "+ torch._dynamo.decorators.mark_unbacked(x, 0)  # before each call",
        "+ torch._dynamo.mark_dynamic(x, 1)  # before each call",
    ]


def test_sizes_0_and_1_also_where_every_size_is_a_symbol() -> None:
    def double(x: torch.Tensor) -> torch.Tensor:
        return x * 2

    compiled = tw.compile(double, backend="eager", dynamic=True)
    fixes = recorded(compiled, (torch.ones(4, 3),), (torch.ones(1, 3),)).try_fixes()
    assert [one.name for one in fixes.helpful] == ["mark_unbacked of x"], str(fixes)


def test_a_change_that_does_not_help() -> None:
    one = tried(recorded(programs.item_branch, (X,)).try_fixes(), "the tensor")
    assert (one.verdict, one.text) == ("no effect", "Another break takes the place of this one.")


def test_a_change_with_which_a_call_raises() -> None:
    one = tried(recorded(programs.repeats, (X,)).try_fixes(), "the tensor")
    assert (one.verdict, one.text) == ("fails", "With it, a call raises an exception.")
    assert one.why.startswith("In call 1, it raises TypeError: repeat(): argument 'repeats'") and one.why.endswith(
        "."
    )


def test_sizes() -> None:
    fixes = recorded(programs.plain, *((torch.ones(n),) for n in (3, 4, 5))).try_fixes()
    mark = tried(fixes, "mark_dynamic of x")
    assert mark.verdict == "removes" and "torch._dynamo.mark_dynamic(x, 0)" in mark.diff
    assert mark.after is not None and mark.after.compilations == 1
    assert tried(fixes, "dynamic=True").verdict == "removes"


def test_marks_do_not_help_with_dtypes() -> None:
    fixes = recorded(programs.plain, (X,), (X.double(),)).try_fixes()
    assert tried(fixes, "dynamic=True").verdict == "no effect"
    assert not any(one.name.startswith("mark") for problem in fixes.problems for one in problem.tried)


def test_a_larger_limit() -> None:
    with pytest.warns(RuntimeWarning):
        trace = recorded(programs.plain, *((torch.ones(n),) for n in range(2, 14)), dynamic=False)
    one = tried(trace.try_fixes(), "a larger limit")
    assert one.verdict == "removes" and one.after is not None and one.after.plain == 0


def test_nothing_can_be_tried_for_some() -> None:
    fixes = recorded(programs.mode, (X, "twice"), (X, "thrice")).try_fixes()
    assert [one.verdict for problem in fixes.problems for one in problem.tried] == ["no effect"]
    assert fixes.problems[0].text == "No candidate removes it."


def test_nothing_to_fix() -> None:
    fixes = recorded(programs.plain, (X,), (X,)).try_fixes()
    assert fixes.problems == [] and "There is nothing to fix" in str(fixes)


@pytest.mark.usefixtures("nothing_frozen")  # functions are found by Python's collector
def test_the_program_stays_as_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    net = programs.Net()
    before = programs.Net.forward.__code__
    trace = recorded(programs.calls_net, (net, X), (net, -X))
    state = {name: value.clone() for name, value in net.state_dict().items()}
    steps, drawn, shuffled = net.steps, torch.get_rng_state(), random.getstate()
    text = linecache.getlines(programs.__file__)
    fixes = trace.try_fixes()
    assert any(one.verdict == "removes" for problem in fixes.problems for one in problem.tried), str(fixes)
    assert programs.Net.forward.__code__ is before and net.steps == steps
    assert all(torch.equal(value, state[name]) for name, value in net.state_dict().items())
    assert torch.equal(torch.get_rng_state(), drawn) and random.getstate() == shuffled
    assert linecache.getlines(programs.__file__) == text
    assert capsys.readouterr().out == ""


def test_globals_are_put_back() -> None:
    programs.COUNT["calls"] = 0
    held = programs.COUNT
    fixes = recorded(programs.counts, (X,), (X,)).try_fixes()
    assert programs.COUNT is held and held == {"calls": 2}
    assert fixes.before is not None, str(fixes)


def test_output_is_not_printed_twice(capsys: pytest.CaptureFixture[str]) -> None:
    trace = recorded(programs.random, (X,))
    assert capsys.readouterr().out == "drawn\n"
    fixes = trace.try_fixes()
    assert capsys.readouterr().out == ""
    assert tried(fixes, "replay_prints").verdict == "removes", str(fixes)


def test_no_time() -> None:
    fixes = recorded(programs.prints, (X,)).try_fixes(seconds=0)
    assert fixes.before is None and "nothing was tried" in fixes.notes[0]


def test_results_that_vary_cannot_be_checked() -> None:
    import time

    def now(x: torch.Tensor) -> tuple[torch.Tensor, float]:
        return x + 1, time.perf_counter()

    fixes = recorded(now, (X,)).try_fixes()
    assert fixes.before is None and "cannot be checked" in "".join(fixes.notes).replace("none can", "cannot"), (
        fixes.notes
    )


def test_a_loaded_recording_has_no_calls(tmp_path: Any) -> None:
    recorded(programs.prints, (X,)).save(tmp_path / "t.trace")
    assert "nothing can be tried" in str(tw.load(tmp_path / "t.trace").try_fixes())


def test_an_exception_of_the_program_is_compared_too() -> None:
    def fails(x: torch.Tensor) -> torch.Tensor:
        print("before")
        raise ValueError(str(int(x.shape[0])))

    with tw.record() as trace, contextlib.suppress(ValueError):
        fails(X)
    assert "replay_prints" in str(trace.try_fixes())


def test_options_of_the_compiled_function_are_kept() -> None:
    compiled = tw.compile(programs.plain, backend=lambda graph, _: graph.forward, dynamic=True)
    fixes = recorded(compiled, (torch.ones(3),), (torch.ones(4),)).try_fixes()
    assert fixes.problems == [] and fixes.before is not None and fixes.before.compilations == 1


def test_closures_and_star_arguments() -> None:
    def outer(scale: torch.Tensor) -> Callable[..., torch.Tensor]:
        def inner(x: torch.Tensor, *more: torch.Tensor, bias: float = 1.0, **named: float) -> torch.Tensor:
            print(end="")
            return (x + more[0]) * scale + bias + named["a"]

        return inner

    fixes = recorded(lambda: outer(X)(X, X, bias=2.0, a=1.0), ()).try_fixes()
    assert fixes.before is not None and tried(fixes, "replay_prints").verdict == "removes", str(fixes)


def test_trace_of_one_call() -> None:
    fixes = tw.trace(programs.branch, X).try_fixes()
    assert tried(fixes, "torch.where").verdict == "removes"


def test_the_table_names_known_reasons_and_kinds() -> None:
    reasons, kinds = table.known()
    assert reasons <= set(REASONS) and kinds - {"*"} <= set(KINDS)


def test_the_state_of_an_optimizer_stays_as_it_is() -> None:
    layer = torch.nn.Linear(3, 1)
    optimizer = torch.optim.SGD(layer.parameters(), lr=0.1, momentum=0.9)

    def step(x: torch.Tensor) -> torch.Tensor:
        optimizer.zero_grad()
        loss = layer(x).sum()
        loss.backward()
        optimizer.step()
        return loss

    def state() -> list[torch.Tensor]:
        parameters = list(layer.parameters())
        assert list(optimizer.state) == parameters  # (no parameter of a repeated call)
        return [*parameters, *(one["momentum_buffer"] for one in optimizer.state.values())]

    trace = recorded(step, (torch.ones(2, 3),), (torch.ones(4, 3),))
    before = [each.clone() for each in state()]
    fixes = trace.try_fixes()
    assert tried(fixes, "dynamic=True").verdict == "removes"
    assert all(map(torch.equal, before, state()))
