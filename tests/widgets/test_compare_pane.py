"""The pane Compare in a stand-alone page: what it says is what `print` says, and both explorers go in step."""

from __future__ import annotations

import linecache
from pathlib import Path
from typing import Any

import pytest
import torch
from playwright.sync_api import Locator, expect

import tracewalk as tw
from tests.browser.explorer_page import ExplorerPage
from tests.widgets.conftest import Open, long_trace
from tracer_core.recording.alignment import side_by_side

BEFORE = """
def scale(x, n):
    return x * n

def f(x, n):
    y = scale(x, n)
    print("here")
    return y.relu()
"""
AFTER = "\n# mended\n" + BEFORE.replace('    print("here")\n', "") + "\n"


def recorded(source: str, label: str) -> tw.Trace:
    name = f"/home/someone/{label}.py"
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    namespace: dict[str, Any] = {}
    exec(compile(source, name, "exec"), namespace)
    with tw.record(label) as trace:
        namespace["f"](torch.ones(3), 2)
        namespace["f"](torch.ones(3), 2)
    return trace


@pytest.fixture(scope="module")
def compared() -> Any:
    return recorded(BEFORE, "before").diff(recorded(AFTER, "after"))


def line(trace: tw.Trace, step: int) -> tuple[int | None, str]:
    found = trace.steps[step]
    assert found.line is not None
    return found.line, found.code.source.splitlines()[found.line - found.code.first_line].strip()


@pytest.mark.parametrize("dark", [False, True])
def test_it_says_what_print_says(compared: Any, open_page: Open, artifacts: Path, dark: bool) -> None:
    page = open_page(compared, dark=dark)
    expect(page.part("tab-compare")).to_have_attribute("aria-selected", "true")
    expect(page.part("differences")).to_have_text("breaks 1 → 0, graphs 2 → 1, compilations 2 → 1.")
    figures = {one.get_attribute("data-name"): one.inner_text().split("\t")[1:] for one in page.part("figure").all()}
    for one in compared.figures:
        if one.name != "seconds":
            assert figures[one.name] == [str(one.before), str(one.after)]
    gone = page.part("changed-breaks").get_by_test_id("changed")
    expect(gone).to_have_count(1)
    expect(gone).to_contain_text("The code calls print().")
    expect(gone).to_contain_text('print("here")')
    sources = page.part("changed-guards").locator(".tw-compare-source").all_inner_texts()
    assert "builtins.print" in sources
    page.page.screenshot(path=artifacts / f"compare-{'dark' if dark else 'light'}.png")


def test_lines_that_ran_side_by_side(compared: Any, open_page: Open) -> None:
    page = open_page(compared)
    pairs = side_by_side(compared.before, compared.after)
    rows = page.part("compared-line")
    expect(rows).to_have_count(len(pairs))
    for row, (before, after) in zip(rows.all(), pairs, strict=True):
        for side, trace, step in (("before", compared.before, before), ("after", compared.after, after)):
            cell = row.locator(f"[data-side={side}]")
            if step is None:
                expect(cell).to_have_count(0)
            else:
                expect(cell).to_have_text("".join(map(str, line(trace, step))))


def test_both_explorers_go_in_step(compared: Any, open_page: Open, artifacts: Path) -> None:
    page = open_page(compared, width=1600)
    page.part("both").click()
    before, after = (ExplorerPage(page.page.get_by_test_id(f"explorer-{side}")) for side in ("before", "after"))
    before.wait_until_shown()
    left, right = box(before.root), box(after.root)
    assert left["x"] < right["x"] and left["y"] == right["y"], "before is to the left"
    assert [each.source_line()[1] for each in (before, after)] == ["y = scale(x, n)"] * 2
    after.press("i")
    before.settle()
    assert [each.source_line()[1] for each in (before, after)] == ["return x * n"] * 2
    after.part("first-difference").click()
    before.settle(), after.settle()
    assert [each.source_line()[1] for each in (before, after)] == ['print("here")', "return y.relu()"]
    before.press("n")
    after.settle()
    assert [each.source_line()[1] for each in (before, after)] == ["return y.relu()"] * 2
    page.page.screenshot(path=artifacts / "compare-both.png")
    after.part("linked").uncheck()
    before.press("Home")
    assert before.source_line()[1] == "y = scale(x, n)"
    assert after.source_line()[1] == "return y.relu()"


def test_in_a_narrow_page_nothing_moves_for_the_one_before(compared: Any, open_page: Open, artifacts: Path) -> None:
    page = open_page(compared, width=700)
    at = box(page.part("compared-lines"))
    page.part("both").click()
    expect(page.page.get_by_test_id("explorer-before")).to_be_visible()
    moved = box(page.page.get_by_test_id("explorer-after").get_by_test_id("compared-lines"))
    assert moved["x"] == at["x"] and moved["width"] == at["width"]
    assert abs(moved["y"] - at["y"]) < 40, "but for the title"
    page.page.screenshot(path=artifacts / "compare-narrow.png")


def test_long_recordings(open_page: Open) -> None:
    trace = long_trace(20_000)
    page = open_page(trace.diff(trace))
    expect(page.part("differences")).to_have_text("Both ran the same lines, with the same breaks, graphs and guards.")
    assert page.part("compared-line").count() < 60, "only the rows in sight are made"


def box(place: Locator) -> dict[str, float]:
    found = place.bounding_box()
    assert found is not None
    return dict(found)
