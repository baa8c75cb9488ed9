"""Runs a notebook of the repository from top to bottom in a kernel, and keeps what its cells showed."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

ROOT = Path(__file__).resolve().parents[2]


@dataclass
class Ran:
    """The notebook after it ran in `folder`. `probes` holds what each probe printed."""

    folder: Path
    cells: dict[str, Any] = field(default_factory=dict)
    probes: dict[str, str] = field(default_factory=dict)

    def printed(self, cell_id: str) -> str:
        return stream(self.cells[cell_id], "stdout")

    def shown(self, cell_id: str) -> list[dict[str, str]]:
        """The rich outputs of a cell: representation by media type. A line of progress that has gone is none."""
        rich = [dict(output["data"]) for output in self.cells[cell_id]["outputs"] if "data" in output]
        return [data for data in rich if data["text/plain"]]

    def check_that_every_cell_ran_without_a_warning(self) -> None:
        code = [cell for cell in self.cells.values() if cell["cell_type"] == "code"]
        assert [cell["execution_count"] is not None for cell in code] == [True] * len(code)
        assert {cell["id"]: stream(cell, "stderr") for cell in code if stream(cell, "stderr")} == {}


def stream(cell: Any, name: str) -> str:
    return "".join(output["text"] for output in cell["outputs"] if output.get("name") == name)


def run(path: Path, home: Path, probes: dict[str, str]) -> Ran:
    """Run the notebook in the folder `home`.

    Args:
        probes: code to run after a cell, by its id; what people see does not change.
    """
    notebook = nbformat.read(path, as_version=4)
    client = NotebookClient(notebook, timeout=600, resources={"metadata": {"path": str(home)}})
    result = Ran(home)
    env = os.environ | {
        "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "widgets")]),
        "IPYTHONDIR": str(home / "ipython"),
        "JUPYTER_CONFIG_DIR": str(home / "config"),
    }
    with client.setup_kernel(env=env):
        for number, cell in enumerate(list(notebook.cells)):
            client.execute_cell(cell, number)
            result.cells[cell["id"]] = cell
            if cell["id"] in probes:
                notebook.cells.append(nbformat.v4.new_code_cell(probes[cell["id"]]))
                probe = client.execute_cell(notebook.cells[-1], len(notebook.cells) - 1)
                result.probes[cell["id"]] = stream(probe, "stdout").strip()
    return result
