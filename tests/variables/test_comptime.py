"""`torch._dynamo.comptime`: what it shows of the trace is what torch's own shows."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch._dynamo.comptime import comptime

import tracer_core
from tests.recording.programs_in_files import recorded

pytestmark = pytest.mark.row("B3")

SEEN: list[Any] = []


def by_both(function: Callable[..., Any], *calls: tuple[Any, ...], **options: Any) -> tuple[list[Any], list[Any]]:
    """What the function notes in `SEEN` while it is traced, by ours and by torch's compiler, in one graph."""
    noted = []
    for compile in (tracer_core.compile, torch.compile):
        torch._dynamo.reset()
        SEEN.clear()
        compiled = compile(function, backend="eager", fullgraph=True, **options)
        for args in calls:
            got = compiled(*args)
            noted_now = list(SEEN)
            want = function(*args)
            assert SEEN == noted_now, "plain Python does not call it"
            assert torch.equal(got, want)
        noted.append(list(SEEN))
    return noted[0], noted[1]


def facts_of_locals(x, n):
    y = x * 2

    @comptime
    def look(ctx):
        y, n, x = (ctx.get_local(name) for name in "ynx")
        SEEN.append((y.size(), y.size(1), y.python_type(), y.is_proxy(), y.is_python_constant(), y.is_dynamic()))
        SEEN.append((n.as_python_constant(), n.is_python_constant(), n.python_type(), n.is_proxy()))
        SEEN.append((x.as_fake().dtype, type(x.as_fake()).__name__))

    return y + n


def test_facts_of_locals() -> None:
    ours, theirs = by_both(facts_of_locals, (torch.ones(2, 3), 5))
    assert ours == theirs
    assert len(ours) == 3


def look_at_the_graph(ctx):
    SEEN.append([node.op for node in ctx.graph().nodes])


def the_graph_so_far(x):
    y = x.sin()
    comptime(look_at_the_graph)
    return y.cos() + 1


def test_the_graph_so_far() -> None:
    ours, theirs = by_both(the_graph_so_far, (torch.ones(3),))
    assert ours == theirs == [["placeholder", "call_method"]]


def look_at_the_caller(ctx):
    SEEN.append(ctx.get_local("x", stacklevel=1).size())
    SEEN.append(ctx.parent().get_local("x").size())


def helper(z):
    comptime(look_at_the_caller)
    return z + 1


def called_below(x):
    return helper(x[0])


def test_locals_of_the_caller() -> None:
    ours, theirs = by_both(called_below, (torch.ones(2, 3),))
    assert ours == theirs == [torch.Size([2, 3])] * 2


def note_whether_open(ctx):
    SEEN.append(ctx.get_local("n").is_dynamic())


def forces_a_size(x):
    n = x.shape[0]
    comptime(note_whether_open)
    comptime.force_static(n)
    comptime.assert_static(n)
    return x * n


def test_a_size_is_forced_to_be_static() -> None:
    ours, theirs = by_both(forces_a_size, (torch.ones(4),), (torch.ones(5),), dynamic=True)
    assert ours == theirs == [True, True], "each size has code of its own"


def prints(x, n):
    y = x + n
    comptime.print(y)
    comptime.print_graph()
    comptime.print_locals()
    comptime.print_guards()
    comptime.print_bt()
    comptime.print_value_stack()
    comptime.print_disas()
    return y


def test_it_prints_while_tracing_alone(capsys: pytest.CaptureFixture[str]) -> None:
    compiled = tracer_core.compile(prints, backend="eager", fullgraph=True)
    compiled(torch.ones(2, 3), 4)
    printed = capsys.readouterr().out
    for part in (r"f32\[2, 3\]", r"def forward\(self", "n = 4", r"\bn == 4", "test_comptime.py", "LOAD_FAST"):
        assert re.search(part, printed), part
    compiled(torch.ones(2, 3), 4)
    assert not capsys.readouterr().out


def fails(x):
    y = x + 1
    comptime(lambda ctx: 1 // 0)
    comptime.assert_static(x.shape[0])
    return y * 2


def test_one_that_fails_breaks_the_graph_there() -> None:
    trace = recorded(fails, (torch.ones(3),), dynamic=True)
    assert [(each.reason_id, each.line) for each in trace.breaks] == [
        ("comptime", fails.__code__.co_firstlineno + 2),
        ("comptime", fails.__code__.co_firstlineno + 3),
    ]
    assert "ZeroDivisionError" in trace.breaks[0].message


def captures(x):
    y = x + 1
    comptime(lambda ctx: SEEN.append(y))
    return y


def test_one_with_free_variables_breaks_the_graph() -> None:
    (broken,) = recorded(captures, (torch.ones(3),)).breaks
    assert broken.reason_id == "comptime"
    assert "free variables" in broken.message
