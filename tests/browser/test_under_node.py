"""From a node of a captured graph into its dispatcher steps, and to the lowered graphs, in a real JupyterLab."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest
from playwright.sync_api import Browser, expect

from tests.browser.explorer_page import ConsoleWatch, ExplorerPage
from tests.browser.jupyter import Lab, Notebook, running_lab
from tests.browser.test_jupyterlab import JUPYTERLAB_SAYS

WARM_UP = "print('the kernel runs')"
"""The page may lose what it is asked to run before it is connected to the kernel."""
PROGRAM = """\
import torch, tracewalk as tw
layer = torch.nn.Linear(4, 3)
step = tw.compile(lambda x: (layer(x).softmax(-1), x.argmax(-1)), backend="tracer_aot")
with tw.record() as recorded:
    step(torch.ones(2, 4))
recorded.show()
"""


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    path = tmp_path_factory.mktemp("notebook") / "under.ipynb"
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(text) for text in (WARM_UP, PROGRAM)])
    notebook.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
    nbformat.write(notebook, path)
    with running_lab(tmp_path_factory.mktemp("lab"), path) as server:
        yield server


@pytest.mark.parametrize(("theme", "width"), [("Light", 1400), ("Dark", 1400), ("Light", 700)])
def test_a_click_has_the_kernel_trace_what_is_under_a_node(
    lab: Lab, chromium: Browser, artifacts: Path, theme: str, width: int
) -> None:
    lab.use_theme(f"JupyterLab {theme}")
    page = chromium.new_page(viewport={"width": 1400, "height": 1000})
    watch = ConsoleWatch(page, JUPYTERLAB_SAYS)
    page.goto(lab.url("under.ipynb", f"under-{theme}-{width}"))
    notebook = Notebook(page)
    notebook.wait_until_ready()
    notebook.run(0)
    explorer = ExplorerPage(notebook.run(1))
    explorer.wait_until_shown()
    page.set_viewport_size({"width": width, "height": 1000})
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
    assert watch.problems == []
    page.close()
