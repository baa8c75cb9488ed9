"""The documentation says what is true: the generated page is current, and what pages point at is there."""

from __future__ import annotations

import importlib.util
import json
import re
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").glob("*.md"))]


def load(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_breaks_page_is_current() -> None:
    written = (ROOT / "docs" / "breaks.md").read_text(encoding="utf-8")
    assert written == load(ROOT / "docs" / "make_breaks.py").page(), "run `python docs/make_breaks.py` and commit"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_between_pages_lead_somewhere(page: Path) -> None:
    prose = re.sub(r"`[^`\n]*`", "", page.read_text(encoding="utf-8"))
    for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", prose):
        if not target.startswith(("http://", "https://")):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_files_named_in_the_documentation_exist() -> None:
    for page in PAGES:
        for name in re.findall(r"`((?:tracer_core|widgets|tests|docs|notebooks|binder)/[\w./]*)`", page.read_text()):
            assert (ROOT / name).exists(), f"{page.name} names {name}"


def test_notebooks_are_committed_without_outputs() -> None:
    for path in (ROOT / "notebooks").glob("*.ipynb"):
        for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
            assert not cell.get("outputs"), f"{path.name}: clear the outputs of cell {cell['id']}"
            assert cell.get("execution_count") is None, path.name


def files_named(name: str) -> list[Path]:
    """Return the files of the repository whose path ends with `name`."""
    tops = (ROOT / top for top in ("tracer_core", "widgets/tracewalk", "widgets/src", "tests", "docs"))
    found = (path for top in tops for path in top.rglob(Path(name).name))
    whole = [ROOT / name] if (ROOT / name).is_file() else []
    return whole or [path for path in found if path.as_posix().endswith(f"/{name}")]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_file_named_by_the_end_of_its_path_is_one_file(page: Path) -> None:
    """Files of a table whose rows name only files are those of the folder that the text above it names."""
    prose = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    for line in prose.splitlines():
        in_table = line.startswith("| `")
        for name in re.findall(r"`([a-z_][\w/]*\.(?:py|ts|txt))`", line):
            found = files_named(name)
            if in_table and len(found) > 1:
                found = [path for path in found if path.parent.name == "proxy_tensor"]
            assert len(found) == 1 or "NN" in name, f"{page.name}: `{name}` may be {found}"


def test_every_part_of_the_engine_is_in_the_tables_of_the_architecture() -> None:
    named = set(re.findall(r"`tracer_core/(\w+)(?:/|\.py)", (ROOT / "docs" / "architecture.md").read_text("utf-8")))
    parts = {path.stem for path in (ROOT / "tracer_core").iterdir() if path.suffix == ".py" or path.is_dir()}
    assert parts - {"__init__", "__pycache__"} <= named
