"""Bodies of higher-order operators in the explorer: stack of graphs, bodies opened in place, stepping, words."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from playwright.sync_api import Browser, expect

import tracewalk as tw
from tests.browser.explorer_page import ConsoleWatch, ExplorerPage
from tests.browser.nested_bodies import nested

WIDE = {"width": 1500, "height": 1100}


@pytest.fixture(scope="module")
def trace() -> tw.Trace:
    with tw.record("a cond in a checkpoint") as trace:
        tw.compile(nested, backend="eager")(torch.ones(4, 4), torch.ones(4, 4))
    return trace


@pytest.fixture(params=["dark"])
def explorer(
    request: pytest.FixtureRequest, trace: tw.Trace, chromium: Browser, tmp_path: Path
) -> Iterator[ExplorerPage]:
    path = tmp_path / "nested.html"
    trace.to_html(path)
    page = chromium.new_page(viewport=WIDE, color_scheme=request.param)  # type: ignore[arg-type]
    watch = ConsoleWatch(page)
    page.goto(path.as_uri())
    shown = ExplorerPage(page.locator("body"))
    shown.wait_until_shown()
    expect(shown.root).to_have_attribute("data-theme", request.param)
    shown.press("Home")
    yield shown
    assert watch.problems == []
    page.close()


def names(explorer: ExplorerPage) -> list[str]:
    return [text.strip() for text in explorer.part("tracers").locator(".tw-tracer-name").all_inner_texts()]


def test_the_stack_of_graphs_grows_and_shrinks(explorer: ExplorerPage, trace: tw.Trace, artifacts: Path) -> None:
    block, shrink, keep = trace.bodies
    assert names(explorer) == ["nested"]
    assert explorer.press("e") == block.first_step
    assert names(explorer) == ["nested", "checkpoint: block"]
    assert explorer.press("e") == shrink.first_step
    assert names(explorer) == ["nested", "checkpoint: block", "cond: shrink"]
    assert explorer.press("s") == keep.first_step
    assert names(explorer) == ["nested", "checkpoint: block", "cond: keep"]
    assert explorer.press("s") == keep.last_step + 1
    assert names(explorer) == ["nested", "checkpoint: block"]
    assert explorer.click("overBody") == block.last_step + 1
    assert names(explorer) == ["nested"]
    assert explorer.press("E") == keep.first_step
    explorer.part("tracers").get_by_text("cond: keep").click()
    expect(explorer.part("body-facts")).to_contain_text("a body of torch.cond, was traced")
    assert shrink.step is not None
    explorer.go_to(shrink.step)
    expect(explorer.part("body-facts").locator("h4")).to_have_text(["cond: shrink", "cond: keep"])


def test_bodies_are_drawn_in_place_and_fold(
    explorer: ExplorerPage, trace: tw.Trace, artifacts: Path, request: pytest.FixtureRequest
) -> None:
    theme = explorer.root.get_attribute("data-theme")
    _, shrink, _ = trace.bodies
    explorer.open_pane("graph")
    frames = explorer.part("body-frame")
    expect(frames).to_have_count(3)
    boxes = {frame.get_attribute("data-body"): frame.locator("rect").first.bounding_box() for frame in frames.all()}
    outer = boxes["checkpoint: block"]
    assert outer is not None
    for name in ("cond: shrink", "cond: keep"):
        inner = boxes[name]
        assert inner is not None
        assert outer["x"] < inner["x"]
        assert inner["x"] + inner["width"] < outer["x"] + outer["width"]
        assert outer["y"] < inner["y"]
        assert inner["y"] + inner["height"] < outer["y"] + outer["height"]
    scale = next(lift for lift in shrink.lifted if lift.name == "scale")
    assert scale.step is not None
    explorer.go_to(scale.step)
    assert scale.text in explorer.sentence()
    lift = explorer.part("body-facts").get_by_test_id("lift").filter(has_text="scale, ")
    expect(lift).to_contain_text(scale.text.replace("`", ""))
    expect(explorer.root.locator(".tw-body.tw-current")).to_have_count(2)
    explorer.page.screenshot(path=artifacts / f"bodies-{theme}.png")

    explorer.root.locator("[aria-label='body cond: shrink, open: click to fold']").click()
    expect(frames).to_have_count(2)
    expect(explorer.part("body")).to_have_attribute("data-node", "cond: shrink")
    explorer.page.screenshot(path=artifacts / f"bodies-folded-{theme}.png")
    explorer.part("body").press("Enter")
    expect(frames).to_have_count(3)


def test_nodes_and_bodies_are_reached_by_keyboard(explorer: ExplorerPage, trace: tw.Trace) -> None:
    explorer.open_pane("graph")
    _, shrink, _ = trace.bodies
    node = trace.nodes[shrink.lifted[0].outer]
    explorer.root.locator(f"[data-testid=node][data-node='{node.name}']").first.press("Enter")
    expect(explorer.part("node-facts")).to_contain_text(node.name)
    title = explorer.root.locator("[aria-label='body cond: shrink, open: click to fold']")
    title.press(" ")
    expect(title).to_have_count(0)
