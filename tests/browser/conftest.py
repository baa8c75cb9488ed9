"""Debian's Chromium, headless, and its console watched."""

from __future__ import annotations

import shutil
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, sync_playwright

from tests import first_notebook
from tests.browser.jupyter import Lab, running_lab

# The flags after the first two keep Chromium from talking to its maker's servers.
CHROMIUM_FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def chromium_program() -> str:
    """The path of Debian's Chromium."""
    program = shutil.which("chromium") or shutil.which("chromium-browser")
    if program is None:
        raise FileNotFoundError(
            "Chromium is needed: `apt-get install chromium`, or run the tests by `python3 run.py tests`."
        )
    return program


@pytest.fixture(scope="package")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    with running_lab(tmp_path_factory.mktemp("lab"), first_notebook.PATH) as server:
        yield server


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    """A browser for the tests of a module. While it is there, its thread has a running event loop, in which tests of
    other modules could not start their own; so it does not outlive the module."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium_program(), args=CHROMIUM_FLAGS)
        yield browser
        browser.close()
