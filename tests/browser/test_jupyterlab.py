"""The first notebook in a real JupyterLab, driven by mouse and keyboard in headless Chromium."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import torch
from playwright.sync_api import Browser, Locator, Page, expect

from tests import first_notebook
from tests.browser.explorer_page import ConsoleWatch, ExplorerPage
from tests.browser.jupyter import Lab, Notebook

# What JupyterLab itself writes to the console; every other error or warning there fails a test.
JUPYTERLAB_SAYS = (
    # On a busy machine its own plugins take more than the 5 seconds it gives them; they start all the same.
    r"Plugin @jupyterlab/[\w-]+:[\w-]+ is taking too long to activate\.",
    r"Plugin @jupyterlab/[\w-]+:[\w-]+ \(with \d+ dependants\) took [\d.]+ms to activate\.",
    # It gives up a connection to the kernel that is still being made, and makes another. The explorer opens none.
    r"WebSocket connection to '[^']*/api/kernels/[^']*' failed: "
    r"WebSocket is closed before the connection is established\.",
)

WIDE = {"width": 1400, "height": 1000}
NARROW = {"width": 700, "height": 1000}


@dataclass
class Session:
    """A page with the notebook open. `ran` holds the output area of each cell run so far, by cell id."""

    page: Page
    watch: ConsoleWatch
    notebook: Notebook
    ran: dict[str, Locator] = field(default_factory=dict)

    def run(self, *cell_ids: str) -> Locator:
        """Run cells unless they were, and return the last one's output."""
        for cell_id in cell_ids:
            if cell_id not in self.ran:
                self.ran[cell_id] = self.notebook.run(first_notebook.index(cell_id))
        return self.ran[cell_ids[-1]]

    def explorer(self, cell_id: str) -> ExplorerPage:
        self.ran[cell_id].scroll_into_view_if_needed()
        explorer = ExplorerPage(self.ran[cell_id])
        explorer.wait_until_shown()
        return explorer


def open_notebook(lab: Lab, browser: Browser, workspace: str) -> Session:
    page = browser.new_page(viewport=WIDE)  # type: ignore[arg-type]
    watch = ConsoleWatch(page, JUPYTERLAB_SAYS)
    page.goto(lab.url(first_notebook.PATH.name, workspace))
    notebook = Notebook(page)
    notebook.wait_until_ready()
    return Session(page, watch, notebook)


@pytest.fixture(scope="module")
def light(lab: Lab, chromium: Browser) -> Iterator[Session]:
    lab.use_theme("JupyterLab Light")
    session = open_notebook(lab, chromium, "light")
    yield session
    session.page.close()


@pytest.fixture
def session(light: Session) -> Iterator[Session]:
    """The shared page; whatever a test does, the console stays clean."""
    yield light
    assert light.watch.problems == []


@pytest.fixture
def traced(session: Session) -> ExplorerPage:
    """The explorer under the first traced cell, at its first step."""
    session.run("model", "load", "trace")
    explorer = session.explorer("trace")
    explorer.press("Home")
    return explorer


def test_the_explorer_appears_under_the_traced_cell(session: Session, traced: ExplorerPage, artifacts: Path) -> None:
    assert traced.step == 1, "the step after RESUME"
    assert traced.steps > 500
    assert traced.source_line()[1] == "logits = model(tokens)"
    assert len(traced.frames()) == 1
    assert traced.sentence().endswith(".")
    session.page.screenshot(path=artifacts / "lab-first-trace.png")


def test_what_the_cell_assigned_is_an_ordinary_variable(session: Session, traced: ExplorerPage) -> None:
    printed = session.run("equal").inner_text()
    assert "shape: (2, 16, 65)" in printed
    assert "equal to eager: True" in printed


