"""The stand-alone page in a browser: what it shows is what the recording holds, and what Python itself would say."""

from __future__ import annotations

import dis
import re
from pathlib import Path

import torch
from playwright.sync_api import expect

import tracewalk as tw
from tests.recording import synthetic
from tests.widgets.conftest import Open

PROGRAM = synthetic.PROGRAM.splitlines()


def kept(trace: tw.Trace) -> list[int]:
    """The steps of attempts that were not abandoned."""
    hidden = [a for a in trace.attempts if a.outcome == "restarted"]
    return [s for s in range(len(trace)) if not any(a.first_step <= s <= a.last_step for a in hidden)]


def test_each_step_shows_its_line_instruction_and_values(example: tw.Trace, open_page: Open) -> None:
    page = open_page(example)
    page.step_by("instruction")
    steps = kept(example)[1:]
    assert page.step == steps[0], "the step after RESUME"
    assert page.steps == len(example)
    for wanted in steps[:40]:
        step = example.steps[wanted]
        assert page.step == wanted
        assert page.sentence() == step.sentence
        number, text = page.source_line()
        assert (number, text) == (step.line, PROGRAM[number - 1].strip())
        assert page.instruction() == step.opname
        assert page.instruction() in dis.opmap
        names = [line.split("\n")[0] for line in page.part("locals").locator(".tw-label").all_inner_texts()]
        assert set(names) == set(step.before.locals) | set(step.after.locals if step.after else ())
        page.press("ArrowRight")


def test_back_gives_what_forward_gave(example: tw.Trace, open_page: Open) -> None:
    page = open_page(example)
    seen = []
    for _ in range(25):
        seen.append((page.step, page.sentence(), page.values("stack"), page.values("locals"), page.frames()))
        page.click("next")
    for expected in reversed(seen):
        page.press("ArrowLeft")
        assert (page.step, page.sentence(), page.values("stack"), page.values("locals"), page.frames()) == expected


def test_ends_and_numbers(example: tw.Trace, open_page: Open) -> None:
    page = open_page(example)
    steps = kept(example)[1:]
    assert page.click("last") == steps[-1]
    assert page.press("ArrowRight") == steps[-1]
    expect(page.part("notice")).to_have_text("There is no line of your code after this step (j: libraries too).")
    assert page.press("Home") == steps[0]
    page.go_to(steps[50])
    assert page.press("End") == steps[-1]


def test_failed_attempts_are_hidden_until_asked_for(example: tw.Trace, open_page: Open) -> None:
    page = open_page(example)
    assert page.click("first") > 0
    page.part("failed-attempts").check()
    assert page.click("first") == 1
    last = example.attempts[0].last_step
    expect(page.part("given-up")).to_have_text(f"given up at step {last}")
    page.part("given-up").click()
    expect(page.part("sentence")).to_contain_text("The graph breaks here")
    expect(page.part("sentence")).to_contain_text("and stops here this time.")
    page.part("failed-attempts").uncheck()
    assert page.step == kept(example)[0]
    page.go_to(3)
    expect(page.part("failed-attempts")).to_be_checked()


def test_calls_are_entered_and_left(example: tw.Trace, open_page: Open) -> None:
    page = open_page(example)
    assert page.frames() == ["model"]
    page.press("i")
    assert len(page.frames()) == 2
    inner = page.frames()[1]
    assert inner in {"number", "layer"}
    page.press("o")
    assert page.frames() == ["model"]
    page.step_by("call")
    page.click("previous")
    assert page.frames() == ["model", inner]
    # A function further out is shown as it stood at its call.
    page.part("frames").get_by_role("button", name=re.compile("^model")).click()
    assert page.source_line()[1] == 'total = layer(total, weight, number("two"))'
    page.press("Escape")
    assert page.source_line()[1] != 'total = layer(total, weight, number("two"))'


def test_lines_and_nodes_and_guards_and_breaks(example: tw.Trace, open_page: Open) -> None:
    page = open_page(example)
    assert [page.press("n") and page.source_line()[0] for _ in range(2)] == [18, 19]
    page.press("n")
    assert page.frames() == ["model"], "a line steps over what it calls"
    page.press("p")
    assert page.source_line()[0] == 19
    for key, items in (("m", example.nodes), ("g", example.guards)):
        page.press("Home")
        at = page.step
        later = sorted({i.step for i in items if i.step is not None and i.step > at and i.step in kept(example)})
        assert [page.press(key) for _ in later[:4]] == later[:4]
    page.press("Home")
    breaks = sorted(b.final_step for b in example.breaks if b.final_step is not None)
    assert [page.press("B") for _ in breaks] == breaks
    assert page.source_line()[1] == "if total.sum() > 0:"
    page.press("Home")
    assert page.press("b") == breaks[0]
    assert page.press("b") == breaks[0], "all breaks are at one place"
    expect(page.part("notice")).to_have_text("The graph breaks at no other place after this step.")


