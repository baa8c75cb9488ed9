"""Two recordings compared: what is gone, what is new, numbers before and after, and where they part."""

from __future__ import annotations

import linecache
from pathlib import Path
from typing import Any

import torch
from hypothesis import given
from hypothesis import strategies as st

import tracewalk as tw
from tracer_core.recording.alignment import side_by_side

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
    assert [one.text for one in found.guards.gone] == ["L['n'] == 2"]
    assert [one.text for one in found.guards.new] == ["L['n'] == 5"]
    assert found.parts_at is None and not found.same


def test_lines_side_by_side() -> None:
    before, after = recorded(WITH_A_PRINT, CALLS[0]), recorded(MENDED, CALLS[0])
    lines = [
        (None if a is None else before.steps[a].line, None if b is None else after.steps[b].line)
        for a, b in side_by_side(before, after)
    ]
    assert lines == [(2, 3), (3, 4), (4, None), (5, 5)]


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
