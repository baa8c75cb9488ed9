"""Sizes marked with mark_dynamic that the program fixes: told with the line that did, and raised if asked for."""

from __future__ import annotations

import warnings
from typing import Any

import pytest
import torch

import tracer_core
from tests.recording.programs_in_files import PACKAGES, USERS, module, recorded
from tracer_core.errors import Unsupported
from tracer_core.recording import Trace

PROGRAMS = {
    "an equality": ("def f(x):\n    y = x + 1\n    if x.size(0) == 6:\n        y = -y\n    return y\n", 3),
    "two bounds": ("def f(x):\n    if x.size(0) > 5:\n        x = -x\n    return x if x.size(0) < 7 else x + 1\n", 4),
    "a range": ("def f(x):\n    y = x + 1\n    for i in range(len(x)):\n        y = y + i\n    return y\n", 3),
    "a fixed tensor": ("def f(x):\n    y = torch.ones(6, 1)\n    return x + y\n", 3),
    "a reshape": ("def f(x):\n    y = x + 1\n    return y.reshape(6, 2)\n", 3),
    "a text": ("def f(x):\n    y = x + 1\n    return y, f'{x.size(0)}'\n", 3),
    "iteration": ("def f(x):\n    y = 0\n    for row in x:\n        y = y + row\n    return y\n", 3),
}


def marked(rows: int = 6, dim: int = 0) -> torch.Tensor:
    x = torch.ones(rows, 2)
    torch._dynamo.mark_dynamic(x, dim)
    return x


def noted(text: str, *calls: Any, **names: Any) -> tuple[Trace, list[warnings.WarningMessage]]:
    tracer_core.reset()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        trace = recorded(module(text, **names)["f"], *calls)
    return trace, [one for one in caught if issubclass(one.category, RuntimeWarning)]


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_marked_size_that_is_fixed_is_told_with_its_line(name: str) -> None:
    text, line = PROGRAMS[name]
    trace, (warning,) = noted(text, (marked(),))
    (notice,) = trace.notices
    assert notice.message == "`x.size(0)` is marked with mark_dynamic, but the code specializes it to 6."
    assert (notice.reason_id, notice.line, trace.codes[notice.code or 0].filename) == (
        "marked-size-fixed",
        line,
        USERS,
    )
    assert trace.steps[notice.step or 0].line == line
    assert (warning.filename, warning.lineno) == (USERS, line)
    assert f'  File "{USERS}", line {line}, in f' in str(warning.message)
    assert f"Notices\n  model.py:{line}, in f: `x.size(0)` is marked" in str(trace)
    assert not trace.breaks
    with pytest.raises(Exception, match="marked|Constraint"):
        torch._dynamo.reset()
        torch.compile(module(text)["f"], backend="eager", fullgraph=True)(marked())


@pytest.mark.parametrize("name", PROGRAMS)
def test_it_is_raised_if_asked_for(name: str) -> None:
    text, line = PROGRAMS[name]
    compiled = tracer_core.compile(module(text)["f"], backend="eager", options={"strict_mark_dynamic": True})
    with (
        warnings.catch_warnings(),
        pytest.raises(Unsupported, match=rf'specializes it to 6.\n  File "{USERS}", line {line}, in'),
    ):
        warnings.simplefilter("error")
        compiled(marked())


NOT_FIXED = {
    "arithmetic": "def f(x):\n    return x * x.size(0)\n",
    "an inequality": "def f(x):\n    return x + 1 if x.size(0) > 3 else x\n",
    "another size": "def f(x):\n    return x.reshape(x.size(0) * 2)\n",
    "not equal": "def f(x):\n    return x + 1 if x.size(0) != 9 else x\n",
    "another dimension": "def f(x):\n    return x + 1 if x.size(1) == 2 else x\n",
}


@pytest.mark.parametrize("name", NOT_FIXED)
def test_nothing_is_told_of_sizes_that_vary(name: str) -> None:
    trace, caught = noted(NOT_FIXED[name], (marked(),), (marked(7),))
    assert (trace.notices, caught) == ([], [])
    assert len(trace.compilations) == 1


def test_nothing_is_told_of_sizes_that_nobody_marked_for_sure() -> None:
    x = torch.ones(6, 2)
    torch._dynamo.maybe_mark_dynamic(x, 0)
    assert noted(PROGRAMS["an equality"][0], (x,), (torch.ones(6, 2),))[1] == []


@pytest.mark.parametrize("rows", [0, 1])
def test_sizes_0_and_1_are_compiled_on_their_own_without_a_notice(rows: int) -> None:
    """As in torch; the guard says it, and so does its failure."""
    trace, caught = noted(NOT_FIXED["arithmetic"], (marked(rows),), (marked(5),), (marked(rows),))
    assert (trace.notices, caught) == ([], [])
    texts = [guard.text for guard in trace.guards if guard.source.startswith("L['x']")]
    said = "sizes 0 and 1 are always compiled on their own"
    assert f"x is a Tensor f32[{rows}, 2], strides [2, 1], requires_grad=False (dimension 0: {said})" in texts
    assert "2 <= x.size(0) (0 and 1 are always compiled on their own)" in texts
    assert "then of shape [5, 2]" in str(trace)
    (failed,) = (check for call in trace.calls for check in call.checks if check.seen == f"x.size(0) == {rows}")
    assert failed.text.endswith("(0 and 1 are always compiled on their own)")


def test_a_library_that_fixes_a_size_is_named_below_the_line_that_called_it() -> None:
    library = module("def check(x):\n    if x.size(0) == 6:\n        return x\n    return -x\n", PACKAGES)
    trace, (warning,) = noted("def f(x):\n    return check(x + 1)\n", (marked(),), check=library["check"])
    (notice,) = trace.notices
    assert notice.line == 2 and notice.library is not None
    assert trace.codes[notice.library.code].filename == PACKAGES
    assert f'which runs, in a library: File "{PACKAGES}", line 2, in check' in str(warning.message)


def test_a_warning_made_an_error_is_the_users() -> None:
    compiled = tracer_core.compile(module(PROGRAMS["an equality"][0])["f"], backend="eager")
    with warnings.catch_warnings(), pytest.raises(RuntimeWarning, match="specializes it to 6"):
        warnings.simplefilter("error")
        compiled(marked())
