"""A notebook with one program in a real JupyterLab, and the explorer that it shows."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import nbformat
from playwright.sync_api import Browser, Page

from tests.browser.explorer_page import ConsoleWatch, ExplorerPage
from tests.browser.jupyter import Lab, Notebook
from tests.browser.test_jupyterlab import JUPYTERLAB_SAYS, WIDE

WARM_UP = "print('the kernel runs')"
"""The page may lose what it is asked to run before it is connected to the kernel."""


@dataclass
class Shown:
    """The page, what it prints to its console, and the explorer."""

    page: Page
    watch: ConsoleWatch
    explorer: ExplorerPage


def write_notebook(path: Path, *cells: str) -> Path:
    """Write a notebook with a cell to warm the kernel up, and `cells`."""
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(text) for text in (WARM_UP, *cells)])
    notebook.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
    nbformat.write(notebook, path)
    return path


def run_program(lab: Lab, chromium: Browser, path: Path, theme: str, size: dict[str, int]) -> Shown:
    """Open a notebook, and run its program in a page of this theme and size."""
    lab.use_theme(f"JupyterLab {theme}")
    page = chromium.new_page(viewport=WIDE)  # type: ignore[arg-type]
    watch = ConsoleWatch(page, JUPYTERLAB_SAYS)
    page.goto(lab.url(path.name, f"{path.stem}-{theme}-{size['width']}"))
    notebook = Notebook(page)
    notebook.wait_until_ready()
    page.set_viewport_size(size)  # type: ignore[arg-type]
    notebook.run(0)
    explorer = ExplorerPage(notebook.run(1))
    explorer.wait_until_shown()
    return Shown(page, watch, explorer)
