"""Five questions that people come with, each answered from a cold start in at most three actions: why the graph
breaks, why it compiles again, who made a value, what a fix changes, and where two runs differ first. Also, a run that
traced nothing shows what it reused.

An action is a click, a key, or a text typed into the search field with Enter. Reading is none.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.browser.explorer_page import SHOWN_MS, ConsoleWatch, ExplorerPage
from tests.browser.jupyter import Lab, Notebook
from tests.browser.programs import write_notebook
from tests.browser.test_jupyterlab import JUPYTERLAB_SAYS, WIDE

MOST = 3
RUNNING_MS = 120_000
START = "import torch, tracewalk as tw\nfrom torch import nn\n%load_ext tracewalk\n"
PROGRAM = """\
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)
        self.scale = 0.1

    def forward(self, x):
        hidden = self.fc(x)
        print("forward")
        scaled = hidden * self.scale
        return scaled.relu()

net = Net()
"""
RECORDED = """\
with tw.record("before") as t:
    for n in (3, 4):
        net(torch.ones(n, 4))
        net.scale *= 3
t
"""
MENDED = PROGRAM.replace('        print("forward")\n', "")
COMPARED = f"{MENDED}{RECORDED.replace('before', 'after').replace('as t', 'as u')[:-2]}t.diff(u)"
EDITED = ["%%trace\ny = torch.ones(3) + 1\nprint(y)\nz = y * 2", "%%trace\ny = torch.ones(3) + 1\nz = y * 2"]
START_CELL, PROGRAM_CELL, RECORDED_CELL, COMPARED_CELL, EDITED_CELL = range(1, 6)


class Hands:
    """Counts what a person does."""

    def __init__(self, explorer: ExplorerPage) -> None:
        self.explorer = explorer
        self.actions = 0

    def click(self, place: Locator) -> None:
        self.actions += 1
        place.click()

    def search(self, text: str) -> None:
        self.actions += 1
        self.explorer.part("find").fill(text)
        self.explorer.part("find").press("Enter")
        self.explorer.settle()


@pytest.fixture(scope="module")
def opened(lab: Lab, chromium: Browser) -> Iterator[tuple[Page, Notebook]]:
    write_notebook(lab.folder / "tasks.ipynb", START, PROGRAM, RECORDED, COMPARED, EDITED[0])
    page = chromium.new_page(viewport=WIDE)  # type: ignore[arg-type]
    watch = ConsoleWatch(page, JUPYTERLAB_SAYS)
    page.goto(lab.url("tasks.ipynb", "tasks"))
    notebook = Notebook(page)
    notebook.wait_until_ready()
    for cell in (0, START_CELL, PROGRAM_CELL):
        notebook.run(cell)
    yield page, notebook
    assert watch.problems == []
    page.close()


def shown(notebook: Notebook, cell: int) -> Hands:
    """Run a cell, and return hands at its explorer as it comes up."""
    explorer = ExplorerPage(notebook.run(cell))
    explorer.root.scroll_into_view_if_needed(timeout=SHOWN_MS)
    explorer.wait_until_shown()
    return Hands(explorer)


def test_the_cause_of_a_break(opened: tuple[Page, Notebook], artifacts: Path) -> None:
    hands = shown(opened[1], RECORDED_CELL)
    row = hands.explorer.part("overview-breaks").get_by_test_id("overview-row").first
    hands.click(row.get_by_role("button", name="Breaks ›"))
    details = hands.explorer.part("break-details")
    expect(details).to_contain_text("The code calls print().")
    expect(details).to_contain_text('print("forward")')
    expect(details).to_contain_text("Net.forward:9")
    expect(details).to_contain_text("Try")
    hands.explorer.settle()
    assert hands.explorer.source_line() == (9, 'print("forward")')
    opened[0].screenshot(path=artifacts / "task-break.png")
    assert hands.actions <= MOST


def test_the_cause_of_a_recompilation(opened: tuple[Page, Notebook], artifacts: Path) -> None:
    hands = shown(opened[1], RECORDED_CELL)
    row = hands.explorer.part("overview-recompilations").get_by_test_id("overview-row").first
    hands.click(row.get_by_role("button", name="Recompiles ›"))
    cause = hands.explorer.part("recompilation").filter(has_text="self.scale changed")
    expect(cause).to_contain_text("when it was compiled, then")
    expect(cause).to_contain_text("scaled = hidden * self.scale")
    expect(cause).to_contain_text("Try")
    hands.click(cause.locator(".tw-link[data-step]").first)
    hands.explorer.settle()
    assert hands.explorer.source_line() == (10, "scaled = hidden * self.scale")
    opened[0].screenshot(path=artifacts / "task-recompilation.png")
    assert hands.actions <= MOST


def test_the_maker_of_a_value(opened: tuple[Page, Notebook], artifacts: Path) -> None:
    """Who made `scaled`?"""
    hands = shown(opened[1], RECORDED_CELL)
    hands.search("scaled.relu")
    assert hands.explorer.source_line() == (11, "return scaled.relu()")
    value = hands.explorer.root.locator('[data-testid=value][data-path="locals:scaled"]')
    hands.click(value.locator(".tw-value").first)
    maker = value.get_by_test_id("value-facts").first.locator("dt", has_text="created by").locator("+ dd .tw-link")
    hands.click(maker)
    hands.explorer.settle()
    assert hands.explorer.source_line() == (10, "scaled = hidden * self.scale")
    assert "`mul = " in hands.explorer.sentence()
    opened[0].screenshot(path=artifacts / "task-maker.png")
    assert hands.actions <= MOST


def test_the_effect_of_a_fix(opened: tuple[Page, Notebook], artifacts: Path) -> None:
    hands = shown(opened[1], RECORDED_CELL)
    hands.click(hands.explorer.part("tab-fixes"))
    hands.click(hands.explorer.part("try-fixes"))
    candidate = hands.explorer.part("candidate").filter(has_text="replay_prints")
    expect(candidate).to_contain_text("It removes the break.", timeout=RUNNING_MS)
    expect(candidate).to_contain_text("breaks 1 → 0")
    opened[0].screenshot(path=artifacts / "task-fix.png")
    assert hands.actions <= MOST


def test_the_effect_of_a_change_to_the_cell(opened: tuple[Page, Notebook], artifacts: Path) -> None:
    """A traced cell that is edited and run again is compared with its run before."""
    page, notebook = opened
    expect(shown(notebook, EDITED_CELL).explorer.part("before-after")).to_have_count(0)
    notebook.replace(EDITED_CELL, EDITED[1])
    hands = shown(notebook, EDITED_CELL)
    hands.click(hands.explorer.part("before-after"))
    expect(hands.explorer.part("differences")).to_contain_text("breaks 1 → 0", timeout=SHOWN_MS)
    expect(hands.explorer.part("changed-breaks")).to_contain_text("The code calls print().")
    page.screenshot(path=artifacts / "task-change.png")
    assert hands.actions <= MOST


def test_the_first_difference_of_two_runs(opened: tuple[Page, Notebook], artifacts: Path) -> None:
    page, notebook = opened
    notebook.run(RECORDED_CELL)
    hands = shown(notebook, COMPARED_CELL)
    hands.click(hands.explorer.part("first-difference"))
    current = hands.explorer.part("compared-line").and_(page.locator(".tw-current"))
    expect(current.first).to_contain_text('print("forward")')
    hands.explorer.settle()
    assert hands.explorer.source_line() == (9, "scaled = hidden * self.scale")
    hands.click(hands.explorer.part("both"))
    both = notebook.cell(COMPARED_CELL)
    before = ExplorerPage(both.get_by_test_id("explorer-before"))
    before.wait_until_shown()
    assert before.source_line() == (9, 'print("forward")')
    page.screenshot(path=artifacts / "task-difference.png")
    assert hands.actions <= MOST


def test_a_run_that_reuses_all_shows_what_it_reused(opened: tuple[Page, Notebook], artifacts: Path) -> None:
    page, notebook = opened
    notebook.replace(EDITED_CELL, "%%trace\nw = torch.ones(3) * 5")
    first = shown(notebook, EDITED_CELL).explorer
    expect(first.part("note")).to_have_count(0)
    steps = first.steps
    again = shown(notebook, EDITED_CELL).explorer
    expect(again.part("note")).to_contain_text("each call reused a version that was compiled before")
    assert again.steps == steps
    page.screenshot(path=artifacts / "reused.png")
    notebook.replace(EDITED_CELL, "%%trace --fresh\nw = torch.ones(3) * 5")
    fresh = shown(notebook, EDITED_CELL).explorer
    expect(fresh.part("note")).to_have_count(0)
    assert fresh.steps == steps
