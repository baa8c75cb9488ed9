"""The overview in the explorer: what it says is what `print` says, and its rows lead to steps and panes."""

from __future__ import annotations

import re

from playwright.sync_api import expect

import tracewalk as tw
from tests.widgets.conftest import Open


def test_the_overview_opens_first_and_says_what_print_says(example: tw.Trace, open_page: Open) -> None:
    page = open_page(example)
    expect(page.part("tab-overview")).to_have_attribute("aria-selected", "true")
    expect(page.part("headline")).to_have_text(example.overview().headline)
    for section in example.overview().sections:
        shown = page.part(f"overview-{section.name}")
        expect(shown.locator("h4")).to_contain_text(section.title)
        for row, item in zip(section.rows, shown.get_by_test_id("overview-row").all(), strict=True):
            text = item.inner_text()
            assert row.text.replace("`", "") in text
            assert row.place in text
            assert row.source in text


def test_a_row_leads_to_its_step_and_opens_its_notes(example: tw.Trace, open_page: Open) -> None:
    page = open_page(example)
    [section] = [each for each in example.overview().sections if each.name == "breaks"]
    row = page.part("overview-breaks").get_by_test_id("overview-row").first
    row.locator("[data-step]").click()
    page.settle()
    assert page.step == section.rows[0].step
    assert page.source_line()[1] == "if total.sum() > 0:"
    expect(row).to_have_class(re.compile("tw-current"))
    for note in section.rows[0].notes:
        expect(row).to_contain_text(note)
    row.get_by_role("button", name="Show less").click()
    expect(row).not_to_contain_text("Try:")
    row.get_by_role("button", name="Breaks ›").click()
    expect(page.part("pane")).to_have_attribute("data-pane", "breaks")
    assert page.step == section.rows[0].step


def test_tabs_are_named_and_moved_between_by_arrows(example: tw.Trace, open_page: Open) -> None:
    page = open_page(example)
    expect(page.root.get_by_role("tab", name="Breaks, 1")).to_be_visible()
    expect(page.root.get_by_role("tabpanel", name="Overview")).to_be_visible()
    at = page.step
    page.part("tab-overview").focus()
    page.page.keyboard.press("ArrowRight")
    expect(page.part("tab-graph")).to_be_focused()
    expect(page.root.get_by_role("tabpanel", name="Graph")).to_be_visible()
    page.page.keyboard.press("Home")
    expect(page.part("tab-overview")).to_be_focused()
    page.page.keyboard.press("ArrowLeft")
    expect(page.part("tab-find")).to_be_focused()
    assert page.step == at, "arrows on a tab do not step"
    assert page.root.get_attribute("role") == "region"
