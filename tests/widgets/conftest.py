"""What the explorer's tests share: recordings of a pretended engine, and a browser."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest
from playwright.sync_api import Browser

import tracewalk as tw
from tests.browser.conftest import chromium
from tests.browser.explorer_page import ConsoleWatch, ExplorerPage
from tests.recording import synthetic
from tracer_core.recording import Recorder

__all__ = ["chromium"]

Open = Callable[..., ExplorerPage]


@pytest.fixture(scope="session")
def example() -> tw.Trace:
    """Three calls with a break and a recompilation, a closure, a skipped function."""
    return tw.Trace(synthetic.example())


@cache
def long_trace(steps: int) -> tw.Trace:
    recorder = Recorder("a long run")
    synthetic.long_events(recorder, steps)
    return tw.Trace(recorder.finish())


@pytest.fixture
def open_page(chromium: Browser, tmp_path: Path) -> Iterator[Open]:
    """Opens the stand-alone page of a trace, offline; at the end, no page may have complained."""
    watches: list[ConsoleWatch] = []

    def open_one(trace: tw.Trace, *, width: int = 1200, height: int = 820, dark: bool = False) -> ExplorerPage:
        path = trace.to_html(tmp_path / f"page{len(watches)}.html")
        context = chromium.new_context(
            viewport={"width": width, "height": height}, color_scheme="dark" if dark else "light", offline=True
        )
        page = context.new_page()
        watches.append(ConsoleWatch(page))
        page.goto(path.as_uri())
        explorer = ExplorerPage(page.locator("body"))
        explorer.wait_until_shown()
        return explorer

    yield open_one
    for context in chromium.contexts:
        context.close()
    assert [watch.problems for watch in watches] == [[] for _ in watches]
