"""Takes docs/explorer.png from the real thing: `python docs/make_picture.py`.

The first notebook in JupyterLab, its traced cell run, and the explorer at the attention of the first block.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from playwright.sync_api import expect, sync_playwright

ROOT = Path(__file__).resolve().parents[1]
PICTURE = ROOT / "docs" / "explorer.png"
sys.path.insert(0, str(ROOT))

from tests import first_notebook  # noqa: E402  (found by the line above)
from tests.browser.conftest import CHROMIUM_FLAGS, chromium_program  # noqa: E402
from tests.browser.explorer_page import ExplorerPage  # noqa: E402
from tests.browser.jupyter import Notebook, running_lab  # noqa: E402


def main() -> None:
    with tempfile.TemporaryDirectory() as home, running_lab(Path(home), first_notebook.PATH) as lab:
        lab.use_theme("JupyterLab Light")
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=chromium_program(), args=CHROMIUM_FLAGS)
            page = browser.new_page(viewport={"width": 1440, "height": 1100}, device_scale_factor=1.25)
            page.goto(lab.url(first_notebook.PATH.name, "picture"))
            notebook = Notebook(page)
            notebook.wait_until_ready()
            page.keyboard.press("Control+b")
            for cell_id in ("model", "load"):
                notebook.run(first_notebook.index(cell_id))
            output = notebook.run(first_notebook.index("trace"))
            explorer = ExplorerPage(output)
            explorer.wait_until_shown()
            explorer.part("find").fill("F.scaled_dot_product_attention(q, k, v")
            explorer.part("find").press("Enter")
            expect(explorer.part("source-current")).to_contain_text("F.scaled_dot_product_attention")
            explorer.settle()
            explorer.step_by("node")
            explorer.click("next")
            explorer.part("find").fill("")
            explorer.open_pane("graph")
            page.mouse.move(0, 0)
            page.wait_for_timeout(1000)  # the graph is laid out
            explorer.root.screenshot(path=PICTURE)
            browser.close()
    print(f"{PICTURE.relative_to(ROOT)}: {PICTURE.stat().st_size // 1024} KB")


if __name__ == "__main__":
    main()
