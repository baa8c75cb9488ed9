"""What takes over a second says how far it is, in a notebook and in a terminal; Ctrl-C ends it."""

from __future__ import annotations

import io
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

import tracewalk as tw
from tracer_core import recording
from tracer_core.recording import pace
from tracewalk import progress


class Line:
    def __init__(self) -> None:
        self.texts: list[str] = []

    def show(self, text: str) -> None:
        self.texts.append(text)

    def clear(self) -> None:
        self.texts.append("")


@pytest.fixture
def line(monkeypatch: pytest.MonkeyPatch) -> Line:
    """Where progress is shown, at once and often."""
    made = Line()
    monkeypatch.setattr(progress, "_line", lambda: made)
    monkeypatch.setattr(progress, "AFTER", 0.001)
    monkeypatch.setattr(progress, "EVERY", 0.001)
    return made


def test_nothing_is_shown_of_what_is_done_soon(line: Line, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "AFTER", 60.0)
    begun = time.monotonic()
    with progress.progress(lambda: "working"):
        pass
    assert line.texts == [""]
    assert time.monotonic() - begun < 5


def test_the_text_is_asked_again_and_the_line_goes_at_the_end(line: Line) -> None:
    done = 0
    with progress.progress(lambda: f"{done} done"):
        while len(line.texts) < 20:
            done += 1
            time.sleep(0.001)
    assert line.texts[0].endswith(" s; interrupt to stop)")
    assert len(set(line.texts)) > 2
    assert line.texts[-1] == ""


def test_it_goes_after_ctrl_c_too(line: Line) -> None:
    with pytest.raises(KeyboardInterrupt):
        with progress.progress(lambda: "working"):
            raise KeyboardInterrupt
    assert line.texts[-1] == ""


def long(x: torch.Tensor) -> torch.Tensor:
    for i in range(40):
        x = x + i
    return x


def test_tracing_says_how_many_steps_there_are_and_where(line: Line) -> None:
    trace = tw.trace(long, torch.ones(2))
    told = [text for text in line.texts if text]
    assert told and all(text.startswith("Tracing: ") for text in told)
    assert any(", in long" in text for text in told)
    counts = [int(text.split()[1].replace(",", "")) for text in told]
    assert counts == sorted(counts) and 0 < counts[-1] <= len(trace)
    assert line.texts[-1] == ""


def test_fixes_export_and_loading_say_how_far_they_are(line: Line, tmp_path: Path) -> None:
    trace = tw.trace(long, torch.ones(2))

    def told() -> set[str]:
        first = {text.split()[0] for text in line.texts if text}
        line.texts.clear()
        return first

    told()
    trace.try_fixes()
    assert told() >= {"Trying"}
    trace.to_html(tmp_path / "page.html")
    assert told() == {"Writing"}
    trace.save(tmp_path / "t.trace")
    tw.load(tmp_path / "t.trace")
    assert told() <= {"Saving", "Loading"}


def test_searching_comparing_saving_and_tables_say_how_far_they_are(line: Line, tmp_path: Path) -> None:
    trace, other = tw.trace(long, torch.ones(2)), tw.trace(long, torch.ones(2))

    def tells(what: str, work: Callable[[], object]) -> None:
        line.texts.clear()
        deadline = time.monotonic() + 20
        while not any(line.texts) and time.monotonic() < deadline:
            work()
        assert {text.startswith(what) for text in line.texts if text} == {True}

    tells(f"Searching {len(trace) - 3:,} steps", lambda: trace.steps[3:].where("x changes"))
    tells("Comparing both recordings", lambda: trace.diff(other))
    tells("Reading steps", trace.to_dataframe)
    tells("Saving ", lambda: trace.save(tmp_path / "t.trace"))
    assert trace.diff(other).same


def test_the_share_that_is_done_is_shown(line: Line) -> None:
    with progress.progress_of("Working"):
        for done in range(4):
            pace.tell(done, 4)
            seen = len(line.texts)
            while len(line.texts) < seen + 2:
                time.sleep(0.001)
    shares = [text.partition(" (")[0] for text in line.texts if text]
    assert list(dict.fromkeys(shares))[-3:] == ["Working: 25 %", "Working: 50 %", "Working: 75 %"]


def test_ctrl_c_ends_a_search_and_the_recording_stays_usable() -> None:
    trace = recording.Trace(tw.trace(long, torch.ones(2)).data)
    found = [step.index for step in trace.steps.where("x changes")]

    def interrupt(done: int, total: int) -> None:
        raise KeyboardInterrupt

    with pace.heard(interrupt):
        for work in (lambda: trace.steps.where("x changes"), trace.to_dataframe):
            with pytest.raises(KeyboardInterrupt):
                work()
    assert [step.index for step in trace.steps.where("x changes")] == found
    assert len(trace.to_dataframe()) == len(trace)


def test_a_terminal_shows_one_line_that_is_written_over(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.setattr(sys, "stderr", Terminal())
    terminal: Any = progress._line()
    terminal.show("much work")
    terminal.show("done")
    terminal.clear()
    assert sys.stderr.getvalue() == "\rmuch work\rdone     \r    \r"  # type: ignore[attr-defined]
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    assert progress._line() is None
