"""On programs as people have them: nothing of theirs changes, and each change that is said to help does, applied by
hand to the text of the program."""

from __future__ import annotations

import ast
import contextlib
import functools
import inspect
import io
import linecache
import random
import textwrap
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

import tracewalk as tw
from tests.fixes import real_programs
from tracer_core.recording.fixes import Figures, Problem, Tried
from tracewalk import Trace

Call = tuple[Callable[..., Any], tuple[Any, ...], Callable[[], Any]]
"""A function, its arguments, and what to do before the call."""
Calls = Callable[[Any], list[Call]]
"""Returns the calls of a program, given the module with the programs."""
X = torch.linspace(-1, 2, 12).reshape(3, 4)


def nothing(*_: Any) -> None:
    pass


def on_module(name: str, *inputs: torch.Tensor) -> Calls:
    def calls(programs: Any) -> list[Call]:
        torch.manual_seed(0)
        module = getattr(programs, name)()
        return [(module, (each,), nothing) for each in inputs]

    return calls


def on_function(name: str, *arguments: tuple[Any, ...]) -> Calls:
    return lambda programs: [(getattr(programs, name), each, nothing) for each in arguments]


def trains(programs: Any) -> list[Call]:
    torch.manual_seed(0)
    model = programs.Branches()
    optimizer = torch.optim.Adam(model.parameters())
    return [(programs.train_step, (model, optimizer, torch.ones(rows, 4)), nothing) for rows in (4, 4, 2)]


def modes(programs: Any) -> list[Call]:
    torch.manual_seed(0)
    module = programs.Drops()
    return [(module, (X,), functools.partial(module.train, training)) for training in (True, False)]


def images(rows: int) -> torch.Tensor:
    return torch.linspace(0, 1, rows * 64).reshape(rows, 1, 8, 8)


PROGRAMS: dict[str, tuple[Calls, set[str]]] = {
    "print": (on_module("SmallCNN", images(2), images(3)), {"replay_prints", "dynamic=True"}),
    "item": (on_module("Normalized", X, -X), {"the tensor instead of its number", "dynamic=True"}),
    "branch": (on_module("Branches", X, -X), {"torch.where for the branch", "torch.cond for the branch"}),
    "elif": (
        on_function("clips", (X, "one"), (X * 0.01, "one")),
        {"torch.where for the branch", "torch.cond for the branch"},
    ),
    "one line": (on_function("chooses", (X,), (-X,)), {"torch.where for the branch", "torch.cond for the branch"}),
    "two in a line": (
        on_function("two_in_a_line", (X,), (-X,)),
        {"the tensor instead of its number", "dynamic=True"},
    ),
    "counter": (on_module("Counts", X, X, X), set()),
    "batches": (on_function("batches", (X,), (X[:2],), (X.repeat(2, 1),)), {"mark_dynamic of x", "dynamic=True"}),
    "rate": (on_function("decays", (X, 0.1), (X, 0.2), (X, 0.4)), {"dynamic=True"}),
    "list": (on_function("grows", (X,), (X,)), set()),
    "config": (on_function("configured", *((X, {"alpha": a, "mode": "relu"}) for a in (3.0, 2.0))), {"dynamic=True"}),
    "dropout": (modes, {"replay_prints"}),
    "optimizer": (trains, {"torch.where for the branch", "torch.cond for the branch", "mark_dynamic of x"}),
    "buffer": (on_module("Running", X, X), {"replay_prints"}),
    "generator": (on_function("generates", (X,), (X,)), {"replay_prints"}),
    "logging": (on_function("logs", (X,), (X,)), set()),
    "numpy": (on_function("percentiles", (X,), (X,)), set()),
    "grad": (on_function("toggles", (X, True), (X, False)), {"replay_prints"}),
}


def run(calls: list[Call], mark: Callable[..., None] = nothing, **options: Any) -> tuple[Trace, list[Any], str]:
    """Return the recording, the results and the output."""
    real_programs.HISTORY.clear()
    results, output = [], io.StringIO()
    functions = {id(function): function for function, _, _ in calls}
    if options:
        functions = {number: tw.compile(one, backend="eager", **options) for number, one in functions.items()}
    for _, arguments, _ in calls:
        mark(*arguments)
    with contextlib.redirect_stdout(output), tw.record() as trace:
        for function, arguments, before in calls:
            before()
            results.append(functions[id(function)](*arguments))
    return trace, results, output.getvalue()


