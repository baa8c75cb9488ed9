"""How the explorer looks: contrast of text in both themes, what a narrow page and a zoomed one leave in reach, the
sentence that leads."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from playwright.sync_api import expect

import tracewalk as tw
from tests.browser.explorer_page import ExplorerPage
from tests.browser.nested_bodies import nested
from tests.fixes import programs
from tests.widgets.conftest import Open

PANES = ("overview", "graph", "guards", "breaks", "recompiles", "fixes", "calls", "effects", "generated", "dispatch")
PANES += ("compare", "story", "timings", "find")
JUPYTERLAB_DARK = {
    "--jp-layout-color1": "#212121",
    "--jp-layout-color2": "#424242",
    "--jp-border-color2": "#424242",
    "--jp-content-font-color1": "#ffffff",
}
JUPYTERLAB_LIGHT = {
    "--jp-layout-color1": "#ffffff",
    "--jp-layout-color2": "#eeeeee",
    "--jp-border-color2": "#e0e0e0",
    "--jp-content-font-color1": "rgba(0, 0, 0, 0.87)",
}

LOW_CONTRAST = Path(__file__).with_name("low_contrast.js").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def run() -> tw.Trace:
    """Breaks, a recompilation, and bodies of operators."""
    with tw.record("a run") as trace:
        for size in (3, 4):
            programs.counts(torch.ones(size))
            programs.branch(torch.ones(size))
        tw.compile(nested, backend="eager")(torch.ones(4, 4), torch.ones(4, 4))
    return trace


@pytest.mark.parametrize(
    ("dark", "colours"),
    [(False, {}), (True, {}), (False, JUPYTERLAB_LIGHT), (True, JUPYTERLAB_DARK)],
    ids=["light", "dark", "lab-light", "lab-dark"],
)
def test_text_is_readable_in_every_pane(
    run: tw.Trace, open_page: Open, *, dark: bool, colours: dict[str, str]
) -> None:
    page = open_page(run, width=1400, height=1000, dark=dark)
    page.page.evaluate(
        "all => Object.entries(all).forEach((one) => document.documentElement.style.setProperty(...one))",
        colours,
    )
    page.press("b")
    for pane in PANES:
        page.open_pane(pane)
        page.settle()
        assert page.root.evaluate(LOW_CONTRAST) == [], pane


def in_view(page: ExplorerPage, test_id: str) -> float:
    """How many pixels of a part can be seen, from above to below."""
    box = page.part(test_id).bounding_box()
    size = page.page.viewport_size
    assert box is not None
    assert size is not None
    return min(box["y"] + box["height"], size["height"]) - max(box["y"], 0)


# 150 % of a window of 1400 x 1000, and a narrow one.
@pytest.mark.parametrize(("width", "height"), [(933, 667), (753, 560), (700, 1000)])
def test_a_zoomed_or_narrow_page_leaves_all_in_reach(run: tw.Trace, open_page: Open, width: int, height: int) -> None:
    page = open_page(run, width=width, height=height)
    for pane in PANES:
        page.open_pane(pane)
        assert in_view(page, "pane") >= 120, pane
        assert in_view(page, "toolbar") >= 30, pane
        assert in_view(page, "source") >= 60, pane
    for part in ("frames", "locals"):
        page.part(part).scroll_into_view_if_needed()
        assert in_view(page, part) > 0
        assert in_view(page, "toolbar") >= 30
    assert page.page.evaluate("() => document.documentElement.scrollWidth <= innerWidth")


def test_my_line_is_not_cut_off_where_there_is_room(run: tw.Trace, open_page: Open) -> None:
    page = open_page(run, width=1400)
    lines = page.open_pane("breaks").locator(".tw-my-line")
    assert lines.count() > 0
    for line in lines.all():
        assert line.evaluate("e => e.scrollHeight <= e.clientHeight && e.scrollWidth <= e.clientWidth")


def test_the_sentence_begins_with_the_line_and_the_function(run: tw.Trace, open_page: Open) -> None:
    page = open_page(run)
    page.press("b")
    line, _ = page.source_line()
    step = run.steps[page.step]
    expect(page.part("sentence").locator(".tw-said-line")).to_have_text(f"Line {line} of {step.code.qualname}")
    assert page.sentence() == step.sentence
    size = page.part("sentence").evaluate("e => parseFloat(getComputedStyle(e).fontSize)")
    rest = page.part("source").evaluate("e => parseFloat(getComputedStyle(e).fontSize)")
    assert size >= 15 > rest


def test_inner_functions_go_by_their_own_name(run: tw.Trace, open_page: Open) -> None:
    page = open_page(run)
    (_, shrink, _) = run.bodies
    page.go_to(shrink.first_step)
    assert page.frames() == ["nested", "block", "shrink"]
    facts = page.open_pane("graph").get_by_test_id("body-facts")
    expect(facts.first).to_contain_text("shrink, a body of torch.cond")
