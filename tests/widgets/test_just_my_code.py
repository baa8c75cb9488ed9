"""Just the user's code, and the calls that led to a trace, in the explorer."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from playwright.sync_api import expect

import tracewalk as tw
from tests.recording.programs_in_files import PACKAGES, module
from tests.widgets.conftest import Open

LIBRARY = """\
def apply(function, x):
    y = x * 2
    return function(y)
"""
PROGRAM = """\
def mine(x):
    return x + 1

def model(x):
    y = apply(mine, x)
    return linear(y)
"""
BROKEN = """\
def stem(x):
    print(end="")
    return x + 1

def model(x):
    y = stem(x)
    if y.sum() > 0:
        y = y * 2
    return y

def step(x):
    return model(x).mean()
"""


@pytest.fixture(scope="module")
def trace() -> tw.Trace:
    library = module(LIBRARY, PACKAGES)
    names = {"apply": library["apply"], "linear": torch.nn.Linear(2, 2)}
    return tw.trace(module(PROGRAM, **names)["model"], torch.ones(2))


@pytest.fixture(scope="module")
def broken() -> tw.Trace:
    return tw.trace(module(BROKEN)["step"], torch.ones(2))


def line(page: object) -> int:
    return page.source_line()[0]  # type: ignore[attr-defined, no-any-return]


def test_stepping_stays_in_the_users_code(trace: tw.Trace, open_page: Open) -> None:
    page = open_page(trace)
    expect(page.part("my-code")).to_be_checked()
    assert (line(page), page.frames()) == (5, ["model"])
    page.press("i")
    assert (line(page), page.frames()) == (2, ["model", "mine"]), "the library's frame is one row"
    expect(page.part("library-frames")).to_have_text("1 library frame")
    page.press("o")
    assert (line(page), page.frames()) == (5, ["model"])
    page.press("n")
    assert (line(page), page.frames()) == (6, ["model"])
    for _ in range(12):
        page.press("ArrowRight")
        assert page.frames() == ["model"], "Linear.forward is stepped over"


def test_the_toggle_shows_libraries(trace: tw.Trace, open_page: Open) -> None:
    page = open_page(trace)
    page.press("i")
    page.part("library-frames").click()
    assert page.frames() == ["model", "apply", "mine"]
    expect(page.part("my-code")).not_to_be_checked()
    page.press("Home")
    page.press("n")
    page.press("i")
    assert page.frames() == ["model", "apply"]
    page.press("j")
    assert (line(page), page.frames()) == (5, ["model"]), "a step in a library is shown at the user's line"


def test_my_code_adds_a_package(trace: tw.Trace, open_page: Open, tmp_path: Path) -> None:
    path = trace.to_html(tmp_path / "mine.html", my_code=["somelib"])
    page = open_page(trace)
    page.page.goto(path.as_uri())
    page.wait_until_shown()
    page.press("i")
    assert page.frames() == ["model", "apply"]
    assert trace.show(my_code=["somelib"]).my_code == ["somelib"]


def test_the_call_stack_goes_across_breaks(broken: tw.Trace, open_page: Open) -> None:
    page = open_page(broken)
    pane = page.open_pane("breaks")
    rows = pane.get_by_test_id("break")
    assert [row.locator("td").all_inner_texts() for row in rows.all()] == [
        ["1", 'print(end="")', "The code calls print().", "model.py:2", "3"],
        ["2", "if y.sum() > 0:", "The code branches on the value of a tensor (bool[]).", "model.py:7", "1"],
    ]
    stack = pane.get_by_test_id("call-stack").locator("li")
    assert [each.strip() for each in stack.all_inner_texts()] == ["step:12", "model:6", "stem:2"]
    # Each leads to its line, in the trace of its own function.
    for number, at in enumerate([12, 6, 2]):
        stack.nth(number).locator("[data-step]").click()
        page.settle()
        assert line(page) == at
    # A resume function keeps the callers of its function.
    rows.nth(1).click()
    page.settle()
    assert line(page) == 7
    assert page.frames() == ["model, resumed"]
    callers = page.part("frames").locator(".tw-frame-caller")
    assert callers.all_inner_texts() == ["step\nmodel.py:12"]
    callers.first.click()
    page.settle()
    assert (line(page), page.frames()) == (12, ["step"])


def test_b_goes_by_place_and_the_table_follows(broken: tw.Trace, open_page: Open) -> None:
    page = open_page(broken)
    pane = page.open_pane("breaks")
    current = pane.locator("tr.tw-current td").first
    assert line(page) == 12
    page.press("b")
    assert (line(page), current.inner_text()) == (2, "1")
    page.press("b")
    assert (line(page), current.inner_text()) == (7, "2")
    page.press("Home")
    places = sorted(one.final_step or one.step or 0 for one in broken.breaks)
    assert [page.press("B") for _ in places] == places, "each break, also of the callers"


def test_a_line_number_leads_to_the_next_time_the_line_runs(open_page: Open) -> None:
    program = "def loop(x):\n    for i in range(3):\n        x = x + i\n    return x\n"
    trace = tw.trace(module(program)["loop"], torch.ones(2))
    page = open_page(trace)
    number = page.part("source").get_by_role("button", name="3", exact=True)
    begins = [step.index for step in trace.steps if step.line == 3 and trace.steps[step.index - 1].line != 3]
    assert len(begins) == 3
    for at in (*begins, begins[0]):
        number.click()
        page.settle()
        assert page.step == at


def test_a_cell_of_one_line_is_stepped_into_by_line(open_page: Open) -> None:
    inner = module("def inner(x):\n    y = x + 1\n    return y * 2\n")["inner"]
    outer = module("def outer(x):\n    return inner(x)\n", "/home/me/cell.py", inner=inner)["outer"]
    page = open_page(tw.trace(outer, torch.ones(2)))
    assert page.frames() == ["outer"]
    page.press("n")
    assert (line(page), page.frames()) == (2, ["outer", "inner"])
    page.press("n")
    assert line(page) == 3


def test_a_call_begins_after_the_cells_are_made(open_page: Open) -> None:
    inner = "def inner(x):\n    def deep():\n        return x\n    return deep() + 1\n"
    program = f"{inner}\ndef outer(x):\n    return inner(x)\n"
    page = open_page(tw.trace(module(program)["outer"], torch.ones(2)))
    page.step_by("call")
    page.click("next")
    assert page.frames() == ["outer", "inner"]
    assert page.instruction() not in {"MAKE_CELL", "RESUME", "COPY_FREE_VARS"}
    assert line(page) == 2
