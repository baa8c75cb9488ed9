"""From a node of a captured graph into its dispatcher steps, and to the lowered graphs, in a real JupyterLab."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.jupyter import Lab
from tests.browser.programs import run_program, write_notebook

PROGRAM = """\
import torch, tracewalk as tw
layer = torch.nn.Linear(4, 3)
step = tw.compile(lambda x: (layer(x).softmax(-1), x.argmax(-1)), backend="tracer_aot")
with tw.record() as recorded:
    step(torch.ones(2, 4))
recorded.show()
"""


@pytest.fixture(scope="module")
def path(lab: Lab) -> Path:
    return write_notebook(lab.folder / "under.ipynb", PROGRAM)


@pytest.mark.parametrize(("theme", "width"), [("Light", 700)])
def test_a_click_has_the_kernel_trace_what_is_under_a_node(
    lab: Lab, path: Path, chromium: Browser, artifacts: Path, theme: str, width: int
) -> None:
    shown = run_program(lab, chromium, path, theme, {"width": width, "height": 1000})
    page, explorer = shown.page, shown.explorer
    for direction, first in (("forward", "aten.t.default"), ("backward", "aten.t.default")):
        explorer.open_pane("graph")
        explorer.root.locator("[data-testid=node][data-node='linear']").first.click()
        explorer.part(f"under-{direction}").click()
        expect(explorer.part("dispatch-call").locator("b").first).to_have_text(first)
        expect(explorer.part("dispatch-run").locator("option:checked")).to_have_text(f"linear, {direction}")
        page.screenshot(path=artifacts / f"under-{theme}-{width}-{direction}.png")
    explorer.open_pane("graph")
    explorer.root.locator("[data-testid=node][data-node='argmax']").first.press("Enter")
    expect(explorer.part("under-backward")).to_have_count(0)
    lowered = explorer.part("lowered-graphs")
    lowered.get_by_role("button", name="backward").click()
    expect(explorer.part("lowered-text")).to_contain_text("aten._softmax_backward_data.default(")
    page.screenshot(path=artifacts / f"lowered-{theme}-{width}.png")
    assert shown.watch.problems == []
    page.close()
