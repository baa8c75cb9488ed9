"""An explorer in an Output View of JupyterLab's own: it fills the view, and steps there."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, expect

from tests.browser.explorer_page import ExplorerPage
from tests.browser.jupyter import Lab
from tests.browser.programs import run_program, write_notebook
from tests.browser.test_jupyterlab import WIDE, boxes

PROGRAM = """\
import torch, tracewalk as tw

def stem(x):
    print("stem")
    return x + 1

def model(x):
    y = stem(x)
    return y.relu()

tw.trace(model, torch.ones(3))
"""
TALL = {"width": 1400, "height": 1500}


@pytest.fixture(scope="module")
def path(lab: Lab) -> Path:
    return write_notebook(lab.folder / "output-view.ipynb", PROGRAM)


def test_it_fills_an_output_view_and_steps_there(lab: Lab, path: Path, chromium: Browser, artifacts: Path) -> None:
    shown = run_program(lab, chromium, path, "Light", WIDE)
    page = shown.page
    page.locator(".jp-Cell .jp-OutputArea-output pre", has_text="stem").last.click(button="right")
    page.get_by_text("Create New View for Cell Output").click()
    view = page.locator(".jp-LinkedOutputView")
    explorer = ExplorerPage(view)
    explorer.wait_until_shown()

    fills(view, explorer)
    for name in ("toolbar", "sentence", "source", "values", "pane"):
        part = explorer.root.locator(".tw-values") if name == "values" else explorer.part(name)
        expect(part).to_be_in_viewport(ratio=0.9)
    page.screenshot(path=artifacts / "output-view.png")

    explorer.press("Home")
    assert explorer.source_line() == (8, "y = stem(x)")
    explorer.press("b")
    assert explorer.source_line() == (4, 'print("stem")')
    assert explorer.click("next") > explorer.click("previous")
    assert "print" in explorer.open_pane("breaks").inner_text()

    before = explorer.root.bounding_box()
    page.set_viewport_size(TALL)  # type: ignore[arg-type]
    page.wait_for_function(
        "height => document.querySelector('.jp-LinkedOutputView .tw-root').clientHeight > height",
        arg=before["height"] if before else 0,
    )
    fills(view, explorer)
    assert shown.watch.problems == []
    page.close()


def fills(view: Locator, explorer: ExplorerPage) -> None:
    """Expect that the explorer has all of the view but its edges, and that nothing has to be scrolled."""
    (outer,), (inner,) = boxes(view), boxes(explorer.root)
    assert inner["height"] > 0.93 * outer["height"] or inner["height"] == 360, (outer, inner)
    assert inner["width"] > 0.9 * outer["width"]
    assert view.evaluate("e => e.scrollHeight <= e.clientHeight")
