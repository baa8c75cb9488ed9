"""What a saved notebook contains of explorers, and shows of them without their kernel; hosts besides JupyterLab."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import nbformat
import pytest
from nbconvert import HTMLExporter
from playwright.sync_api import Browser, Page, WebSocket, expect

from tests.browser.explorer_page import SHOWN_MS, ConsoleWatch, ExplorerPage
from tests.browser.jupyter import CELL_MS, START_SECONDS, Lab, Notebook, free_port, lab_env
from tests.browser.test_jupyterlab import JUPYTERLAB_SAYS, WIDE
from tracewalk import front_end

DEFINE = """\
%load_ext tracewalk
import torch, tracewalk as tw

def f(x):
    y = x + 1
    print('hi')
    return y * 2

def long(x):
    for i in range(200):
        x = x + i
    return x
"""
CELLS = (
    "print('the kernel runs')",  # the page may lose what it is asked to run before it is connected to the kernel
    DEFINE,
    "%%trace\ny = f(torch.ones(3))",
    "%%trace\ny = f(torch.ones(4))",
    "tw.trace(long, torch.ones(2)).show(embed=False)",
)
EXPLORERS = (2, 3, 4)
"""The cells that show one. The notebook contains the recordings of the first two."""
ADDED_BYTES = 60_000
"""As much may a saved notebook grow by an explorer, besides its recording."""
RECORDING = re.compile(r' data-recording="[^"]*"')


@dataclass
class Ran:
    """The notebook's cells were run in `page`; `saved` is the file, `received` the sizes of what the kernel sent."""

    lab: Lab
    page: Page
    watch: ConsoleWatch
    notebook: Notebook
    received: list[int]
    saved: Path

    def explorer(self, index: int) -> ExplorerPage:
        explorer = ExplorerPage(self.notebook.show(index).locator(".jp-OutputArea").first)
        explorer.wait_until_shown()
        return explorer


@pytest.fixture(scope="module")
def notebook(lab: Lab) -> Path:
    """A notebook with the cells."""
    path = lab.folder / "three.ipynb"
    made = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(text) for text in CELLS])
    made.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
    nbformat.write(made, path)
    shutil.copy(path, path.with_name("seven.ipynb"))
    return path


@pytest.fixture(scope="module")
def ran(lab: Lab, notebook: Path, chromium: Browser) -> Iterator[Ran]:
    page = chromium.new_page(viewport=WIDE)  # type: ignore[arg-type]
    watch = ConsoleWatch(page, JUPYTERLAB_SAYS)
    received: list[int] = []

    def listen(socket: WebSocket) -> None:
        socket.on("framereceived", lambda data: received.append(len(data)))

    page.on("websocket", listen)
    page.goto(lab.url(notebook.name, "three"))
    opened = Notebook(page)
    opened.wait_until_ready()
    for index in range(len(CELLS)):
        opened.run(index)
    there = Ran(lab, page, watch, opened, received, notebook)
    for index in EXPLORERS:
        there.explorer(index)
    with page.expect_response(lambda answer: answer.request.method == "PUT" and "three.ipynb" in answer.url):
        page.keyboard.press("Control+s")
    yield there
    page.close()


def test_three_explorers_add_little_to_the_file_besides_their_recordings(ran: Ran) -> None:
    cells = nbformat.read(ran.saved, as_version=4).cells
    outputs = ["".join("".join(output.get("data", {}).values()) for output in cell.outputs) for cell in cells]
    outputs = [outputs[index] for index in EXPLORERS]
    assert [RECORDING.search(output) is not None for output in outputs] == [True, True, False]
    added = [len(json.dumps(RECORDING.sub("", output), ensure_ascii=False).encode()) for output in outputs]
    assert added[0] < ADDED_BYTES, added
    assert max(added[1:]) < 5_000, added
    assert "widgets" not in nbformat.read(ran.saved, as_version=4).metadata


def test_the_front_end_is_sent_once_and_graphviz_when_a_graph_is_drawn(ran: Ran) -> None:
    size = len(front_end.source("explorer").encode())
    # By the kernel, unless the first output, which brings it packed, was there before it was asked for.
    assert len([got for got in ran.received if size <= got < size + 5_000]) <= 1
    pane = ran.explorer(2).open_pane("graph")
    expect(pane.get_by_test_id("node").first).to_be_visible(timeout=SHOWN_MS)
    ran.explorer(3).open_pane("graph").get_by_test_id("node").first.wait_for(timeout=SHOWN_MS)
    size = len(front_end.source("graphviz").encode())
    assert len([got for got in ran.received if size <= got]) == 1
    assert ran.watch.problems == []