def test_stepping_forward_and_back_by_buttons_and_keys(traced: ExplorerPage) -> None:
    traced.step_by("instruction")
    seen = [(traced.step, traced.sentence(), traced.instruction())]
    for _ in range(3):
        traced.click("next")
        seen.append((traced.step, traced.sentence(), traced.instruction()))
    assert [step for step, _, _ in seen] == [1, 2, 3, 4]
    for expected in reversed(seen[:-1]):
        traced.press("ArrowLeft")
        assert (traced.step, traced.sentence(), traced.instruction()) == expected
    assert traced.press("ArrowRight") == 2
    assert traced.click("previous") == 1
    assert traced.click("last") == traced.steps - 1
    assert "RETURN_VALUE" in traced.instruction()
    assert traced.press("Home") == 1
    assert traced.press("End") == traced.steps - 1
    assert traced.click("first") == 1


def test_going_into_calls_and_out_again(traced: ExplorerPage) -> None:
    before = traced.frames()
    traced.press("i")
    inside = traced.frames()
    assert inside[: len(before)] == before
    assert len(inside) > len(before)
    assert any("forward" in name for name in inside[len(before) :]), "model(tokens) calls its forward"
    traced.press("o")
    assert traced.frames() == before
    assert traced.source_line()[1] == "logits = model(tokens)"


def test_finding_the_attention_and_opening_its_values(
    session: Session, traced: ExplorerPage, artifacts: Path
) -> None:
    traced.part("find").fill("F.scaled_dot_product_attention(q, k, v")
    traced.part("find").press("Enter")
    expect(traced.part("source-current")).to_contain_text("F.scaled_dot_product_attention")
    traced.settle()
    frames = traced.frames()
    in_order = [name for name in frames if name.endswith(".forward")]
    assert in_order == ["GPT.forward", "Block.forward", "CausalSelfAttention.forward"]
    number, text = traced.source_line()
    assert text == "y = F.scaled_dot_product_attention(q, k, v, is_causal=True)"
    assert number == first_notebook.line_of("model", "scaled_dot_product_attention")

    # What q is, by plain torch.
    q = torch.zeros(2, 16, 96).chunk(3, dim=-1)[0].view(2, 16, 4, 8).transpose(1, 2)
    facts = traced.open_value("locals:q")
    assert f"f32[{', '.join(map(str, q.shape))}]" in facts["fake"]
    assert f"stride ({', '.join(map(str, q.stride()))}) · cpu" in facts["layout"]
    assert facts["type"] == "Tensor" or facts["type"].endswith(".Tensor")
    session.page.screenshot(path=artifacts / "lab-attention.png")

    # Who made it: a link to an earlier step, on the line that assigned it.
    at = traced.step
    made_by = (
        traced.root.locator('[data-path="locals:q"]').get_by_test_id("value-facts").first.locator("[data-step]").first
    )
    made_by.click()
    traced.settle()
    assert traced.step < at
    assert traced.source_line()[1].startswith("q = q.view(")


def test_stepping_by_node_follows_the_graph(traced: ExplorerPage) -> None:
    pane = traced.open_pane("graph")
    traced.step_by("node")
    names = []
    step = -1
    while traced.click("next") != step and len(names) < 6:
        step = traced.step
        names += [text.removeprefix("node ") for text in traced.root.locator(".tw-chip-node").all_inner_texts()]
    traced.step_by("instruction")
    assert "arange" in names[0] or "arange" in names[1]
    expect(pane.get_by_test_id("node-facts")).to_contain_text(names[-1])
    # The graph is the one that the two embeddings, two blocks and the head make.
    traced.press("End")
    expect(pane).to_contain_text(re.compile(r"(\d+) of \1 nodes at this step"))


def test_guards_name_their_source_and_their_line(traced: ExplorerPage) -> None:
    traced.press("End")
    pane = traced.open_pane("guards")
    guards = pane.get_by_test_id("guard")
    expect(guards.first).to_be_visible()
    expect(pane).to_contain_text("tokens")
    text = pane.inner_text()
    assert re.search(r"i64\[2, 16\]", text), "the guard on the tensor's dtype and shape"


