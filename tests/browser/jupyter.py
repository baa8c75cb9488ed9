"""A JupyterLab server of its own for a test, and the handful of things a person does in a notebook."""

from __future__ import annotations

import json
import os
import secrets
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from playwright.sync_api import Error, Locator, Page, TimeoutError, expect

ROOT = Path(__file__).resolve().parents[2]
START_SECONDS = 120
CELL_MS = 180_000
STARTED_MS = 15_000
TRIES = 3


@dataclass
class Lab:
    """A running server. `folder` is where its notebooks are, `config` its own configuration folder."""

    address: str
    token: str
    folder: Path
    config: Path

    def url(self, notebook: str, workspace: str) -> str:
        return f"{self.address}/lab/workspaces/{workspace}/tree/{notebook}?token={self.token}"

    def use_theme(self, theme: str) -> None:
        """Choose the theme for pages opened from now on, as its settings editor would write it down."""
        self.write_setting("@jupyterlab/apputils-extension/themes", {"theme": theme})

    def write_setting(self, plugin: str, setting: dict[str, object]) -> None:
        path = self.config / "lab" / "user-settings" / f"{plugin}.jupyterlab-settings"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(setting), encoding="utf-8")


@contextmanager
def running_lab(home: Path, *notebooks: Path) -> Iterator[Lab]:
    """JupyterLab on a free port with copies of `notebooks`. Nothing of the person's own settings is read or written:
    every folder it uses lies under `home`."""
    folder, config = home / "work", home / "config"
    for made in (folder, config / "labconfig"):
        made.mkdir(parents=True)
    for notebook in notebooks:
        shutil.copy(notebook, folder)
    # It would look for news on the network at every start.
    page_config = {"disabledExtensions": {"@jupyterlab/apputils-extension:announcements": True}}
    (config / "labconfig" / "page_config.json").write_text(json.dumps(page_config), encoding="utf-8")
    port, token = free_port(), secrets.token_hex(16)
    lab = Lab(f"http://127.0.0.1:{port}", token, folder, config)
    command = [
        sys.executable,
        "-m",
        "jupyterlab",
        "--no-browser",
        "--allow-root",
        "--LabApp.extension_manager=readonly",
    ]
    command += [f"--ServerApp.port={port}", "--ServerApp.port_retries=0", f"--ServerApp.root_dir={folder}"]
    command += [f"--IdentityProvider.token={token}"]
    log = home / "jupyterlab.log"
    with log.open("w") as output:
        server = subprocess.Popen(
            command, cwd=folder, env=lab_env(home), stdout=output, stderr=subprocess.STDOUT, start_new_session=True
        )
    try:
        wait_for(lab, server, log)
        yield lab
    finally:
        server.terminate()
        try:
            server.wait(20)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()


def lab_env(home: Path) -> dict[str, str]:
    env = {name: value for name, value in os.environ.items() if not name.startswith(("JUPYTER", "IPYTHON", "PYTEST"))}
    return env | {
        "HOME": str(home),
        "JUPYTER_CONFIG_DIR": str(home / "config"),
        "JUPYTER_DATA_DIR": str(home / "data"),
        "JUPYTER_RUNTIME_DIR": str(home / "runtime"),
        "IPYTHONDIR": str(home / "ipython"),
        "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "widgets")]),
    }


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def wait_for(lab: Lab, server: subprocess.Popen[bytes], log: Path) -> None:
    end = time.monotonic() + START_SECONDS
    while time.monotonic() < end:
        if server.poll() is not None:
            break
        try:
            with urllib.request.urlopen(f"{lab.address}/api/status?token={lab.token}", timeout=5):
                return
        except OSError:
            time.sleep(0.2)
    raise RuntimeError(f"JupyterLab did not start:\n{log.read_text()[-4000:]}")


class Notebook:
    """The notebook open in a JupyterLab page, driven by mouse and keyboard. Cells are numbered from 0, all kinds."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.panel = page.locator(".jp-NotebookPanel:not(.lm-mod-hidden)")

    def wait_until_ready(self) -> None:
        expect(self.panel).to_be_visible(timeout=60_000)
        self.wait_until_idle()

    def wait_until_idle(self) -> None:
        expect(self.page.locator(".jp-Notebook-ExecutionIndicator[data-status='idle']")).to_be_visible(timeout=60_000)

    def cell(self, index: int) -> Locator:
        return self.panel.locator(f".jp-Cell[data-windowed-list-index='{index}']")

    def show(self, index: int) -> Locator:
        """Scroll to a cell, and return it."""
        cell = self.cell(index)
        for _ in range(TRIES):
            with suppress(Error):  # it was taken out, and put back, while the page was still being put together
                cell.scroll_into_view_if_needed()
                return cell
        cell.scroll_into_view_if_needed()
        return cell

    def run(self, index: int) -> Locator:
        """Click into the code cell and press Shift+Enter, wait until it is done, and return its output area."""
        cell = self.show(index)
        prompt = cell.locator(".jp-InputPrompt")
        before = prompt.inner_text()
        for _ in range(TRIES):
            self.click(cell.locator(".cm-content"))
            expect(cell.locator(".cm-focused")).to_be_visible()
            self.page.keyboard.press("Shift+Enter")
            try:
                expect(prompt).not_to_have_text(before, timeout=STARTED_MS)
                break
            except AssertionError:
                continue  # the page was still being put together and lost the key, as on a busy machine
        expect(prompt).not_to_have_text(before)
        expect(prompt).not_to_have_text("[*]:", timeout=CELL_MS)
        return cell.locator(".jp-OutputArea").first

    def click(self, place: Locator) -> None:
        """Click. A dialog of JupyterLab's that is in the way is part of the error, but for the one that asks for a
        kernel where starting the notebook's own took long, as on a busy machine: that one is answered."""
        dialogs = self.page.locator(".jp-Dialog")
        for _ in range(TRIES):
            try:
                place.click(timeout=STARTED_MS)
                return
            except TimeoutError as error:
                if "Select Kernel" not in "".join(dialogs.all_inner_texts()):
                    raise AssertionError(f"In the way of a click: {dialogs.all_inner_texts()}") from error
                dialogs.locator(".jp-mod-accept").click()
        place.click(timeout=STARTED_MS)

    def replace(self, index: int, text: str) -> None:
        """Replace the text of a code cell, as if typed."""
        self.click(self.cell(index).locator(".cm-content"))
        self.page.keyboard.press("Control+a")
        self.page.keyboard.insert_text(text)
