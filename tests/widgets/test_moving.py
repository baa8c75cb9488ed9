"""Moving through a recording in a page: its address, history, the timeline, sizes, tabs, and keys."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Locator, expect

import tracewalk as tw
from tests.browser.explorer_page import ExplorerPage
from tests.widgets.conftest import Open, long_trace


def box(part: Locator) -> dict[str, float]:
    found = part.bounding_box()
    assert found is not None
    return dict(found)


def shown_range(page: ExplorerPage) -> tuple[int, int]:
    first, last = (page.part("timeline").get_attribute("data-range") or "").split()
    return int(first), int(last)


def test_the_address_names_the_step_and_is_followed(example: tw.Trace, open_page: Open) -> None:
    page = open_page(example)
    page.go_to(40)
    page.page.wait_for_url(re.compile(r"#step-40$"))
    page.page.evaluate("location.hash = '#step-12'")
    expect(page.part("position")).to_contain_text("step 12 of")
    page.page.reload()
    page.wait_until_shown()
    assert page.step == 12


def test_back_and_forward_by_keys_and_buttons(example: tw.Trace, open_page: Open) -> None:
    page = open_page(example)
    start = page.step
    page.go_to(40)
    for _ in range(3):
        page.press("ArrowRight")
    stepped = page.step
    page.go_to(12)
    assert page.press("Alt+ArrowLeft") == stepped
    assert page.press("Alt+ArrowLeft") == 40, "steps from one to the next are one place"
    assert page.click("back") == start
    assert page.click("forward") == 40
    expect(page.part("back")).to_be_enabled()


def test_the_timeline_zooms_pans_and_tells_what_is_there(open_page: Open) -> None:
    page = open_page(long_trace(20_000))
    place = box(page.part("timeline"))
    middle, y = place["x"] + place["width"] / 2, place["y"] + 30
    page.page.mouse.move(middle, y)
    expect(page.part("tip")).to_contain_text("step ")
    whole = shown_range(page)
    page.page.mouse.wheel(0, -600)
    expect(page.part("timeline")).not_to_have_attribute("data-range", f"{whole[0]} {whole[1]}")
    zoomed = shown_range(page)
    assert zoomed[1] - zoomed[0] < (whole[1] - whole[0]) / 2
    assert zoomed[0] < sum(whole) / 2 < zoomed[1], "around the mouse"
    page.page.mouse.wheel(200, 0)
    expect(page.part("timeline")).not_to_have_attribute("data-range", f"{zoomed[0]} {zoomed[1]}")
    panned = shown_range(page)
    assert panned[1] - panned[0] == zoomed[1] - zoomed[0]
    assert panned[0] > zoomed[0]
    page.press("End")
    assert shown_range(page)[1] == whole[1], "the position stays in sight"
    for _ in range(8):
        if page.part("zoomOut").is_enabled():
            page.part("zoomOut").click()
    assert shown_range(page) == whole


CURVE_CONTRAST = """e => {
    const canvas = e.querySelector('canvas'), pen = canvas.getContext('2d');
    const [scale, seen] = [canvas.height / canvas.clientHeight, new Map()];
    const row = pen.getImageData(4, Math.round(40 * scale), canvas.width - 8, 1).data;
    for (let at = 0; at < row.length; at += 4)
        if (row[at + 3] > 250) seen.set(row.slice(at, at + 3).join(), [...row.slice(at, at + 3)]);
    const light = rgb => {
        const [r, g, b] = rgb.map(c => c / 255).map(c => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const behind = getComputedStyle(e.closest('.tw-root')).backgroundColor;
    const ground = light(behind.match(/\\d+/g).slice(0, 3).map(Number));
    return [...seen.values()].map(light).map(one => (Math.max(one, ground) + 0.05) / (Math.min(one, ground) + 0.05));
}"""


def test_the_depth_curve_is_seen_in_the_dark(example: tw.Trace, open_page: Open) -> None:
    """At its foot, where every step has some height: the contrast of each of its colours with what is behind it."""
    page = open_page(example, dark=True)
    contrasts = page.part("timeline").evaluate(CURVE_CONTRAST)
    assert contrasts and min(contrasts) > 2.5


def test_a_mark_is_hit_though_the_mouse_is_beside_it(example: tw.Trace, open_page: Open) -> None:
    page = open_page(example)
    (first, *_) = (node.step for node in example.nodes if node.step is not None)
    page.go_to(first)
    needle = box(page.root.locator(".tw-needle"))
    page.press("Home")
    timeline = box(page.part("timeline"))
    # The row of nodes is the second below the curve.
    page.page.mouse.click(needle["x"] - 2, timeline["y"] + 42 + 2 + 5 + 2)
    page.settle()
    assert page.step == first


def test_sizes_are_dragged_and_remembered(example: tw.Trace, open_page: Open) -> None:
    page = open_page(example)
    before = box(page.part("frames"))
    line = box(page.part("splitter-frames"))
    page.page.mouse.move(line["x"] + 3, line["y"] + 50)
    page.page.mouse.down()
    page.page.mouse.move(line["x"] + 103, line["y"] + 50)
    page.page.mouse.up()
    wider = box(page.part("frames"))
    assert wider["width"] == pytest.approx(before["width"] + 100, abs=8)
    line = box(page.part("splitter-main"))
    page.page.mouse.move(line["x"] + 300, line["y"] + 3)
    page.page.mouse.down()
    page.page.mouse.move(line["x"] + 300, line["y"] + 83)
    page.page.mouse.up()
    assert box(page.part("splitter-main"))["y"] == pytest.approx(line["y"] + 80, abs=6)
    page.page.reload()
    page.wait_until_shown()
    assert box(page.part("frames"))["width"] == pytest.approx(wider["width"], abs=1)
    assert box(page.part("splitter-main"))["y"] == pytest.approx(line["y"] + 80, abs=6)


def test_the_pane_alone_keeps_the_toolbar(example: tw.Trace, open_page: Open) -> None:
    page = open_page(example)
    before = box(page.part("pane"))["height"]
    page.press("x")
    assert box(page.part("pane"))["height"] > 1.5 * before
    expect(page.part("source")).to_be_hidden()
    expect(page.part("toolbar")).to_be_in_viewport()
    page.part("maximise").click()
    expect(page.part("source")).to_be_visible()


@pytest.mark.parametrize(("width", "height"), [(700, 900), (853, 547), (1200, 820)])
def test_all_tabs_and_the_toolbar_are_reachable(example: tw.Trace, open_page: Open, width: int, height: int) -> None:
    """853 by 547 is what a window of 1280 by 820 has at a zoom of 150 %."""
    page = open_page(example, width=width, height=height)
    assert page.page.evaluate("document.documentElement.scrollWidth") <= width
    inside = box(page.root)
    for name in ("help", "position", "next", "find", "my-code", "zoomIn", "maximise"):
        part = box(page.part(name))
        assert part["x"] >= inside["x"], name
        assert part["x"] + part["width"] <= inside["x"] + inside["width"], name
    row = box(page.root.locator(".tw-tabs"))
    assert row["height"] < 40, "the tabs are in one row"
    for tab in ("timings", "dispatch", "graph", "overview"):
        page.open_pane(tab)
    page.part("toolbar").scroll_into_view_if_needed()
    page.page.mouse.wheel(0, 2000)
    expect(page.part("toolbar")).to_be_in_viewport(ratio=0.9)


def test_the_menu_of_tabs_by_keyboard(example: tw.Trace, open_page: Open) -> None:
    page = open_page(example, width=700, height=900)
    step = page.step
    page.part("more-tabs").focus()
    page.page.keyboard.press("Enter")
    page.page.keyboard.press("ArrowUp")
    expect(page.part("tab-find")).to_be_focused()
    page.page.keyboard.press("Enter")
    expect(page.part("pane")).to_have_attribute("data-pane", "find")
    expect(page.part("more-tabs")).to_be_focused()
    expect(page.part("more-tabs")).to_contain_text("Find")
    page.page.keyboard.press("ArrowLeft")
    assert page.part("pane").get_attribute("data-pane") != "find"
    page.part("more-tabs").click()
    page.page.keyboard.press("Escape")
    expect(page.root.get_by_role("menu")).to_have_count(0)
    assert page.step == step


def test_literals_are_coloured_also_where_the_step_is(open_page: Open) -> None:
    page = open_page(long_trace(2_000))
    number = page.root.locator("[data-testid=source] .tw-as-number").first
    plain = page.root.locator("[data-testid=source] .tw-as-plain").first
    colour = "e => getComputedStyle(e).color"
    assert number.evaluate(colour) != plain.evaluate(colour)
    marked = "e => getComputedStyle(e).backgroundColor"
    for piece in page.root.locator("[data-testid=source] .tw-marked").all():
        assert piece.evaluate(marked) != "rgba(0, 0, 0, 0)"


def test_a_long_sentence_is_cut_and_shown_whole_on_request(example: tw.Trace, open_page: Open) -> None:
    page = open_page(example, width=420, height=900)
    longest = max(range(len(example)), key=lambda i: len(example.steps[i].sentence))
    page.go_to(longest)
    text = page.part("sentence")
    cut = "e => e.scrollHeight > e.clientHeight + 2"
    assert text.evaluate(cut)
    page.part("whole-sentence").click()
    assert not text.evaluate(cut)
    page.part("whole-sentence").click()
    assert text.evaluate(cut)


def test_one_node_of_the_drawing_takes_the_focus(example: tw.Trace, open_page: Open) -> None:
    page = open_page(example)
    page.go_to(next(node.step for node in example.nodes if node.step is not None))
    page.open_pane("graph")
    node = page.root.locator("[data-testid=node][tabindex='0']")
    expect(node).to_have_count(1)
    node.focus()
    expect(node).to_be_focused()


def test_names_of_controls_have_words_apart(example: tw.Trace, open_page: Open) -> None:
    page = open_page(example)
    page.go_to(kept_step_with_break(example))
    for part, text in (("frames", r"\w+ \w+\.py:\d+"), ("stack", r"top \S")):
        names = page.part(part).aria_snapshot()
        assert re.search(rf'button "[^"\n]*{text}', names), names
    expect(page.part("tab-breaks")).to_have_accessible_name(re.compile(r"^Breaks, \d+$"))


def kept_step_with_break(trace: tw.Trace) -> int:
    (first, *_) = trace.breaks
    step = first.final_step if first.final_step is not None else first.step
    assert step is not None
    return step