def test_both_breaks_are_shown_with_their_lines(session: Session, artifacts: Path) -> None:
    output = session.run("model", "load", "chatty", "trace-chatty")
    assert output.inner_text().count("torch.Size([2, 16, 32])") >= 1
    explorer = session.explorer("trace-chatty")
    pane = explorer.open_pane("breaks")
    lines = pane.locator("[data-testid=break] .tw-my-line").all_inner_texts()
    assert {"print(x.shape)", "if x.sum() > 0:"} <= set(lines)
    pane.get_by_test_id("break").filter(has_text="if x.sum() > 0:").first.click()
    branch = pane.get_by_test_id("break-details")
    expect(branch).to_contain_text("Try")
    line = first_notebook.line_of("chatty", "if x.sum() > 0:")
    expect(branch).to_contain_text(re.compile(rf"Cell In\[\d+\], line {line}\b"))
    expect(branch).to_contain_text("Instead:")
    expect(branch).to_contain_text("Continues in")
    session.page.screenshot(path=artifacts / "lab-breaks.png")


def test_jumping_to_a_break_and_on_into_its_resume_function(session: Session) -> None:
    session.run("model", "load", "chatty", "trace-chatty")
    explorer = session.explorer("trace-chatty")
    pane = explorer.open_pane("breaks")
    broken = pane.get_by_test_id("break").filter(has_text="print(x.shape)").first
    broken.click()
    explorer.settle()
    assert str(explorer.step) == broken.get_attribute("data-step")
    assert explorer.source_line() == (first_notebook.line_of("chatty", "print(x.shape)"), "print(x.shape)")
    assert "ChattyGPT.forward" in explorer.frames()[-1]

    explorer.press("Home")
    first = explorer.press("b")
    assert explorer.press("b") >= first
    assert explorer.press("B") <= explorer.press("B")

    # The steps of the resume function are there too.
    broken.click()
    pane.get_by_test_id("break-details").locator("p", has_text="Continues in").locator("[data-step]").first.click()
    explorer.settle()
    assert "resumed" in explorer.frames()[0]
    explorer.press("ArrowRight")
    assert explorer.source_line()[1] != ""


def test_calls_say_why_it_was_compiled_again(session: Session, artifacts: Path) -> None:
    session.run("model", "load", "calls")
    explorer = session.explorer("calls")
    pane = explorer.open_pane("calls")
    table = pane.get_by_test_id("calls").filter(has_text="call").filter(has_text="version 2").first
    rows = [row.locator("td").all_inner_texts() for row in table.locator("tbody tr").all()]
    assert len(rows) == 3
    assert "compiled" in rows[0][0]
    assert "expected" in rows[1][0]
    assert "16" in rows[1][0]
    assert "24" in rows[1][0]
    assert "compiled" in rows[1][1]
    assert "reused" in rows[2][1]
    expect(table.locator("thead")).to_contain_text("any")
    session.page.screenshot(path=artifacts / "lab-calls.png")


def test_the_page_it_wrote_opens_without_kernel_and_network(
    session: Session, lab: Lab, chromium: Browser, artifacts: Path
) -> None:
    session.run("model", "load", "calls", "save", "html")
    context = chromium.new_context(viewport=WIDE, offline=True)  # type: ignore[arg-type]
    page = context.new_page()
    watch = ConsoleWatch(page)
    page.goto((lab.folder / "first.html").as_uri())
    explorer = ExplorerPage(page.locator("body"))
    explorer.wait_until_shown()
    live = session.explorer("calls")
    assert explorer.steps == live.steps
    for step in (0, 57, explorer.steps - 1):
        explorer.go_to(step)
        live.go_to(step)
        assert explorer.sentence() == live.sentence()
        assert explorer.frames() == live.frames()
        assert explorer.values("locals") == live.values("locals")
    assert "reused" in explorer.open_pane("calls").inner_text()
    page.screenshot(path=artifacts / "page-calls.png", full_page=True)
    assert watch.problems == []
    context.close()