def test_finding_text(example: tw.Trace, open_page: Open) -> None:
    page = open_page(example)
    page.press("/")
    expect(page.part("find")).to_be_focused()
    page.page.keyboard.type("kept.append")
    page.page.keyboard.press("Enter")
    expect(page.part("source-current")).to_contain_text("kept.append(scale)")
    expect(page.part("found")).to_contain_text("1 of ")
    first = page.step
    page.page.keyboard.press("Enter")
    expect(page.part("found")).to_contain_text("2 of ")
    page.page.keyboard.press("Shift+Enter")
    assert page.step == first
    page.part("find").fill("nowhere at all")
    expect(page.part("found")).to_have_text("none")
    page.part("find").press("Enter")
    assert page.step == first


def test_clicking_source_and_bytecode_goes_to_where_it_ran(example: tw.Trace, open_page: Open) -> None:
    page = open_page(example)
    page.part("source").get_by_role("button", name="22", exact=True).click()
    assert page.source_line()[0] == 22 or page.part("notice").is_visible()
    page.press("Home")
    page.part("bytecode-fold").click()
    page.part("bytecode").locator(".tw-instr").filter(has_text="GET_ITER").click()
    page.settle()
    assert page.instruction() == "GET_ITER"


def test_a_value_opens(example: tw.Trace, open_page: Open, artifacts: Path) -> None:
    page = open_page(example)
    page.part("find").fill("kept.append")
    page.part("find").press("Enter")
    page.press("v")
    page.press("n")
    step = example.steps[page.step]
    kept_list = step.locals["kept"]
    facts = page.open_value("locals:kept")
    assert kept_list.cls in facts["kind"]
    assert facts["type"] == kept_list.py_type
    parts = page.root.locator('[data-path^="locals:kept/"] > .tw-value .tw-label').all_inner_texts()
    assert parts == [label for label, _ in kept_list.parts]
    inner = page.open_value("locals:kept/[0]")
    fake = kept_list["[0]"].fake
    assert fake is not None
    assert inner["fake"].startswith(f"f32[{', '.join(fake.shape)}]")
    page.page.screenshot(path=artifacts / "page-value.png")
    # It stays open from step to step, and leads to the step that made it.
    page.press("ArrowLeft")
    expect(page.root.locator('[data-path="locals:kept/[0]"]')).to_be_visible()
    page.root.locator('[data-path="locals:kept"] [data-step]').first.click()
    page.settle()
    assert page.instruction() == "BUILD_LIST"


def test_the_graph_grows_and_leads_back(example: tw.Trace, open_page: Open, artifacts: Path) -> None:
    page = open_page(example)
    pane = page.open_pane("graph")
    nodes = pane.get_by_test_id("node")
    attempt = example.attempts[example.frames[example.steps[page.step].frame.id].attempt]
    (graph,) = [g for g in example.all_graphs if g.attempt == attempt.id]
    expect(nodes).to_have_count(len(graph.nodes))
    page.press("m")
    here = {n.name for n in (example.nodes[i] for i in graph.nodes) if n.step == page.step or n.after <= page.step}
    shown = {
        n.get_attribute("data-node")
        for n in nodes.all()
        if "tw-later" not in (n.get_attribute("class") or "").split()
    }
    assert shown == here
    last = [example.nodes[i] for i in graph.nodes if example.nodes[i].op == "call_function"][-1]
    pane.locator(f'[data-node="{last.name}"]').click()
    page.settle()
    assert page.step == last.step
    expect(pane.get_by_test_id("node-facts")).to_contain_text(last.target)
    page.page.screenshot(path=artifacts / "page-graph.png")


