"""The story of a recording: which stations it has, where each is, and that its sentences are true of the program."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import pytest
import torch

import tracewalk as tw
from tracer_core.recording.story import Story

LOOKS = {"source", "frames", "values", "graph", "body", "guards", "breaks", "calls", "generated"}


def scale(x: torch.Tensor, n: int) -> torch.Tensor:
    return x * n


def breaks_in_the_middle(x: torch.Tensor, n: int) -> torch.Tensor:
    y = scale(x, n)
    print("here")
    return y.relu() + n


def line_of(function: Any, text: str) -> int:
    lines, first = inspect.getsourcelines(function)
    return first + next(i for i, line in enumerate(lines) if text in line)


@pytest.fixture(scope="module")
def told() -> tuple[tw.Trace, Story]:
    with tw.record() as trace:
        breaks_in_the_middle(torch.ones(3), 2)
        breaks_in_the_middle(torch.ones(3), 2)
        breaks_in_the_middle(torch.ones(4), 3)
    return trace, trace.story()


def test_stations_in_order(told: tuple[tw.Trace, Story]) -> None:
    assert [station.title for station in told[1]] == [
        "The call",
        "A call is inlined",
        "An operation becomes a node",
        "An assumption becomes a guard",
        "The graph breaks",
        "Tracing starts over",
        "New code is written",
        "The rest is a function too",
        "Compiled code is reused",
        "A guard fails",
        "The function is compiled again",
        "A size becomes a symbol",
        "The outcome",
    ]


def test_each_is_at_its_line(told: tuple[tw.Trace, Story]) -> None:
    trace, story = told
    lines = {station.title: trace.steps[station.step].line for station in story if station.step is not None}
    first = line_of(breaks_in_the_middle, "y = scale")
    multiplied = line_of(scale, "x * n")
    assert lines["The call"] == lines["A call is inlined"] == lines["Tracing starts over"] == first
    assert lines["An operation becomes a node"] == lines["An assumption becomes a guard"] == multiplied
    assert lines["The graph breaks"] == line_of(breaks_in_the_middle, "print")
    assert lines["The rest is a function too"] == line_of(breaks_in_the_middle, "relu")
    assert lines["The function is compiled again"] == first


def test_what_is_told(told: tuple[tw.Trace, Story]) -> None:
    texts = {station.title: station.text for station in told[1]}
    assert "`mul = x * 2`" in texts["An operation becomes a node"]
    assert "`n == 2`" in texts["An assumption becomes a guard"]
    assert "print()" in texts["The graph breaks"]
    assert f"from line {line_of(breaks_in_the_middle, 'relu')}" in texts["The rest is a function too"]
    assert "call 2 of `breaks_in_the_middle`" in texts["Compiled code is reused"]
    assert "it is 3" in texts["A guard fails"]
    assert "2 versions" in texts["The function is compiled again"]
    assert "now 4" in texts["A size becomes a symbol"]
    assert {station.look for station in told[1]} <= LOOKS
    assert str(told[1]).count("Look: ") == len(told[1])


def test_the_same_after_saving(told: tuple[tw.Trace, Story], tmp_path: Path) -> None:
    told[0].save(tmp_path / "a.trace")
    assert tw.load(tmp_path / "a.trace").story() == told[1]
    assert tw.story(told[0]) == told[1]


def test_a_body() -> None:
    def chosen(x: torch.Tensor) -> torch.Tensor:
        return torch.cond(x.sum() > 0, torch.sin, lambda y: y.cos(), (x,))

    titles = [station.title for station in tw.trace(chosen, torch.ones(3)).story()]
    assert "A function becomes a graph of its own" in titles


def test_nothing_traced() -> None:
    with tw.record() as trace:
        pass
    assert str(trace.story()) == "There is no story to tell: nothing was traced."


def test_each_points_to_one_thing(told: tuple[tw.Trace, Story]) -> None:
    trace, story = told
    station = {one.title: one for one in story}
    assert trace.nodes[station["An operation becomes a node"].item or 0].name == "mul"
    assert trace.guards[station["An assumption becomes a guard"].item or 0].text == "n == 2"
    assert trace.breaks[station["The graph breaks"].item or 0].reason_id == "print"
    assert trace.calls[station["Compiled code is reused"].item or 0].outcome == "reused"
    assert trace.calls[station["A guard fails"].item or 0].number == 3
    assert trace.calls[station["The function is compiled again"].item or 0].outcome == "compiled"
    assert station["A size becomes a symbol"].value in {symbol.name for symbol in trace.symbols}


def test_a_function_begins_at_its_first_line(told: tuple[tw.Trace, Story]) -> None:
    """Also one that makes cells, a generator, and a resume function."""

    def outer(x: torch.Tensor) -> torch.Tensor:
        def add(y: torch.Tensor) -> torch.Tensor:
            return x + y

        def parts() -> Any:
            yield x * 2
            yield add(x)

        return sum(parts(), torch.zeros(3))

    trace = tw.trace(outer, torch.ones(3))
    begins: dict[str, list[int | None]] = {}
    for frame in trace.frames:
        begins.setdefault(trace.codes[frame.code].name, []).append(trace.steps[trace.index.begin(frame)].line)
    assert begins["outer"] == [line_of(outer, "def add")]
    assert begins["add"] == [line_of(outer, "return x + y")]
    twice, called = line_of(outer, "yield x * 2"), line_of(outer, "yield add(x)")
    assert begins["parts"] == [twice, called, called], "a frame each time it goes on"
    resumed = [frame for frame in told[0].frames if told[0].codes[frame.code].kind == "resume"]
    assert {told[0].steps[told[0].index.begin(frame)].line for frame in resumed} == {
        line_of(breaks_in_the_middle, "relu")
    }