def test_the_file_opens_with_a_working_explorer_or_the_overview_where_no_kernel_is(
    ran: Ran, chromium: Browser, tmp_path: Path, artifacts: Path
) -> None:
    page_of_it = tmp_path / "three.html"
    exporter = HTMLExporter(mathjax_url="", require_js_url="", jquery_url="", mermaid_js_url="")
    page_of_it.write_text(exporter.from_filename(str(ran.saved))[0], encoding="utf-8")
    page = chromium.new_page(viewport=WIDE)  # type: ignore[arg-type]
    page.goto(page_of_it.as_uri())
    explorers = page.get_by_test_id("explorer")
    expect(explorers).to_have_count(2, timeout=SHOWN_MS)
    for index in (0, 1):
        live = ran.explorer(index + 2)
        alone = ExplorerPage(page.locator(".jp-OutputArea").filter(has=page.get_by_test_id("explorer")).nth(index))
        alone.press("End")
        live.press("End")
        assert (alone.step, alone.sentence(), alone.values("stack")) == (
            live.step,
            live.sentence(),
            live.values("stack"),
        )
    alone.press("M")
    graph = alone.open_pane("graph")
    expect(graph.get_by_test_id("node").first).to_be_visible()
    expect(graph.get_by_test_id("drawn-so")).to_contain_text("comes from the kernel. Run the cell again.")
    expect(alone.open_pane("fixes")).to_contain_text("with the kernel that made this recording")
    overview = page.locator("[data-place]").last
    expect(overview).to_be_visible()
    expect(overview).to_contain_text("1 graph, no breaks, no recompilations.")
    expect(page.get_by_text("Waiting for the trace")).to_have_count(0)
    page.screenshot(path=artifacts / "without-kernel.png", full_page=True)
    page.close()


def test_where_scripts_are_taken_out_the_overview_is_left(ran: Ran) -> None:
    html = HTMLExporter(sanitize_html=True).from_filename(str(ran.saved))[0]
    text = re.sub(r"<[^>]*>", "", html[html.index("<body") :])
    assert text.count("breaks at 1 place") >= 2
    assert "1 graph, no breaks" in text
    assert not re.search(r"[\w+/]{200}", text), "neither recording nor front end are shown as text"


def test_opened_again_beside_a_kernel_that_knows_nothing(ran: Ran, chromium: Browser, artifacts: Path) -> None:
    shutil.copy(ran.saved, ran.saved.with_name("again.ipynb"))
    page = chromium.new_page(viewport=WIDE)  # type: ignore[arg-type]
    watch = ConsoleWatch(page, JUPYTERLAB_SAYS)
    page.goto(ran.lab.url("again.ipynb", "again"))
    notebook = Notebook(page)
    notebook.wait_until_ready()
    for index in (2, 3):
        explorer = ExplorerPage(notebook.show(index).locator(".jp-OutputArea").first)
        explorer.wait_until_shown()
        assert explorer.press("End") == explorer.steps - 1
    overview = notebook.show(4).locator("[data-place]")
    expect(overview).to_be_visible()
    expect(notebook.panel).not_to_contain_text("Error displaying widget")
    page.screenshot(path=artifacts / "opened-again.png")
    assert watch.problems == []
    page.close()


def test_a_notebook_that_is_not_trusted_shows_the_overview(ran: Ran, chromium: Browser) -> None:
    notebook = nbformat.read(ran.saved, as_version=4)
    notebook.cells[0].source = "# changed by somebody else"
    nbformat.write(notebook, ran.saved.with_name("received.ipynb"))
    page = chromium.new_page(viewport=WIDE)  # type: ignore[arg-type]
    watch = ConsoleWatch(page, JUPYTERLAB_SAYS)
    page.goto(ran.lab.url("received.ipynb", "received"))
    opened = Notebook(page)
    opened.wait_until_ready()
    output = opened.show(2).locator(".jp-OutputArea").first
    expect(output).to_contain_text("breaks at 1 place")
    expect(page.get_by_test_id("explorer")).to_have_count(0)
    assert not re.search(r"[\w+/]{200}", output.inner_text())
    assert watch.problems == []
    page.close()


