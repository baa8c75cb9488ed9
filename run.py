#!/usr/bin/env python3
"""Open the first notebook, or run all tests, from a fresh checkout in one command. Needs only Python 3.11.

    python3 run.py notebook          install, and open the first notebook in JupyterLab
    python3 run.py tests [ARGS]      install, and run all tests (ARGS go to pytest)
    python3 run.py install           install the requirements of the tests only

Everything is installed into the folder `.venv` of the checkout. apt installs Debian packages only where a part is
missing: python3.11-venv to create that folder, and for the tests the Chromium browser and its dependencies.
"""

from __future__ import annotations

import argparse
import ctypes.util
import hashlib
import importlib.util
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parent
VENV = ROOT / ".venv"
PYTHON = VENV / "bin" / "python"
WIDGETS = ROOT / "widgets"
FIRST_NOTEBOOK = "notebooks/01_first_trace.ipynb"
OLDEST_NODE = 20


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=["notebook", "tests", "install"])
    command, rest = parser.parse_known_args()
    if sys.version_info[:2] != (3, 11):
        sys.exit(
            f"tracewalk needs Python 3.11, and this is {sys.version_info[0]}.{sys.version_info[1]}: "
            f"run `python3.11 run.py {command.command}`."
        )
    os.chdir(ROOT)
    if command.command == "notebook":
        install("notebook")
        open_notebook(rest)
    install("test")
    install_for_tests()
    if command.command == "tests":
        sys.exit(front_end_tests() or python_tests(rest))


# --- installing ------------------------------------------------------------------------------------------------


def install(extra: str) -> None:
    """Install this checkout with `extra` into `.venv`, unless that was done since pyproject.toml last changed."""
    if not PYTHON.exists():
        make_venv()
    stamp = VENV / f"installed-{extra}"
    wanted = hashlib.sha256((ROOT / "pyproject.toml").read_bytes()).hexdigest()
    if stamp.exists() and stamp.read_text() == wanted:
        return
    say(f"installing tracewalk[{extra}] into {VENV.relative_to(ROOT)}; the first time, this takes a few minutes")
    run(PYTHON, "-m", "pip", "install", "--disable-pip-version-check", "-q", "-e", f".[{extra}]")
    stamp.write_text(wanted)


def make_venv() -> None:
    if importlib.util.find_spec("ensurepip") is None:  # Debian splits it off
        apt_install("python3.11-venv")
    say(f"creating {VENV.relative_to(ROOT)}")
    run(sys.executable, "-m", "venv", "--clear", VENV)


def install_for_tests() -> None:
    """Install the requirements outside the `test` extra: Debian packages, and Node.js for the front end's tests."""
    missing = [name for name, there in DEBIAN_PARTS.items() if not there()]
    if missing:
        apt_install(*missing)
    if node_version() < OLDEST_NODE:
        install("node")


def has_own_tests() -> bool:
    """Return whether this Python includes the tests of Python itself."""
    return importlib.util.find_spec("test") is not None and importlib.util.find_spec("test.test_patma") is not None


# The Debian packages that the tests need, each with a check whether it is installed.
DEBIAN_PARTS: dict[str, Callable[[], bool]] = {
    "chromium": lambda: any(map(shutil.which, ("chromium", "chromium-browser"))),
    "fonts-dejavu-core": lambda: Path("/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf").exists(),
    "libatomic1": lambda: ctypes.util.find_library("atomic") is not None,  # for the browser's driver
    "libpython3.11-testsuite": has_own_tests,  # the tests run them through our bytecode
}


def apt_install(*packages: str) -> None:
    """Install Debian packages, as root or through sudo; exit with instructions where neither works."""
    names = " ".join(packages)
    prefix = [] if os.geteuid() == 0 else ["sudo"]
    if shutil.which("apt-get") is None or (prefix and shutil.which("sudo") is None):
        sys.exit(f"Missing: {names}. Install it with your system's package manager, then run this again.")
    say(f"installing Debian's {names}")
    env = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
    run(*prefix, "apt-get", "update", "-q", env=env)
    run(*prefix, "apt-get", "install", "-q", "-y", "--no-install-recommends", *packages, env=env)


def node_version() -> int:
    """Return the major version of the Node.js on the path that has npm beside it; 0 where there is none."""
    path = tool_env()["PATH"]
    node = shutil.which("node", path=path)
    if node is None or shutil.which("npm", path=path) is None:
        return 0
    text = subprocess.run([node, "--version"], capture_output=True, text=True, check=True).stdout
    return int(text.lstrip("v").split(".")[0])


# --- running ---------------------------------------------------------------------------------------------------


def open_notebook(arguments: list[str]) -> None:
    """Replace this process by JupyterLab, which opens the notebook in a browser, or prints its address."""
    as_root = ["--allow-root"] if os.geteuid() == 0 else []
    lab = [str(PYTHON), "-m", "jupyterlab", *as_root, *arguments, FIRST_NOTEBOOK]
    os.execve(PYTHON, lab, tool_env())


def front_end_tests() -> int:
    """Run the front end's unit tests and return their exit code."""
    say("the front end's tests")
    installed, wanted = WIDGETS / "node_modules" / ".package-lock.json", WIDGETS / "package-lock.json"
    if not installed.exists() or installed.stat().st_mtime < wanted.stat().st_mtime:
        run("npm", "ci", "--no-audit", "--no-fund", cwd=WIDGETS)
    return subprocess.run(["npm", "test"], cwd=WIDGETS, env=tool_env()).returncode


def python_tests(arguments: list[str]) -> int:
    """Run pytest and return its exit code."""
    say("the Python, notebook and browser tests")
    # One more than processors: it runs the tests that wait for a browser and for kernels (tests/units.py).
    workers = str(min(os.cpu_count() or 1, 8) + 1)
    # One thread each: the workers already share the processors.
    env = tool_env() | {"OMP_NUM_THREADS": "1"}
    return subprocess.run([PYTHON, "-m", "pytest", "-n", workers, *arguments], env=env).returncode


def tool_env() -> dict[str, str]:
    """Return the environment with the programs of `.venv` first on the path."""
    return os.environ | {"PATH": f"{VENV / 'bin'}{os.pathsep}{os.environ['PATH']}"}


def run(*command: str | Path, cwd: Path = ROOT, env: dict[str, str] | None = None) -> None:
    """Run a program; exit with its exit code if it fails (it has printed the reason)."""
    done = subprocess.run(command, cwd=cwd, env=env or tool_env())
    if done.returncode:
        sys.exit(done.returncode)


def say(text: str) -> None:
    print(f"== {text}", flush=True)


if __name__ == "__main__":
    main()
