"""A wrong kind of argument to a public function is told in one sentence, which says what to pass instead."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

import tracewalk as tw
from tracer_core import recording


def double(x: torch.Tensor) -> torch.Tensor:
    return x * 2


@pytest.fixture(scope="module")
def t() -> tw.Trace:
    return tw.trace(double, torch.ones(2))


CALLS: dict[str, Callable[[Any], Any]] = {
    "trace(3)": lambda t: tw.trace(3),
    "trace(result)": lambda t: tw.trace(double(torch.ones(2))),
    "trace_dispatch(3)": lambda t: tw.trace_dispatch(3),
    "record(f)": lambda t: tw.record(double),
    "load(3)": lambda t: tw.load(3),
    "load(None)": lambda t: tw.load(None),
    "load(t)": lambda t: tw.load(t),
    "story(3)": lambda t: tw.story(3),
    "story(f)": lambda t: tw.story(double),
    "recording.load(3)": lambda t: recording.load(3),
    "recording.save(3, path)": lambda t: recording.save(3, "x.trace"),
    "recording.save(t, 3)": lambda t: recording.save(t, 3),
    "diff(3)": lambda t: t.diff(3),
    "diff(f)": lambda t: t.diff(double),
    "diff(Trace)": lambda t: t.diff(tw.Trace),
    "diff(None)": lambda t: t.diff(None),
    "save(3)": lambda t: t.save(3),
    "to_html(3)": lambda t: t.to_html(3),
    "to_html(path, my_code=text)": lambda t: t.to_html("x.html", my_code="timm"),
    "to_dataframe(3)": lambda t: t.to_dataframe(3),
    "to_dataframe([])": lambda t: t.to_dataframe([]),
    "find(line=text)": lambda t: t.find(line="3"),
    "find(file=3)": lambda t: t.find(file=3),
    "find(function=f)": lambda t: t.find(function=double),
    "find(op=3)": lambda t: t.find(op=3),
    "find(node=f)": lambda t: t.find(node=double),
    "find(guard=1.5)": lambda t: t.find(guard=1.5),
    "find(break_=text)": lambda t: t.find(break_="x"),
    "find(text=3)": lambda t: t.find(text=3),
    "at_line(None, text)": lambda t: t.at_line(None, "3"),
    "at_line(3, 3)": lambda t: t.at_line(3, 3),
    "stops(3)": lambda t: t.stops(3),
    "steps[text]": lambda t: t.steps["x"],
    "steps[None]": lambda t: t.steps[None],
    "steps.where(3)": lambda t: t.steps.where(3),
    "function_of(text)": lambda t: t.function_of("x"),
    "dispatch[text]": lambda t: t.dispatch["x"],
    "dispatch.under(3)": lambda t: t.dispatch.under(3),
    "show(position=text)": lambda t: t.show("x"),
    "show(my_code=text)": lambda t: t.show(my_code="timm"),
    "show(before=3)": lambda t: t.show(before=3),
    "show(pane=3)": lambda t: t.show(pane=3),
    "try_fixes(text)": lambda t: t.try_fixes("x"),
    "beside_torch(None)": lambda t: t.beside_torch(None),
    "diff(t).to_html(3)": lambda t: t.diff(t).to_html(3),
    "diff(t).show(my_code=text)": lambda t: t.diff(t).show(my_code="timm"),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_it_says_what_to_pass_instead(call: Callable[[Any], Any], t: tw.Trace) -> None:
    with pytest.raises(TypeError) as raised:
        call(t)
    told = str(raised.value)
    assert re.search(r"must be .+, not |is a text, or a function of a step, not ", told), told
    assert told.endswith(".")
    assert " object " not in told  # no `repr`, and none of Python's own messages
    assert "\n" not in told


def test_an_odd_object_is_not_asked_for_its_repr(t: tw.Trace) -> None:
    class Odd:
        def __repr__(self) -> str:
            raise AssertionError

    with pytest.raises(TypeError, match="must be a recording, not of type Odd"):
        t.diff(Odd())


def test_right_ones_are_accepted_in_each_way(t: tw.Trace, tmp_path: Path) -> None:
    t.save(path=tmp_path / "a.trace")
    assert tw.load(str(tmp_path / "a.trace")).diff(other=t).same
    assert tw.story(t) and t.find(file=None, op="RESUME", break_=None) and t.show(before=None, my_code=())
    assert tw.record("name") and t.steps.where("frame == 'double'")


def test_a_height_is_told_in_pixels(t: tw.Trace) -> None:
    with pytest.raises(TypeError, match=r"show: `height` must be a whole number, not of type str\. .* in pixels"):
        t.show(height="80%")
