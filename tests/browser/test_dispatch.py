"""The Dispatch pane: calls nested, the mode stack, stepping both ways, and the way there from a captured node."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from playwright.sync_api import Browser, expect

import tracewalk as tw
from tests.browser.explorer_page import ConsoleWatch, ExplorerPage

LAYER = torch.nn.Linear(4, 3)


@pytest.fixture
def show(chromium: Browser, tmp_path: Path) -> Callable[[tw.Trace, int, str], ExplorerPage]:
    def show(trace: tw.Trace, width: int, scheme: str) -> ExplorerPage:
        trace.to_html(tmp_path / "page.html")
        page = chromium.new_page(viewport={"width": width, "height": 950}, color_scheme=scheme)  # type: ignore[arg-type]
        watch = ConsoleWatch(page)
        page.goto((tmp_path / "page.html").as_uri())
        explorer = ExplorerPage(page.locator("body"))
        expect(explorer.root).to_be_visible()
        assert watch.problems == []
        return explorer

    return show


@pytest.mark.parametrize(("width", "scheme"), [(1400, "dark"), (700, "light")])
def test_calls_are_stepped_through_both_ways(
    show: Callable[[tw.Trace, int, str], ExplorerPage], width: int, scheme: str, artifacts: Path
) -> None:
    table = torch._decomp.core_aten_decompositions()
    trace = tw.trace_dispatch(lambda x: LAYER(x).softmax(-1), torch.ones(2, 4), decomposition_table=table)
    explorer = show(trace, width, scheme)
    calls = explorer.part("dispatch-call")
    expect(calls).to_have_count(len(trace.dispatch))
    depths = [int(call.get_attribute("data-depth") or -1) for call in calls.all()]
    assert depths == [step.depth for step in trace.dispatch]
    forward, back = (explorer.root.get_by_label(label, exact=True) for label in ("Next call", "Back"))
    seen = []
    for step in trace.dispatch:
        expect(explorer.part("dispatch-facts")).to_contain_text(f"{step.operator}({step.data.args})")
        expect(explorer.part("dispatch-facts")).to_contain_text(step.reason.replace("`", ""))
        assert explorer.part("dispatch-modes").locator(".tw-code").all_inner_texts() == step.modes
        seen.append(explorer.part("dispatch-facts").inner_text())
        if len(seen) < len(trace.dispatch):
            forward.click()
    expect(forward).to_be_disabled()
    for text in reversed(seen[:-1]):
        back.click()
        assert explorer.part("dispatch-facts").inner_text() == text
    explorer.root.get_by_label("Over the calls inside this one", exact=True).click()
    expect(explorer.part("dispatch-position")).to_have_text(
        f"call {trace.dispatch[0].data.last_step + 1} of {len(trace.dispatch)}"
    )
    explorer.page.screenshot(path=artifacts / f"dispatch-{scheme}-{width}.png")
    explorer.root.get_by_label("Calls inside aten.t.default", exact=True).click()
    expect(calls).to_have_count(len(trace.dispatch) - trace.dispatch[0].data.last_step)
    explorer.page.close()


def test_a_click_goes_from_a_node_into_its_steps_and_back(
    show: Callable[[tw.Trace, int, str], ExplorerPage],
) -> None:
    with tw.record(level="dispatch") as trace:
        tw.compile(lambda x: LAYER(x).relu(), backend="eager")(torch.ones(2, 4))
    node = next(node for node in trace.nodes if "linear" in node.target)
    explorer = show(trace, 1400, "light")
    for run in trace.dispatch.under(node):
        explorer.open_pane("graph")
        explorer.root.locator(f"[data-testid=node][data-node='{node.name}']").first.click()
        explorer.part(f"under-{run.data.direction}").click()
        calls = explorer.part("dispatch-call").locator("b").all_inner_texts()
        assert calls == [step.operator for step in run.steps]
        explorer.part("dispatch-node").click()
        expect(explorer.part("node-facts")).to_contain_text(node.name)
    explorer.page.close()
