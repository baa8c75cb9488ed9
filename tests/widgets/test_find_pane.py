"""The Find pane in a browser: what was found, the last change of a value, and filters of guards."""

from __future__ import annotations

import re
from types import SimpleNamespace

import pytest
import torch
from playwright.sync_api import expect

import tracewalk as tw
from tests.recording.programs_in_files import PACKAGES, module
from tests.widgets.conftest import Open, long_trace

LIBRARY = """\
def scaled(x, by):
    return x * by
"""
PROGRAM = """\
def model(x, kept, flag):
    for _ in range(3):
        x = scaled(x, 2).relu()
    kept.append(x)
    if flag:
        x = x[:1]
    return x + 1
"""


@pytest.fixture(scope="module")
def trace() -> tw.Trace:
    model = module(PROGRAM, scaled=module(LIBRARY, PACKAGES)["scaled"])["model"]
    with tw.record() as recorded:
        compiled = tw.compile(model, backend="eager")
        for flag in (True, False):
            compiled(torch.ones(3, 4), [], flag)
    return recorded


def test_what_was_found_is_listed_by_line_and_node(trace: tw.Trace, open_page: Open) -> None:
    page = open_page(trace)
    page.press("/")
    page.page.keyboard.type("relu")
    results = page.part("result")
    kinds = results.evaluate_all("rows => rows.map(row => row.dataset.kind)")
    expect(results.first).to_be_visible()
    kinds = results.evaluate_all("rows => rows.map(row => row.dataset.kind)")
    nodes = [node for node in trace.nodes if "relu" in node.name or "relu" in node.target]
    assert kinds == ["line"] + ["node"] * len(nodes)
    expect(results.first).to_contain_text("x = scaled(x, 2).relu()")
    expect(results.first.locator("mark")).to_have_text("relu")
    # The line runs three times for each of the two versions, and each run is one step to stop at.
    expect(page.part("found")).to_have_text("6 found")
    page.part("find").press("Enter")
    assert page.source_line()[1] == "x = scaled(x, 2).relu()"
    expect(page.part("found")).to_have_text("1 of 6")
    first = page.step
    page.part("find").press("Enter")
    assert trace.steps[page.step].line == trace.steps[first].line
    assert any(trace.steps[step].line != trace.steps[first].line for step in range(first, page.step))
    results.nth(1).click()
    assert page.step in {node.step for node in nodes}


def test_all_of_a_long_recording_is_searched(open_page: Open) -> None:
    trace = long_trace(60_000)
    page = open_page(trace)
    page.part("find").fill("kept[0]")
    runs = [step for step in trace.steps.where("'kept[0]' in step.source") if step.opname == "LOAD_FAST"]
    firsts = [step for step in runs if step.instruction.arg == "kept"]
    expect(page.part("result").first).to_contain_text(f"{len(firsts)}×", timeout=10_000)


def test_one_key_goes_back_to_the_last_change_of_a_value(trace: tw.Trace, open_page: Open) -> None:
    page = open_page(trace)
    page.go_to(trace.find(text="x + 1", attempts="last")[0].index)
    page.root.locator('[data-path="locals:x"] button').first.click()
    assert page.press("r") == max(s.index for s in trace.steps[: page.step + 1].where("changes(x)") if s.depth == 0)
    lines = [page.source_line()[1]]
    for _ in range(2):
        page.press("r")
        lines.append(page.source_line()[1])
    assert lines == ["x = x[:1]", "x = scaled(x, 2).relu()", "x = scaled(x, 2).relu()"]
    page.press("R")
    page.press("R")
    assert page.source_line()[1] == "x = x[:1]"
    page.root.locator('[data-path="locals:kept"] button').first.click()
    page.press("r")
    assert page.source_line()[1] == "kept.append(x)", "a change in place"


def test_a_page_says_what_it_can_do_without_a_kernel(trace: tw.Trace, open_page: Open) -> None:
    page = open_page(trace)
    page.press("w")
    expect(page.part("no-kernel")).to_contain_text("This page has no kernel, and conditions are evaluated there.")
    expect(page.part("notice")).to_contain_text("r goes back to the last change")


def test_guards_are_filtered(trace: tw.Trace, open_page: Open) -> None:
    page = open_page(trace)
    guards = [guard for guard in trace.guards if guard.attempt == trace.steps[page.step].attempt.id]
    page.open_pane("guards")
    listed = page.part("guard")
    expect(listed).to_have_count(len(guards))
    page.part("guards-failed").check()
    expect(listed).to_have_count(1)
    expect(listed).to_contain_text("flag")
    expect(listed).to_contain_text("failed at call 2")
    assert "tw-later" not in (listed.get_attribute("class") or ""), "what failed is not faded"
    page.part("guards-failed").uncheck()
    page.root.locator('[data-path="locals:x"] button').first.click()
    page.part("guards-value").check()
    texts = listed.all_inner_texts()
    assert len(texts) == len([guard for guard in guards if guard.source == "L['x']" or "L['x']" in guard.path])
    assert all(re.search(r"\bx\b", text) for text in texts)
    page.part("guards-value").uncheck()
    page.part("guards-mine").check()
    kinds = listed.locator(".tw-guard-kind").all_inner_texts()
    assert kinds
    assert "GLOBAL_STATE" not in kinds


def test_a_guard_that_failed_leads_to_itself_in_its_own_version(open_page: Open) -> None:
    """Not to guards of the version at the step, and not faded."""
    function = module("def f(x, o):\n    if o.n % 2:\n        return x + o.n\n    return x * o.n\n")["f"]
    with tw.record() as trace:
        compiled = tw.compile(function, backend="eager")
        for number in (3, 4, 5):
            compiled(torch.ones(2), SimpleNamespace(n=number))
    page = open_page(trace)
    page.press("End")
    calls = page.open_pane("calls")
    expected = calls.locator("[data-call='2'] td[data-what=failed]").first.get_by_role("button").first
    text = expected.inner_text()
    expected.click()
    guards = page.root.locator("[data-testid=pane][data-pane=guards]")
    expect(guards).to_contain_text("version 1 of f")
    expect(guards).to_contain_text("The step shown is in another version.")
    row = guards.locator(".tw-guard.tw-picked")
    expect(row).to_have_count(1)
    assert text in row.inner_text()
    expect(row).to_contain_text("failed at call 3")
    ink = page.root.evaluate("e => getComputedStyle(e).color")
    assert row.locator(".tw-guard-text").evaluate("e => getComputedStyle(e).color") == ink
    expect(guards.locator(".tw-later")).to_have_count(0)