def test_the_graph_folds_by_module(open_page: Open, artifacts: Path) -> None:
    class Block(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.up, self.down = torch.nn.Linear(4, 8), torch.nn.Linear(8, 4)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x + self.down(self.up(x).relu())

    class Net(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.blocks = torch.nn.ModuleList(Block() for _ in range(3))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            for block in self.blocks:
                x = block(x)
            return x * 2

    page = open_page(tw.trace(Net(), torch.ones(2, 4)))
    pane = page.open_pane("graph")
    page.press("End")
    nodes, modules = pane.get_by_test_id("node"), pane.get_by_test_id("module")
    expect(modules).to_have_count(0)
    everything = nodes.count()
    pane.get_by_test_id("fold-modules").check()
    expect(modules).to_have_count(3)
    assert [module.get_attribute("data-node") for module in modules.all()] == ["blocks[0]", "blocks[1]", "blocks[2]"]
    page.page.screenshot(path=artifacts / "page-graph-folded.png")
    modules.nth(1).click()
    # blocks[1] as its own relu and add, and two modules in place of one
    expect(modules).to_have_count(4)
    assert pane.locator('[data-node="up"]').count() == pane.locator('[data-node="down"]').count() == 1
    pane.locator('[data-node="up"]').click()
    expect(modules).to_have_count(3)
    pane.locator(".tw-folds .tw-chip").first.click()
    pane.get_by_test_id("fold-modules").uncheck()
    expect(nodes).to_have_count(everything)


def test_guards_breaks_calls_and_code(example: tw.Trace, open_page: Open, artifacts: Path) -> None:
    page = open_page(example)
    page.press("End")
    page.press("Home")
    guards = page.open_pane("guards").get_by_test_id("guard")
    attempt = example.frames[example.steps[page.step].frame.id].attempt
    assert sorted(guards.locator(".tw-guard-text").all_inner_texts()) == sorted(
        g.text for g in example.guards if g.attempt == attempt
    )
    assert "because x is f32[6, 8]" in page.open_pane("guards").inner_text()

    breaks = page.open_pane("breaks")
    expect(breaks.get_by_test_id("break").first).to_contain_text(example.breaks[0].message)
    details = breaks.get_by_test_id("break-details")
    for text in (example.breaks[0].message, example.breaks[0].explanation, *example.breaks[0].hints):
        expect(details).to_contain_text(text)
    expect(details.locator(".tw-quote")).to_have_text("if total.sum() > 0:")
    details.locator(".tw-place [data-step]").click()
    assert page.step == example.breaks[0].final_step
    details.locator("p", has_text="Continues in").locator("[data-step]").click()
    page.settle()
    assert page.frames() == ["model, resumed"]

    table = page.open_pane("calls").get_by_test_id("calls").first
    cells = [row.locator("td").all_inner_texts()[:2] for row in table.locator("tbody tr").all()]
    assert [[cell.split("\n")[0].split(" ")[0] for cell in row] for row in cells] == [
        ["compiled", "–"],
        ["expected:", "compiled"],
        ["expected:", "reused"],
    ]
    page.page.screenshot(path=artifacts / "page-calls.png")

    generated = page.open_pane("generated")
    for heading in ("As Python", "New bytecode", "Original bytecode"):
        expect(generated).to_contain_text(heading)
    expect(page.open_pane("effects")).to_be_visible()
    expect(page.open_pane("timings")).to_contain_text("model, version 1")


def test_the_keyboard_alone(example: tw.Trace, open_page: Open) -> None:
    page = open_page(example)
    page.press("?")
    expect(page.part("help-dialog")).to_contain_text("next guard")
    page.page.keyboard.press("Escape")
    expect(page.part("help-dialog")).to_have_count(0)
    page.press("4")
    expect(page.part("pane")).to_have_attribute("data-pane", "breaks")
    unnamed = page.root.evaluate(
        """root => [...root.querySelectorAll('button, input, select, [tabindex="0"]')]
            .filter(e => !(e.innerText || '').trim() && !e.getAttribute('aria-label') && !e.closest('label'))
            .map(e => e.outerHTML.slice(0, 120))"""
    )
    assert unnamed == []
    keys = page.page.evaluate("() => { window.heard = []; addEventListener('keydown', e => heard.push(e.key)); }")
    assert keys is None
    page.press("n")
    assert page.page.evaluate("() => heard") == [], "keys do not leave the explorer"


def test_text_of_the_program_is_never_markup(open_page: Open) -> None:
    evil = "</script><script>document.title='gone'</script><img src=x onerror=\"document.title='gone'\">"
    data = synthetic.example()
    data.label = evil
    for code in data.codes:
        code.source = f"# {evil}\n{code.source}"
        code.qualname = code.filename = evil
    for node in data.nodes:
        node.name = node.target = node.args = evil
    for guard in data.guards:
        guard.text = guard.source = evil
        guard.path = [evil, evil + "x"]
    for found in data.breaks:
        found.message = found.explanation = found.action = evil
        found.hints = [evil]
    page = open_page(tw.Trace(data))
    for tab in ("overview", "graph", "guards", "breaks", "calls", "effects", "generated", "timings"):
        page.open_pane(tab)
        assert page.root.locator("img").count() == 0
    assert page.page.title() == f"tracewalk: {evil}"
