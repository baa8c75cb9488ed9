"""Long work in slices: others have their turn between them, and it can be stopped, from outside and by Ctrl-C."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import msgspec
import pytest
import torch

import tracewalk as tw
from tracer_core.recording import pace
from tracer_core.recording.dispatching import DispatchSteps
from tracewalk import feed, slices
from tracewalk.slices import Sliced


def threads() -> int:
    return sum(thread.name == "tracewalk-slices" for thread in threading.enumerate())


@pytest.fixture(autouse=True)
def short(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Slices that end whenever the work says how far it is. No work is left at the end."""
    monkeypatch.setattr(slices, "SLICE", 0.0)
    monkeypatch.setattr(pace, "EVERY", 4)
    yield
    assert threads() == 0


def counted(log: list[str], parts: int = 3) -> Callable[[], bytes]:
    def work() -> bytes:
        for part in range(parts):
            log.append(f"part {part}")
            pace.tell(part + 1, parts)
        return b"done"

    return work


def test_others_have_their_turn_between_slices() -> None:
    log: list[str] = []
    work = Sliced(counted(log))
    while not work.go_on():
        log.append(f"{work.done} of {work.total}")
    assert log == ["part 0", "1 of 3", "part 1", "2 of 3", "part 2", "3 of 3"]
    assert work.result == b"done"


def test_it_stops_between_slices() -> None:
    log: list[str] = []
    work = Sliced(counted(log))
    assert not work.go_on()
    work.stop()
    assert log == ["part 0"]


def test_an_error_of_the_work_is_raised_where_it_is_waited_for() -> None:
    def fails() -> bytes:
        pace.tell(0, 1)
        raise ValueError("mine")

    work = Sliced(fails)
    assert not work.go_on()
    with pytest.raises(ValueError, match="mine"):
        work.go_on()


def test_ctrl_c_stops_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slices, "SLICE", 60.0)
    reached: list[int] = []

    def endless() -> bytes:
        while True:
            if len(reached) == 3:
                signal.raise_signal(signal.SIGINT)
            reached.append(0)
            pace.tell(0, 1)
            time.sleep(0.001)

    with pytest.raises(KeyboardInterrupt):
        Sliced(endless).go_on()


def test_work_that_nobody_asks_for_any_more_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slices, "GIVEN_UP", 0.01)
    work = Sliced(counted([]))
    deadline = time.monotonic() + 10
    while threads() and time.monotonic() < deadline:
        time.sleep(0.01)
    with pytest.raises(LookupError, match="It was stopped"):
        work.go_on()


class Asked:
    """An explorer, asked as the front end asks it."""

    def __init__(self, explorer: Any) -> None:
        self.explorer = explorer
        self.number = 0
        explorer.send = self._note
        self.answer: tuple[dict[str, Any], Any] = ({}, None)

    def _note(self, content: dict[str, Any], buffers: Any = None) -> None:
        self.answer = content, buffers

    def __call__(self, ask: str, index: int = 0, **more: Any) -> Any:
        self.number += 1
        self.explorer._answer(self.explorer, {"id": self.number, "ask": ask, "index": index, **more}, None)
        content, buffers = self.answer
        assert content["id"] == self.number
        return content["error"] if "error" in content else msgspec.json.decode(buffers[0])


def test_a_search_answers_how_far_it_is_and_other_questions_meanwhile(example: tw.Trace) -> None:
    ask = Asked(example.show())
    so = ask("stops", text="changes(total)")
    first = ask.number
    rounds = 0
    while "unfinished" in so:
        assert 0 <= so["done"] <= so["total"]
        assert ask("window", 0) == msgspec.json.decode(feed.block(example, "window", 0))
        so = ask("stops", first, text="changes(total)")
        rounds += 1
    assert rounds > 3
    assert so["steps"] == [step.index for step in example.steps.where("changes(total)")]


def test_a_search_and_a_comparison_are_stopped_and_can_be_had_again(example: tw.Trace) -> None:
    ask = Asked(example.show(before=example))
    for what, text in (("stops", "total is read"), ("stops", "step.raised"), ("differences", "")):
        so = ask(what, text=text)
        if "unfinished" not in so:
            continue
        assert ask("stop", ask.number) is None
        assert threads() == 0
    so = ask("differences")
    first = ask.number
    while "unfinished" in so:
        so = ask("differences", first)
    assert so["headline"] == "Both ran the same lines, with the same breaks, graphs and guards."


def test_what_is_under_a_node_is_not_traced_if_it_is_stopped_before() -> None:
    trace = tw.trace(lambda x: x.relu(), torch.ones(2))
    node = next(node.id for node in trace.nodes if node.name == "relu")
    ask = Asked(trace.show())
    assert ask("under", text=str(node)) == {"done": 0, "total": 0, "unfinished": True}
    assert ask("stop", ask.number) is None
    assert len(trace.dispatch) == 0
    assert ask("under", text=str(node))["unfinished"]
    given = ask("under", ask.number)
    assert [step["operator"] for step in given["steps"]] == ["aten.relu.default"]
    assert len(trace.dispatch) == 1


def test_tracing_under_a_node_is_interrupted_and_can_be_had_again(monkeypatch: pytest.MonkeyPatch) -> None:
    trace = tw.trace(lambda x: x.relu(), torch.ones(2))
    node = next(node.id for node in trace.nodes if node.name == "relu")
    ask = Asked(trace.show())
    with monkeypatch.context() as patch:
        patch.setattr(DispatchSteps, "on_dispatch_exit", lambda *_: signal.raise_signal(signal.SIGINT))
        assert ask("under", text=str(node))["unfinished"]
        assert ask("under", ask.number) == "RuntimeError: The kernel was interrupted."
    assert len(trace.dispatch) == 0
    assert ask("under", text=str(node))["unfinished"]
    assert len(ask("under", ask.number)["steps"]) == 1


def test_a_search_that_is_interrupted_says_so(example: tw.Trace, monkeypatch: pytest.MonkeyPatch) -> None:
    ask = Asked(example.show())

    def interrupted(self: Sliced) -> bool:
        self.stop()
        raise KeyboardInterrupt

    monkeypatch.setattr(Sliced, "go_on", interrupted)
    assert ask("stops", text="total is read") == "RuntimeError: The kernel was interrupted."
