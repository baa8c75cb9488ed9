"""The panes Recompiles and Fixes in a real JupyterLab: causes first, and the button that tries what helps."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.jupyter import Lab
from tests.browser.programs import run_program, write_notebook
from tests.browser.test_jupyterlab import NARROW

PROGRAM = """\
import torch, tracewalk as tw
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)
        self.scale = 0.1

    def forward(self, x):
        print("forward")
        if x.sum() > 0:
            y = x + 1
        else:
            y = x - 1
        return self.fc(y) * self.scale

net = Net()

with tw.record("three sizes") as t:
    for n in (3, 4, 5):
        net(torch.ones(n, 4))
        net.scale *= 3
t
"""
RUNNING_MS = 120_000


@pytest.fixture(scope="module")
def path(lab: Lab) -> Path:
    """A notebook with the program."""
    return write_notebook(lab.folder / "fixes.ipynb", PROGRAM)


@pytest.mark.parametrize(("theme", "size"), [("Dark", NARROW)])
def test_causes_and_fixes(
    lab: Lab, path: Path, chromium: Browser, artifacts: Path, theme: str, size: dict[str, int]
) -> None:
    shown = run_program(lab, chromium, path, theme, size)
    page, explorer = shown.page, shown.explorer

    explorer.open_pane("recompiles")
    cause = explorer.part("recompilation").filter(has_text="self.scale changed")
    expect(cause).to_contain_text("0.1 when it was compiled, then 0.3, then 0.9.")
    expect(cause).to_contain_text("return self.fc(y) * self.scale")
    expect(explorer.part("calls")).to_have_count(0)
    page.screenshot(path=artifacts / f"recompiles-{theme.lower()}.png")
    explorer.part("show-matrix").click()
    expect(explorer.part("calls").filter(has_text="but it is 0.3")).not_to_have_count(0)

    explorer.open_pane("fixes")
    candidates = explorer.part("candidate")
    if theme == "Dark":
        explorer.part("try-fixes").click()
        expect(explorer.part("fixes-progress")).to_contain_text(re.compile("change [1-5] of"), timeout=RUNNING_MS)
        explorer.part("stop-fixes").click()
        expect(explorer.part("fixes-stopped")).to_contain_text("Stopped after", timeout=RUNNING_MS)
        expect(candidates.first).to_be_visible()
        page.screenshot(path=artifacts / "fixes-stopped.png")
    explorer.part("try-fixes").click()
    expect(explorer.part("fixes-progress")).to_have_count(0, timeout=RUNNING_MS)
    removing = candidates.and_(explorer.root.locator("[data-verdict='removes']"))
    for name in ("replay_prints", "torch.where for the branch", "torch.cond for the branch"):
        expect(removing.filter(has_text=name)).to_contain_text("It removes the break.")
    expect(removing.filter(has_text="torch.where")).to_contain_text("+ y = torch.where(x.sum() > 0, x + 1, x - 1)")
    page.screenshot(path=artifacts / f"fixes-{theme.lower()}.png")
    box = explorer.part("pane").bounding_box()
    assert box is not None and box["width"] <= size["width"]
    assert not shown.watch.problems
    page.close()
