"""The Graph pane in a browser: text beside the drawing, zoom, minimap, files, folds by call, and keys."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest
import torch
from playwright.sync_api import Locator, expect

import tracewalk as tw
from tests.browser.explorer_page import ExplorerPage
from tests.widgets.conftest import Open


class Loop(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.lin = torch.nn.Linear(4, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for _ in range(9):
            x = self.lin(x).relu()
        return x


@pytest.fixture(scope="module")
def trace() -> tw.Trace:
    return tw.trace(Loop(), torch.ones(2, 4))


def opened(page: ExplorerPage) -> Locator:
    pane = page.open_pane("graph")
    expect(page.part("node").first).to_be_visible()
    return pane


def test_each_line_of_the_text_leads_to_its_step(trace: tw.Trace, open_page: Open) -> None:
    page = open_page(trace)
    opened(page)
    text = page.part("graph-text")
    node = next(node for node in trace.nodes if node.name == "relu")
    text.get_by_text("relu: f32[2, 4] = linear.relu()", exact=True).click()
    assert page.step == node.step
    expect(text.locator(".tw-current")).to_have_text("relu: f32[2, 4] = linear.relu()")
    expect(text.locator(".tw-comment").first).to_contain_text("in Loop.forward: x = self.lin(x).relu()")
    expect(page.part("node-facts")).to_contain_text("relu")


def test_nine_calls_of_a_module_are_nine_boxes(trace: tw.Trace, open_page: Open) -> None:
    page = open_page(trace)
    opened(page)
    page.part("fold-modules").check()
    calls = [f"lin ({i} of 9)" for i in range(1, 10)]
    page.press("End")
    expect(page.part("module")).to_have_count(9)
    assert page.part("module").evaluate_all("boxes => boxes.map(box => box.dataset.node)") == calls
    page.root.locator('[data-node="lin (3 of 9)"]').click()
    expect(page.part("module")).to_have_count(8)


def test_it_zooms_fits_and_has_a_minimap(trace: tw.Trace, open_page: Open) -> None:
    page = open_page(trace)
    opened(page)
    drawing = page.root.locator(".tw-drawing")
    size = "e => [e.scrollWidth > e.clientWidth, e.scrollHeight > e.clientHeight]"
    assert drawing.evaluate(size)[1]
    expect(page.part("minimap")).to_be_visible()
    before = drawing.evaluate("e => e.scrollTop")
    box = page.part("minimap").bounding_box()
    assert box is not None
    page.page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] - 4)
    assert drawing.evaluate("e => e.scrollTop") > before
    page.part("fit").click()
    assert drawing.evaluate(size) == [False, False]
    expect(page.part("minimap")).to_have_count(0)
    drawing.focus()
    page.page.keyboard.press("0")
    expect(page.part("zoom")).to_have_text("100 %")
    page.page.keyboard.press("+")
    expect(page.part("zoom")).to_have_text("125 %")
    page.part("zoom-out").click()
    expect(page.part("zoom")).to_have_text("100 %")


def test_arrow_keys_go_from_box_to_box(trace: tw.Trace, open_page: Open) -> None:
    page = open_page(trace)
    opened(page)
    svg = page.root.locator(".tw-drawing > svg")
    assert svg.locator("[tabindex='0']").count() == 1
    assert svg.locator("[tabIndex]").count() == svg.locator("[tabindex]").count()
    at = page.step
    svg.locator("[tabindex='0']").focus()
    focused = page.root.locator("g:focus")
    page.page.keyboard.press("Home")
    expect(focused).to_have_attribute("data-node", "x")
    page.page.keyboard.press("ArrowDown")
    expect(focused).to_have_attribute("data-node", "linear")
    page.page.keyboard.press("ArrowDown")
    expect(focused).to_have_attribute("data-node", "relu")
    page.page.keyboard.press("ArrowUp")
    expect(focused).to_have_attribute("data-node", "linear")
    assert page.step == at, "the arrows of the drawing do not step"
    assert svg.locator("[tabindex='0']").count() == 1
    page.page.keyboard.press("Enter")
    page.settle()
    assert page.step == next(node.step for node in trace.nodes if node.name == "linear")
    page.page.keyboard.press("End")
    expect(focused).to_have_attribute("data-node", "output")


def test_it_is_saved_as_svg_dot_and_text(trace: tw.Trace, open_page: Open, tmp_path: Path) -> None:
    page = open_page(trace)
    opened(page)

    def saved(test_id: str) -> str:
        with page.page.expect_download() as download:
            page.part(test_id).click()
        path = tmp_path / download.value.suggested_filename
        download.value.save_as(path)
        return path.read_text(encoding="utf-8")

    (graph,) = trace.graphs
    nodes = [trace.nodes[i] for i in graph.nodes if trace.nodes[i].live]
    svg = ElementTree.fromstring(saved("download-svg"))
    texts = {element.text for element in svg.iter("{http://www.w3.org/2000/svg}text")}
    assert {node.label or node.name for node in nodes} <= texts
    assert "self.lin.weight" in texts
    dot = saved("download-dot")
    assert dot.count(" -> ") == sum(len(node.inputs) for node in nodes)
    text = saved("download-text")
    assert text.startswith("def forward(self,\n")
    assert '    relu_8: "f32[2, 4]" = linear_8.relu()\n    return' in text
    assert sorted(path.name for path in tmp_path.glob(f"{graph.name}.*")) == [
        f"{graph.name}.{kind}" for kind in ("dot", "svg", "txt")
    ]