def plain(calls: list[Call]) -> tuple[list[Any], str]:
    real_programs.HISTORY.clear()
    results, output = [], io.StringIO()
    with contextlib.redirect_stdout(output):
        for function, arguments, before in calls:
            before()
            results.append(function(*arguments))
    return results, output.getvalue()


def state(objects: list[Any]) -> Any:
    """What the program has: its objects, globals and random state."""
    modules = [one for one in objects if isinstance(one, nn.Module)]
    optimizers = [one for one in objects if isinstance(one, torch.optim.Optimizer)]
    return (
        [[value.tolist() for value in one.state_dict().values()] for one in modules],
        [[each.grad is None for each in one.parameters()] for one in modules],
        [(one.training, one.__dict__.get("steps")) for one in modules],
        [str(one.state_dict()) for one in optimizers],
        [value.tolist() for value in real_programs.HISTORY],
        {name: value for name, value in vars(real_programs).items() if not name.startswith("__")},
        [function.__code__ for function in vars(real_programs).values() if inspect.isfunction(function)],
        (torch.get_rng_state().tolist(), random.getstate(), torch.is_grad_enabled()),
    )


@pytest.mark.usefixtures("nothing_frozen")  # functions are found by Python's collector
@pytest.mark.parametrize("name", PROGRAMS)
def test_what_is_said_to_help_does(name: str) -> None:
    create, helpful = PROGRAMS[name]
    calls = create(real_programs)
    trace, _, _ = run(calls)
    objects = [one for function, arguments, _ in calls for one in (function, *arguments)]
    before = state(objects)
    fixes = trace.try_fixes()
    assert state(objects) == before
    assert fixes.before is not None, str(fixes)
    assert {one.name for one in fixes.helpful} == helpful, str(fixes)
    for problem in fixes.problems:
        for one in problem.tried:
            assert bool(one.why) == (one.verdict != "removes"), str(fixes)
            if one.verdict == "removes":
                _apply(create, problem, one, fixes.before)


def _apply(create: Calls, problem: Problem, one: Tried, before: Figures) -> None:
    """Apply a change by hand, and check that it helps, and changes no result."""
    options: dict[str, Any] = {}
    programs: Any = real_programs
    mark: Callable[..., None] = nothing
    if "tw.compile(" in one.diff:
        (added,) = ast.parse(one.diff.splitlines()[-1].removeprefix("+ ")).body
        assert isinstance(added, ast.Expr) and isinstance(added.value, ast.Call)
        options = {str(each.arg): ast.literal_eval(each.value) for each in added.value.keywords}
    elif one.name.startswith("mark_"):
        mark = _marking(one.diff)
    else:
        programs = _patched(one.diff)
    expected = plain(create(real_programs))
    trace, *found = run(create(programs), mark, **options)
    assert found[1] == expected[1]
    torch.testing.assert_close(found[0], expected[0], rtol=0, atol=0)
    if problem.kind == "break":
        assert len(trace.break_places) < before.breaks, one.name
    else:
        assert sum(each.outcome == "compiled" for each in trace.compilations) < before.compilations, one.name


def _marking(diff: str) -> Callable[..., None]:
    """Return a function that marks the arguments of a call as the diff says."""
    lines = [line.removeprefix("+ ") for line in diff.splitlines()]

    def mark(*arguments: Any) -> None:
        (tensor,) = (each for each in arguments if isinstance(each, torch.Tensor))
        for line in lines:
            exec(line, {"torch": torch, "x": tensor, "input": tensor})

    return mark


def _patched(diff: str) -> types.ModuleType:
    """Return the programs with the lines of the diff replaced, as a person would."""
    text = Path(real_programs.__file__).read_text()
    old, new = ([line[2:] for line in diff.splitlines() if line.startswith(sign)] for sign in ("- ", "+ "))
    lines = text.splitlines()
    at = next(i for i in range(len(lines)) if textwrap.dedent("\n".join(lines[i : i + len(old)])) == "\n".join(old))
    indent = lines[at][: len(lines[at]) - len(lines[at].lstrip())]
    lines[at : at + len(old)] = [indent + line for line in new]
    module = types.ModuleType("real_programs_patched")
    module.__file__ = f"{real_programs.__file__}.patched.py"
    patched = "\n".join(lines) + "\n"
    linecache.cache[module.__file__] = (len(patched), None, patched.splitlines(True), module.__file__)
    exec(compile(patched, module.__file__, "exec"), vars(module))
    return module
