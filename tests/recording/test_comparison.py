"""Two recordings compared: what is gone, what is new, numbers before and after, and where they part."""

from __future__ import annotations

import linecache
from itertools import pairwise
from pathlib import Path
from typing import Any

import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import tracewalk as tw
from tracer_core.recording.alignment import matches, side_by_side
from tracer_core.recording.comparison import differences

WITH_A_PRINT = """
def f(x, n):
    y = x * n
    print("here")
    return y.relu()
"""
MENDED = """
import math
def f(x, n):
    y = x * n
    return y.relu()
"""


def recorded(source: str, *calls: tuple[Any, ...]) -> tw.Trace:
    """A recording of calls of `f` from a file of this text."""
    namespace: dict[str, Any] = {"torch": torch, "__name__": "a_program"}
    lines = source.splitlines(keepends=True)
    name = f"<program {hash(source)}>"
    linecache.cache[name] = (len(source), None, lines, name)
    exec(compile(source, name, "exec"), namespace)
    with tw.record() as trace:
        for call in calls:
            namespace["f"](*call)
    return trace


def figures(found: Any) -> dict[str, tuple[float, float]]:
    return {one.name: (one.before, one.after) for one in found.figures}


CALLS = (torch.ones(3), 2), (torch.ones(3), 3)


def test_a_break_is_gone() -> None:
    before, after = recorded(WITH_A_PRINT, *CALLS), recorded(MENDED, *CALLS)
    found = before.diff(after)
    assert [one.reason_id for one in found.breaks.gone] == ["print"]
    assert found.breaks.new == []
    # Before: f and its rest; f has a second version for another number, and the rest does not read the number.
    assert figures(found)["graphs"] == (3, 2)
    assert figures(found)["compilations"] == (3, 2)
    assert figures(found)["recompilations"] == (1, 1)
    assert figures(found)["breaks"] == (1, 0)
    assert "L['y']" in {one.source for one in found.guards.gone}
    assert not found.same
    back = after.diff(before)
    assert back.breaks.new == found.breaks.gone and back.guards.new == found.guards.gone


def test_lines_are_matched_by_their_text() -> None:
    before, after = recorded(MENDED, *CALLS), recorded("# moved\n" + MENDED, *CALLS)
    assert before.diff(after).same
    assert before.diff(after).parts_at is None


def test_where_they_part() -> None:
    before, after = recorded(WITH_A_PRINT, *CALLS), recorded(MENDED, *CALLS)
    parting = before.diff(after).parts_at
    assert parting is not None
    assert before.steps[parting[0]].line == 4, "print"
    assert after.steps[parting[1]].line == 5, "return"


def test_a_guard_that_changed() -> None:
    found = recorded(MENDED, (torch.ones(3), 2)).diff(recorded(MENDED, (torch.ones(3), 5)))
    assert [one.text for one in found.guards.gone] == ["n == 2"]
    assert [one.text for one in found.guards.new] == ["n == 5"]
    assert found.parts_at is None and not found.same


def test_lines_side_by_side() -> None:
    before, after = recorded(WITH_A_PRINT, CALLS[0]), recorded(MENDED, CALLS[0])
    lines = [
        (None if a is None else before.steps[a].line, None if b is None else after.steps[b].line)
        for a, b in side_by_side(before, after)
    ]
    assert lines == [(3, 4), (4, None), (5, 5)]


def test_as_text() -> None:
    text = str(recorded(WITH_A_PRINT, *CALLS).diff(recorded(MENDED, *CALLS)))
    assert "breaks: 1 -> 0" in text and "Breaks that are gone (1)" in text and "print()" in text
    same = recorded(MENDED, *CALLS)
    assert "no difference" in str(same.diff(same))


def test_after_saving(tmp_path: Path) -> None:
    before, after = recorded(WITH_A_PRINT, *CALLS), recorded(MENDED, *CALLS)
    before.save(tmp_path / "a.trace")
    assert str(tw.load(tmp_path / "a.trace").diff(after)) == str(before.diff(after))


