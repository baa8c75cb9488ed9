"""The engine beside torch.compile, in the pane Compare in a real JupyterLab: one button, where they part, and the way
to the step."""

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

def f(x):
    y = x + 1
    start = x.storage_offset()
    print("here")
    return y * (start + 2)

with tw.record("f") as t:
    f(torch.ones(3))
    f(torch.ones(4))
t
"""
RUNNING_MS = 120_000


@pytest.fixture(scope="module")
def path(lab: Lab) -> Path:
    """A notebook with the program."""
    return write_notebook(lab.folder / "beside.ipynb", PROGRAM)


@pytest.mark.parametrize(("theme", "size"), [("Dark", NARROW)])
def test_where_the_two_part(
    lab: Lab, path: Path, chromium: Browser, artifacts: Path, theme: str, size: dict[str, int]
) -> None:
    shown = run_program(lab, chromium, path, theme, size)
    explorer = shown.explorer
    explorer.open_pane("compare")
    explorer.part("run-beside").click()
    expect(explorer.part("beside-headline")).to_contain_text(
        re.compile(r"Only torch\.compile breaks the graph at Cell In\[\d+\], line 5, in f\."), timeout=RUNNING_MS
    )
    expect(explorer.part("beside-progress")).to_have_count(0)
    rows = explorer.part("beside-row")
    parts = rows.filter(has_text="start = x.storage_offset()")
    expect(parts).to_have_attribute("data-same", "false")
    expect(parts).to_contain_text("Only torch.compile breaks the graph here; the engine goes on.")
    expect(rows.filter(has_text="Both break the graph here.")).to_contain_text(", line 6, in f")
    expect(rows.filter(has_text="gives the results of plain Python (2 calls).")).to_have_count(2)
    shown.page.screenshot(path=artifacts / f"beside-{theme.lower()}.png")
    parts.locator("[data-step]").click()
    explorer.settle()
    assert explorer.source_line() == (5, "start = x.storage_offset()")
    box = explorer.part("pane").bounding_box()
    assert box is not None
    assert box["width"] <= size["width"]
    assert not shown.watch.problems
    shown.page.close()
