"""What pyproject.toml, binder/ and the scripts promise each other."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
LEFT_BEHIND = {
    ".git", ".venv", "node_modules", "test-artifacts", "__pycache__", "build", "dist",
    ".mypy_cache", ".pytest_cache", ".ruff_cache", ".hypothesis", ".import_linter_cache",
}  # fmt: skip
CONDA_NAMES = {"torch": "pytorch-cpu"}


def ranges(requirements: list[str]) -> dict[str, str]:
    """Name -> version range of requirements such as `torch>=2.13,<2.14`."""
    matches = [re.fullmatch(r"([\w-]+)(.*)", requirement) for requirement in requirements]
    return {match[1]: match[2] for match in matches if match}


def conda_ranges() -> dict[str, str]:
    lines = (ROOT / "binder" / "environment.yml").read_text(encoding="utf-8").splitlines()
    return ranges([line.strip()[2:] for line in lines if line.startswith("  - ")])


def test_binder_installs_what_the_notebooks_need_in_the_same_ranges() -> None:
    project = PROJECT["project"]
    needed = ranges(project["dependencies"] + project["optional-dependencies"]["notebook"])
    needed |= ranges(PROJECT["build-system"]["requires"])
    found = conda_ranges()
    assert {name: found.get(CONDA_NAMES.get(name, name)) for name in needed} == needed
    assert found["python"] == "=3.11.*"


@pytest.mark.parametrize("script", ["binder/postBuild", "binder/start", ".ci/run", "run.py"])
def test_scripts_can_be_run(script: str) -> None:
    assert os.access(ROOT / script, os.X_OK)


def test_no_registry_is_named() -> None:
    """Which registry serves the packages is the machine's own matter (pip's and npm's configuration)."""
    named = re.compile("|".join(["pythonhosted" + r"\.org", "registry" + r"\.npmjs", "download" + r"\.pytorch"]))
    found = [path for path in own_files(ROOT) if named.search(path.read_text(encoding="utf-8", errors="replace"))]
    assert found == []


def own_files(folder: Path) -> Iterator[Path]:
    """The files of the checkout that are not installed, built or left behind by a run."""
    for path in sorted(folder.iterdir()):
        if path.is_dir() and path.name not in LEFT_BEHIND:
            yield from own_files(path)
        elif path.is_file() and path.suffix not in {".png", ".pyc"}:
            yield path


def test_run_py_needs_the_standard_library_alone() -> None:
    """It runs before anything is installed."""
    done = subprocess.run([sys.executable, "-I", "-S", ROOT / "run.py", "--help"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "python3 run.py notebook" in done.stdout


def test_the_licence_is_the_one_declared() -> None:
    assert PROJECT["project"]["license"] == "BSD-3-Clause"
    assert (ROOT / "LICENSE").read_text(encoding="utf-8").startswith("BSD 3-Clause License")


def test_the_changelog_has_this_version_or_unreleased() -> None:
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert "## [Unreleased]" in text or f"## [{PROJECT['project']['version']}]" in text
