"""No module imports, directly or through others, a module that imports it; imports inside functions count."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.import_graph import cycles, folder_graph, module_graph

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = [ROOT / "tracer_core", ROOT / "widgets" / "tracewalk"]


@pytest.mark.parametrize("package", PACKAGES, ids=lambda path: path.name)
def test_no_module_is_in_a_cycle(package: Path) -> None:
    assert cycles(module_graph(package)) == []


@pytest.mark.parametrize("package", PACKAGES, ids=lambda path: path.name)
def test_no_folder_is_in_a_cycle(package: Path) -> None:
    assert cycles(folder_graph(module_graph(package))) == []


def written(folder: Path, **modules: str) -> Path:
    """A package of these modules; `_` in a name stands for a folder."""
    for name, text in {"__init__": "", **modules}.items():
        path = folder / "package" / f"{name if name == '__init__' else name.replace('_', '/')}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder / "package"


@pytest.mark.parametrize(
    "import_of_a",
    [
        "import package.a",
        "from package import a",
        "from package.a import name",
        "def f():\n    from package.a import name",
        "class C:\n    def f(self):\n        import package.a as other",
    ],
)
def test_each_way_to_import_is_seen(tmp_path: Path, import_of_a: str) -> None:
    package = written(
        tmp_path, a="from package import b", b="import package.c", c=import_of_a, d="from package import a"
    )
    assert cycles(module_graph(package)) == [["package.a", "package.b", "package.c"]]


def test_imports_for_the_type_checker_do_not_count(tmp_path: Path) -> None:
    checked = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from package.a import name"
    assert cycles(module_graph(written(tmp_path, a="from package import b", b=checked))) == []


def test_folders_may_form_a_cycle_where_modules_do_not(tmp_path: Path) -> None:
    package = written(tmp_path, x_one="import package.y.one", y_one="", y_two="import package.x.two", x_two="")
    graph = module_graph(package)
    assert cycles(graph) == []
    assert cycles(folder_graph(graph)) == [["package.x", "package.y"]]


def test_two_cycles_are_told_apart() -> None:
    graph = {"a": {"b"}, "b": {"a", "c"}, "c": {"d"}, "d": {"e"}, "e": {"c"}, "f": {"a"}}
    assert cycles(graph) == [["c", "d", "e"], ["a", "b"]]
