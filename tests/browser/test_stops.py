"""Conditional stops in a real JupyterLab: the kernel finds the steps, and two keys go on and back among them."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.jupyter import Lab
from tests.browser.programs import run_program, write_notebook
from tests.browser.test_jupyterlab import NARROW, WIDE

PROGRAM = """\
import torch, tracewalk as tw
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)
        self.steps = 0

    def forward(self, x):
        self.steps += 1
        x = self.fc(x).relu()
        if self.steps % 2:
            x = x[:1]
        return x.sum(1)

t = tw.trace(Net(), torch.ones(3, 4))
explorer = t.show()
explorer
"""


@pytest.fixture(scope="module")
def path(lab: Lab) -> Path:
    """The notebook, in the server's folder."""
    return write_notebook(lab.folder / "stops.ipynb", PROGRAM)


@pytest.mark.parametrize(("theme", "size"), [("Dark", NARROW)])
def test_conditions_stop_on_and_back(
    lab: Lab, path: Path, chromium: Browser, artifacts: Path, theme: str, size: dict[str, int]
) -> None:
    shown = run_program(lab, chromium, path, theme, size)
    page, explorer = shown.page, shown.explorer

    explorer.open_pane("find")
    for text in ("self.steps is read", "the shape of x changes", "x.shap[0] =="):
        explorer.part("stop-text").fill(text)
        explorer.part("stop-text").press("Enter")
    stops = explorer.part("stop")
    expect(stops).to_have_count(3)
    expect(stops.nth(0)).to_contain_text("2 steps")
    # By `x = x[:1]`, and not by `relu`, which keeps the shape.
    expect(stops.nth(1)).to_contain_text("1 step")
    expect(stops.nth(2).get_by_role("alert")).to_contain_text("x.shap[0] == is not a condition, its syntax is wrong")

    lines = []
    for key in ("w", "w", "w", "W", "W"):
        explorer.press(key)
        lines.append(explorer.source_line()[1])
    first, second, third = "self.steps += 1", "if self.steps % 2:", "x = x[:1]"
    assert lines == [first, second, third, second, first]
    page.screenshot(path=artifacts / f"stops-{theme.lower()}.png")

    explorer.press("W")
    expect(explorer.part("notice")).to_have_text("No condition holds before this step.")
    explorer.root.locator('[data-path="locals:x"] button').first.click()
    explorer.part("stop-at-changes").click()
    expect(stops.nth(3)).to_contain_text('changes(x) and frame == "forward"')
    expect(stops.nth(3).get_by_test_id("stop-count")).to_have_text("2 steps")
    assert not shown.watch.problems
    page.close()


LONG = """\
import torch, tracewalk as tw
from tracewalk import slices
from tracer_core.recording import pace

def loop(x):
    for i in range(1000):
        x = x + i
    return x

slices.SLICE, pace.EVERY = 0, 1  # each step in a slice of its own, as if the recording were very long
t = tw.trace(loop, torch.ones(2))
t.show()
"""


def test_a_long_search_shows_how_far_it_is_and_is_stopped(lab: Lab, chromium: Browser, artifacts: Path) -> None:
    path = write_notebook(lab.folder / "long-search.ipynb", LONG)
    shown = run_program(lab, chromium, path, "Light", WIDE)
    page, explorer = shown.page, shown.explorer
    explorer.open_pane("find")
    explorer.part("stop-text").fill("the shape of x changes")
    explorer.part("stop-text").press("Enter")
    bar = explorer.part("stop").get_by_role("progressbar")
    page.wait_for_function("bar => bar.value > 0", arg=bar.element_handle())
    page.screenshot(path=artifacts / "long-search.png")
    before = explorer.step
    assert explorer.press("ArrowRight") > before, "meanwhile the explorer is usable"
    explorer.go_to(5000)  # whose piece comes from the kernel, too
    explorer.part("stop-search").click()
    expect(explorer.part("stop")).to_have_count(0)
    explorer.part("stop-text").fill("step.line == 8")
    explorer.part("stop-text").press("Enter")
    expect(explorer.part("stop-count")).to_have_text("1 step")
    explorer.press("w")
    assert explorer.source_line() == (8, "return x")
    assert not shown.watch.problems
    page.close()