def test_notebook_7_shows_the_explorer(lab: Lab, notebook: Path, chromium: Browser, artifacts: Path) -> None:
    page = chromium.new_page(viewport=WIDE)  # type: ignore[arg-type]
    watch = ConsoleWatch(page)
    page.goto(f"{lab.address}/notebooks/seven.ipynb?token={lab.token}")
    opened = Notebook(page)
    expect(opened.panel).to_be_visible(timeout=60_000)
    opened.wait_until_idle()
    opened.run(0)
    opened.run(1)
    explorer = ExplorerPage(opened.run(2))
    explorer.wait_until_shown()
    first = explorer.step
    explorer.step_by("instruction")
    assert explorer.press("ArrowRight") == first + 1
    assert explorer.source_line()[1] == "y = f(torch.ones(3))"
    page.screenshot(path=artifacts / "notebook-7.png")
    # Notebook 7 writes much to the console by itself.
    assert [problem for problem in watch.problems if "tracewalk" in problem or "blob:" in problem] == []
    page.close()


MARIMO = """\
import marimo
app = marimo.App(width="full")

@app.cell
def _():
    import torch
    import tracewalk as tw

    def f(x):
        y = x + 1
        print("hi")
        return y * 2

    t = tw.trace(f, torch.ones(3))
    with open("calls.txt", "w") as file:
        file.write(str([t.codes[call.code].qualname for call in t.calls]))
    return (t,)

@app.cell
def _(t):
    t
    return
"""


@contextmanager
def running_marimo(home: Path) -> Iterator[str]:
    """The address of a marimo that runs the notebook."""
    (home / "notebook.py").write_text(MARIMO, encoding="utf-8")
    address = f"http://127.0.0.1:{free_port()}"
    command = [sys.executable, "-m", "marimo", "-q", "run", "notebook.py", "--headless", "--no-token"]
    command += ["--host", "127.0.0.1", "--port", address.rpartition(":")[2]]
    with (home / "marimo.log").open("w") as log:
        server = subprocess.Popen(command, cwd=home, env=lab_env(home), stdout=log, stderr=subprocess.STDOUT)
    try:
        end = time.monotonic() + START_SECONDS
        while True:
            try:
                urllib.request.urlopen(f"{address}/health", timeout=5)
                break
            except OSError:
                assert server.poll() is None and time.monotonic() < end, (home / "marimo.log").read_text()
                time.sleep(0.2)
        yield address
    finally:
        server.terminate()
        server.wait(20)


def test_marimo_shows_the_explorer_and_its_own_work_is_not_recorded(
    chromium: Browser, tmp_path: Path, artifacts: Path
) -> None:
    with running_marimo(tmp_path) as address:
        page = chromium.new_page(viewport=WIDE)  # type: ignore[arg-type]
        page.goto(address)
        explorer = ExplorerPage(page.locator("body"))
        expect(explorer.root).to_be_visible(timeout=CELL_MS)
        explorer.settle()
        assert (tmp_path / "calls.txt").read_text() == "['f', '`f`, after line 11']"
        assert explorer.steps < 60
        assert explorer.source_line()[1] == "y = x + 1"
        assert explorer.press("End") == explorer.steps - 1
        lines = explorer.open_pane("breaks").locator("[data-testid=break] .tw-my-line").all_inner_texts()
        assert lines == ['print("hi")']
        page.screenshot(path=artifacts / "marimo.png", full_page=True)
        page.close()


def test_a_kernel_that_is_gone_is_told_once(ran: Ran, artifacts: Path) -> None:
    """The last test of the notebook, whose kernel it stops."""
    explorer = ran.explorer(4)
    start = explorer.press("Home")
    sessions = json.load(urllib.request.urlopen(f"{ran.lab.address}/api/sessions?token={ran.lab.token}"))
    (session,) = [one for one in sessions if one["path"] == "three.ipynb"]
    stop = urllib.request.Request(
        f"{ran.lab.address}/api/sessions/{session['id']}?token={ran.lab.token}", method="DELETE"
    )
    urllib.request.urlopen(stop)
    for _ in range(3):
        explorer.root.focus()
        ran.page.keyboard.press("End")
        ran.page.keyboard.press("ArrowLeft")
    expect(explorer.part("trouble")).to_contain_text("kernel", timeout=SHOWN_MS)
    expect(ran.page.get_by_text(re.compile("kernel .*(is gone|does not answer)"))).to_have_count(1)
    ran.page.screenshot(path=artifacts / "kernel-gone.png")
    assert explorer.press("Home") == start, "what was loaded can be seen"
    # Explorers whose recording is in the notebook miss nothing.
    other = ran.explorer(2)
    assert other.press("End") == other.steps - 1
    expect(other.part("trouble")).to_have_count(0)
