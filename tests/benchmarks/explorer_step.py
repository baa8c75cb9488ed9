"""What a step in the explorer costs: `python -m tests.benchmarks.explorer_step [page.html]`.

A recording of about 250,000 steps with thousands of guards and nodes is written as a page; or the page given is
taken. In Chromium, with each pane open, steps are gone by key and the timeline is dragged. A step is shown in two
frames: source, values and sentence first, then the pane. A figure is the time of the processor that the page's main
thread took for the longer one of the two, until it is painted, in milliseconds.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path

import torch
from playwright.sync_api import CDPSession, Page, sync_playwright

import tracewalk as tw
from tests.browser.conftest import CHROMIUM_FLAGS, chromium_program

TURNS = 8_000
FACTORS = 1_250
PRESSES = 24
PAINTED = "() => new Promise(done => requestAnimationFrame(() => setTimeout(done, 0)))"


def scale(x: torch.Tensor, factor: float) -> torch.Tensor:
    y = x * factor
    return y + 1


def program(x: torch.Tensor, factors: list[float], turns: int) -> torch.Tensor:
    a, b = 0, 1
    for i in range(turns):
        a, b = b, (a + b + i) % 1000
    for factor in factors:
        x = scale(x, factor)
    print("half")
    return x + a


def write_page(folder: Path) -> Path:
    factors = [i % 7 + 0.5 for i in range(FACTORS)]
    return tw.trace(program, torch.ones(3), factors, TURNS).to_html(folder / "long.html")


class Watch:
    """The main thread of a page, and how long it worked."""

    def __init__(self, page: Page, session: CDPSession) -> None:
        self.page = page
        self.session = session
        session.send("Performance.enable", {"timeDomain": "threadTicks"})

    def worked(self) -> float:
        """Seconds, without those for the questions asked here."""
        metrics = {each["name"]: each["value"] for each in self.session.send("Performance.getMetrics")["metrics"]}
        return float(metrics["TaskDuration"] - metrics["DevToolsCommandDuration"])

    def cost(self, action: Callable[[], object]) -> float:
        """Milliseconds of work for the longer one of the two frames after `action`."""
        times = [self.worked()]
        action()
        for _ in range(2):
            self.page.evaluate(PAINTED)
            times.append(self.worked())
        return 1000 * max(after - before for before, after in pairwise(times))


def go_to(page: Page, step: int) -> None:
    page.get_by_test_id("find").fill(f"#{step}")
    page.get_by_test_id("find").press("Enter")
    page.get_by_test_id("explorer").focus()
    page.wait_for_timeout(600)


def keys(page: Page, watch: Watch, steps: int) -> Iterator[float]:
    """The costs of steps by key, from three places."""
    for place in (1, steps // 4, 49 * steps // 100):
        go_to(page, place)
        page.keyboard.press("ArrowRight")
        page.wait_for_timeout(300)
        for _ in range(PRESSES):
            yield watch.cost(lambda: page.keyboard.press("ArrowRight"))


def drags(page: Page, watch: Watch) -> Iterator[float]:
    box = page.get_by_test_id("timeline").bounding_box()
    assert box is not None
    x, y = box["x"] + 20, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    for i in range(2 * PRESSES):
        yield watch.cost(lambda at=x + (i + 1) * (box["width"] - 40) / (2 * PRESSES): page.mouse.move(at, y))  # type: ignore[misc]
    page.mouse.up()


def told(costs: list[float]) -> str:
    most = statistics.quantiles(costs, n=20)[-1]
    return f"median {statistics.median(costs):4.1f}, 95 % {most:5.1f}, worst {max(costs):5.1f}"


def measure(page: Page, watch: Watch) -> Iterator[str]:
    steps = int(page.get_by_test_id("position").inner_text().split()[-1].replace(",", ""))
    yield f"{steps:,} steps; milliseconds of main-thread work in a frame"
    for tab in page.locator("[role=tab]").all():
        name = tab.get_attribute("data-testid") or ""
        tab.dispatch_event("click")
        page.wait_for_timeout(1500)
        by_key, dragging = [*keys(page, watch, steps)], [*drags(page, watch)]
        yield f"  {name.removeprefix('tab-'):>10}: by key {told(by_key)}; dragging {told(dragging)}"


def main() -> None:
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        path = Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else write_page(Path(folder))
        browser = playwright.chromium.launch(executable_path=chromium_program(), args=CHROMIUM_FLAGS)
        page = browser.new_page(viewport={"width": 1280, "height": 820})
        page.goto(path.as_uri())
        page.get_by_test_id("explorer").wait_for()
        for line in measure(page, Watch(page, page.context.new_cdp_session(page))):
            print(line, flush=True)
        browser.close()


if __name__ == "__main__":
    main()