def test_running_the_cell_again_with_another_length(session: Session) -> None:
    """The same traced cell, edited and run again, has its own recording and result."""
    session.run("model", "load", "trace")
    at = first_notebook.index("trace")
    session.notebook.replace(at, "%%trace\nlogits = model(torch.cat([tokens, tokens], dim=1))")
    session.ran["trace"] = session.notebook.run(at)
    explorer = session.explorer("trace")
    assert explorer.source_line()[1] == "logits = model(torch.cat([tokens, tokens], dim=1))"
    equal = first_notebook.index("equal")
    session.notebook.replace(equal, "print(torch.equal(logits, model(torch.cat([tokens, tokens], dim=1))))")
    assert "True" in session.notebook.run(equal).inner_text()


def test_chords_reach_the_notebook_and_escape_leads_back(session: Session, lab: Lab) -> None:
    session.run("model", "load", "trace")
    explorer = session.explorer("trace")
    cells = session.notebook.panel.locator(".jp-Cell").count()
    explorer.root.focus()
    # Letters are the explorer's: in the notebook's command mode, `a` and `b` would add cells, `d d` delete one.
    for key in ("a", "b", "d", "d"):
        session.page.keyboard.press(key)
    assert session.notebook.panel.locator(".jp-Cell").count() == cells
    with session.page.expect_request(
        lambda request: request.method == "PUT" and request.url.split("?")[0].endswith(".ipynb")
    ):
        session.page.keyboard.press("Control+s")
    expect(explorer.root).to_be_focused()
    session.page.keyboard.press("Escape")
    session.page.keyboard.press("Escape")
    expect(explorer.root).not_to_be_focused()
    assert session.page.evaluate("() => document.activeElement.closest('.jp-Notebook') !== null")
    shutil.copy(first_notebook.PATH, lab.folder)  # without outputs, for the pages that other tests open


def test_the_dark_theme_and_a_narrow_window(lab: Lab, chromium: Browser, artifacts: Path) -> None:
    lab.use_theme("JupyterLab Dark")
    session = open_notebook(lab, chromium, "dark")
    session.page.keyboard.press("Control+b")  # put away the file browser, as one does on a narrow screen
    session.run("model", "load", "trace")
    explorer = session.explorer("trace")
    expect(explorer.root).to_have_attribute("data-theme", "dark")
    explorer.go_to(57)
    assert lightness(explorer.root, "background-color") < 80 < lightness(explorer.part("sentence"), "color")
    session.page.screenshot(path=artifacts / "lab-dark.png")

    columns = explorer.root.locator(".tw-box")
    assert len({round(box["x"]) for box in boxes(columns)}) == 3, "side by side where there is room"
    session.page.set_viewport_size(NARROW)  # type: ignore[arg-type]
    expect(columns.first).to_be_visible()
    session.page.wait_for_function("() => document.querySelector('.tw-root').clientWidth < 700")
    stacked = boxes(columns)
    assert len({round(box["x"]) for box in stacked}) == 1, "one below the other at 700 pixels"
    assert explorer.root.evaluate("e => e.scrollWidth <= e.clientWidth"), "nothing sticks out"
    session.page.screenshot(path=artifacts / "lab-dark-narrow.png")
    assert explorer.press("ArrowRight") > 57
    assert session.watch.problems == []
    session.page.close()


def boxes(elements: Locator) -> list[dict[str, float]]:
    return [dict(box) for element in elements.all() if (box := element.bounding_box())]  # type: ignore[arg-type]


def lightness(element: Locator, name: str) -> float:
    """A computed colour from 0 (black) to 255 (white); where it is transparent, the nearest ancestor's."""
    colour = element.evaluate(
        """(e, name) => {
            for (; e; e = e.parentElement) {
                const value = getComputedStyle(e)[name === 'color' ? 'color' : 'backgroundColor'];
                if (!/, 0\\)$/.test(value)) return value;
            }
            return 'rgb(255, 255, 255)';
        }""",
        name,
    )
    red, green, blue = [float(part) for part in re.findall(r"[\d.]+", colour)[:3]]
    return 0.299 * red + 0.587 * green + 0.114 * blue
