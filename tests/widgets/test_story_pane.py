"""The pane Story in a stand-alone page: each station of `trace.story()`, its step, and the thing it points to."""

from __future__ import annotations

from html import escape
from pathlib import Path
from typing import Any

import pytest
import torch
from playwright.sync_api import expect

import tracewalk as tw
from tests.recording.test_story import breaks_in_the_middle
from tests.widgets.conftest import Open


@pytest.fixture(scope="module")
def trace() -> tw.Trace:
    with tw.record("a story") as recorded:
        breaks_in_the_middle(torch.ones(3), 2)
        breaks_in_the_middle(torch.ones(3), 2)
        breaks_in_the_middle(torch.ones(4), 3)
    return recorded


MARKED = {
    "frames": ".tw-box-frames",
    "source": ".tw-box-code",
    "values": ".tw-value.tw-sought",
    "graph": "[data-testid=story-look] [data-testid=node]",
    "guards": "[data-testid=story-look] .tw-guard.tw-picked",
    "breaks": "[data-testid=story-look] [data-testid=break-details]",
    "calls": "[data-testid=story-look] tr.tw-current",
    "generated": "[data-testid=story-look] [data-testid=generated]",
}


@pytest.mark.parametrize(("dark", "width"), [(False, 1200), (True, 700)])
def test_from_station_to_station_by_keys(
    trace: tw.Trace, open_page: Open, artifacts: Path, dark: bool, width: int
) -> None:
    page = open_page(trace, dark=dark, width=width, height=1000)
    step = page.step
    for number, station in enumerate(trace.story()):
        page.press("t")
        step = step if station.step is None else station.step
        assert page.step == step
        told = page.part("station").nth(number)
        expect(told).to_have_attribute("aria-current", "step")
        expect(told).to_contain_text(station.title)
        assert plain(station.text) in told.inner_text()
        assert plain(station.hint) in told.inner_text()
        assert page.root.get_attribute("data-look") == station.look
        if station.look not in {"calls", "frames"}:
            expect(page.root.locator(MARKED[station.look]).first).to_be_visible()
        if station.item is not None and station.look == "guards":
            expect(page.root.locator(MARKED["guards"])).to_contain_text(trace.guards[station.item].text)
        if station.item is not None and station.look == "calls":
            call = trace.calls[station.item]
            expect(page.root.locator(MARKED["calls"])).to_have_attribute("data-call", str(call.id))
        page.page.screenshot(path=artifacts / f"story-{width}-{number + 1}.png")
    page.press("t")
    expect(page.part("notice")).to_have_text("This is the last station.")


def test_by_mouse(trace: tw.Trace, open_page: Open) -> None:
    page = open_page(trace)
    page.open_pane("story")
    story = trace.story()
    page.part("next-station").click()
    page.settle()
    assert page.step == story[0].step
    expect(page.part("previous-station")).to_be_disabled()
    page.part("station").nth(4).get_by_role("button").click()
    page.settle()
    assert page.step == story[4].step
    expect(page.part("pane")).to_contain_text(f"station 5 of {len(story)}")
    page.part("previous-station").click()
    page.settle()
    assert page.step == story[3].step


def test_the_story_opens_the_explorer_on_it(trace: tw.Trace) -> None:
    told: Any = tw.story(trace)
    data, _ = told._repr_mimebundle_()
    assert "&quot;pane&quot;:&quot;story&quot;" in data["text/html"]
    assert f"<pre>{escape(str(told))}</pre>" in data["text/html"]
    assert data["text/plain"] == str(told)
    assert trace.show(pane="story").pane == "story"


def plain(text: str) -> str:
    return text.replace("`", "")
