"""The stand-alone page in a browser: where things stand, in narrow, tall and long pages, and how quickly."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from playwright.sync_api import Page, expect

import tracewalk as tw
from tests.browser.explorer_page import ExplorerPage
from tests.widgets.conftest import Open, long_trace

LONG = 40_000


def test_nothing_moves_while_stepping(example: tw.Trace, open_page: Open) -> None:
    page = open_page(example)
    parts = ["toolbar", "timeline", "frames", "source", "bytecode-fold", "sentence", "pane", "position", "next"]

    def places() -> list[tuple[str, object]]:
        return [(part, page.part(part).bounding_box()) for part in parts if part != "sentence"]

    before = places()
    for key in ["ArrowRight"] * 12 + ["n", "i", "o", "m", "g", "b", "End"]:
        page.press(key)
        assert places() == before, key


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_a_narrow_page_stacks(example: tw.Trace, open_page: Open, artifacts: Path, *, dark: bool) -> None:
    page = open_page(example, width=700, height=1400, dark=dark)
    expect(page.root).to_have_attribute("data-theme", "dark" if dark else "light")
    boxes = [box.bounding_box() for box in page.root.locator(".tw-box").all()]
    assert len({round(box["x"]) for box in boxes if box}) == 1
    assert page.page.evaluate("() => document.documentElement.scrollWidth <= innerWidth")
    page.page.screenshot(path=artifacts / f"page-narrow-{'dark' if dark else 'light'}.png")


def test_a_tall_window_is_filled(example: tw.Trace, open_page: Open) -> None:
    page = open_page(example, width=1400, height=1500)
    box = page.root.bounding_box()
    assert box is not None
    assert 1500 - 24 <= box["y"] + box["height"] <= 1500


def test_guards_that_wrap_stay_in_line(example: tw.Trace, open_page: Open) -> None:
    page = open_page(example, width=340, height=1400)
    guards = page.open_pane("guards").get_by_test_id("guard").all()
    lefts = []
    for guard in guards:
        parts = [part.bounding_box() for part in guard.locator("> span").all()]
        text = parts[0]
        assert text is not None
        below = [
            part["x"] for part in parts if part and part["y"] >= text["y"] + text["height"] - 2 and part["width"]
        ]
        lefts += [first - text["x"] for first in below[:1]]
    assert lefts, "no guard wraps at this width"
    assert all(abs(left) < 1 for left in lefts)


def test_the_current_frame_is_in_view(open_page: Open) -> None:
    def inner(x: torch.Tensor, n: int) -> torch.Tensor:
        return inner(x, n - 1) if n else x + 1

    trace = tw.trace(inner, torch.ones(2), 12)
    page = open_page(trace, width=640, height=1100)
    page.part("find").fill(f"#{max(range(len(trace)), key=lambda at: trace.steps[at].depth)}")
    page.part("find").press("Enter")
    page.settle()
    frames = page.part("frames")
    current = frames.locator('[aria-current="true"]')
    place, around = current.bounding_box(), frames.bounding_box()
    assert place is not None and around is not None
    assert frames.locator(".tw-frame").count() > 8
    assert around["y"] - 1 <= place["y"] and place["y"] + place["height"] <= around["y"] + around["height"] + 1


def step_times(page: Page, count: int) -> list[float]:
    """Milliseconds from each of `count` key presses to the end of the work that it caused, frames left out."""
    times: list[float] = page.evaluate(
        """async count => {
            const root = document.querySelector('[data-testid=explorer]');
            root.focus();
            const times = [];
            for (let i = 0; i < count; i++) {
                const before = document.querySelector('[data-testid=position]').innerText;
                const start = performance.now();
                root.dispatchEvent(new KeyboardEvent('keydown', { key: 'ArrowRight', bubbles: true }));
                while (document.querySelector('[data-testid=position]').innerText === before)
                    await new Promise(done => {
                        const { port1, port2 } = new MessageChannel();
                        port1.onmessage = done;
                        port2.postMessage(0);
                    });
                document.body.getBoundingClientRect();
                times.push(performance.now() - start);
            }
            return times;
        }""",
        count,
    )
    return times


def test_a_long_trace_opens_and_steps_quickly(open_page: Open, artifacts: Path) -> None:
    trace = long_trace(LONG)
    page = open_page(trace)
    assert page.page.evaluate("() => performance.now()") < 5000
    page.click("last")
    assert page.step == len(trace) - 1
    page.go_to(len(trace) // 2)
    assert page.sentence() == trace.steps[len(trace) // 2].sentence
    page.open_pane("graph")
    expect(page.part("pane").get_by_test_id("node").first).to_be_visible()
    expect(page.part("graph-text")).to_be_visible()
    page.page.screenshot(path=artifacts / "page-long.png")
    page.open_pane("calls")
    times = sorted(step_times(page.page, 60))
    # The quickest quarter: what a step costs where nothing else runs beside it.
    assert times[len(times) // 4] < 16, times


def test_the_page_says_what_it_is_without_scripts(example: tw.Trace, chromium: object, tmp_path: Path) -> None:
    path = example.to_html(tmp_path / "page.html")
    context = chromium.new_context(java_script_enabled=False)  # type: ignore[attr-defined]
    page = context.new_page()
    page.goto(path.as_uri())
    text = page.inner_text("body")
    assert example.breaks[0].message in text
    assert example.overview().headline in text
    context.close()


def test_a_cut_page_says_so(example: tw.Trace, chromium: object, tmp_path: Path) -> None:
    path = example.to_html(tmp_path / "page.html")
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace('data-tracewalk-block="window-0"', 'data-tracewalk-block="lost"'), encoding="utf-8")
    page = chromium.new_page()  # type: ignore[attr-defined]
    page.goto(path.as_uri())
    explorer = ExplorerPage(page.locator("body"))
    expect(explorer.root).to_contain_text('This page has no block "window-0"; it was not written completely.')
    page.close()