@given(st.lists(st.sampled_from(["y = y + n", "y = y * 2", "y = y.relu()", "print('here')"]), max_size=4))
def test_the_same_program_does_not_differ(lines: list[str]) -> None:
    source = "\n".join(["def f(x, n):", "    y = x", *(f"    {line}" for line in lines), "    return y + 1"])
    assert recorded(source, *CALLS).diff(recorded(source, *CALLS)).same


def test_graphs_are_matched_by_their_operations() -> None:
    found = recorded(WITH_A_PRINT, CALLS[0]).diff(recorded(MENDED, CALLS[0]))
    data = differences(found)
    [graphs] = [one for one in data.changes if one.kind == "graphs"]
    assert [row.text for section in graphs.gone for row in section.rows] == [
        "f, version 1: 1 operation (mul)",
        "`f`, after line 4, version 1: 1 operation (relu)",
    ]
    assert [row.text for section in graphs.new for row in section.rows] == ["f, version 1: 2 operations (mul, relu)"]
    assert data.headline == "breaks 1 → 0, graphs 2 → 1, compilations 2 → 1."


def test_guards_are_told_by_source_and_lead_to_their_steps() -> None:
    before, after = recorded(MENDED, (torch.ones(3), 2)), recorded(MENDED, (torch.ones(3), 5))
    data = differences(before.diff(after))
    [guards] = [one for one in data.changes if one.kind == "guards"]
    [gone], [new] = guards.gone, guards.new
    assert (gone.title, [row.text for row in gone.rows]) == ("n", ["n == 2"])
    assert (new.title, [row.text for row in new.rows]) == ("n", ["n == 5"])
    assert before.steps[gone.rows[0].step or 0].line == 4
    assert data.headline == "The numbers are the same, but other guards came."


def test_a_function_that_moved_is_the_same_function() -> None:
    source = "def g(x):\n    return x + 1\n\ndef f(x, n):\n    return g(x) * n\n"
    assert recorded(source, CALLS[0]).diff(recorded("# moved\n" + source, CALLS[0])).same


LINES = ["y = y + n", "y = y * 2", "y = y.relu()"]


@settings(max_examples=20, deadline=None)
@given(st.lists(st.sampled_from(LINES), max_size=5), st.lists(st.sampled_from(LINES), max_size=5))
def test_every_line_is_in_the_alignment_once_and_in_order(ours: list[str], theirs: list[str]) -> None:
    def run(lines: list[str]) -> tw.Trace:
        body = ["y = x", *lines, "return y + 1"]
        return recorded("\n".join(["def f(x, n):", *(f"    {line}" for line in body)]), CALLS[0])

    before, after = run(ours), run(theirs)
    pairs = side_by_side(before, after)
    for trace, steps, lines in (
        (before, [a for a, _ in pairs if a is not None], ours),
        (after, [b for _, b in pairs if b is not None], theirs),
    ):
        assert [trace.steps[step].line for step in steps] == list(range(2, len(lines) + 4))
    texts = ["y = x", *ours, "return y + 1"], ["y = x", *theirs, "return y + 1"]
    for a, b in pairs:
        if a is not None and b is not None:
            assert texts[0][(before.steps[a].line or 0) - 2] == texts[1][(after.steps[b].line or 0) - 2]


def test_a_call_without_tensors_is_none_that_ran_as_plain_python() -> None:
    source = "def f(x, n):\n    return n + 1\n"
    trace = recorded(source, CALLS[0])
    assert figures(trace.diff(trace))["calls as plain Python"] == (0, 0)
    assert "as plain Python" not in trace.overview().headline


def test_lines_of_long_loops_are_matched() -> None:
    """Without one line of the loop's body, all others have their partner."""
    before, after = ["a", "b", "c", "d"] * 2_000, ["a", "b", "d"] * 2_000
    found = list(matches(before, after))
    assert len(found) == len(after)
    assert all(before[i] == after[j] for i, j in found)
    assert found == sorted(found)


@given(st.lists(st.integers(0, 9), max_size=1000), st.lists(st.integers(0, 9), max_size=1000))
def test_matches_are_equal_and_in_order(some: list[int], others: list[int]) -> None:
    found = list(matches(some, others))
    assert all(some[i] == others[j] for i, j in found)
    assert all(i < k and j < m for (i, j), (k, m) in pairwise(found))
    assert list(matches(some, some)) == [(i, i) for i in range(len(some))]
