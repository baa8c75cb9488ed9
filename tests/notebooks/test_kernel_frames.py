"""What a kernel does while a traced cell runs is not recorded: calls are those of the program in a plain script."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

ROOT = Path(__file__).resolve().parents[2]

CELLS = {
    "a print": "x = x + 1\nprint(x)\nx = x * 2",
    "prints in a loop": "for i in range(4):\n    x = x + i\n    print(i, x)",
    "a print in a function": "def show(x):\n    print(x)\n    return x + 1\nx = show(show(x)) * 2",
    "a flush": "x = x + 1\nprint(x, end='', flush=True)\nsys.stdout.flush()\nx = x * 2",
    "writes": "x = x + 1\nsys.stdout.write('a')\nx = x * 2\nsys.stderr.write('b')\nx = x + 1",
    "a progress bar": "for i in range(3):\n    x = x + i\n    sys.stderr.write(f'\\r{i}/3')\n    sys.stderr.flush()",
    "values shown": "x = x + 1\ndisplay(x)\nx = x * 2\ndisplay(x, HTML('<b>b</b>'))\nx = x + 1",
    "a value that shows itself": (
        "class Shown:\n    def _repr_html_(self):\n        return str(x + 1)\n    def __repr__(self):\n"
        "        return 'shown'\nx = x + 1\ndisplay(Shown())\nx = x * 2"
    ),
    "output cleared": "x = x + 1\nprint('a')\nclear_output(wait=True)\nprint('b')\nx = x * 2",
    "a warning": "x = x + 1\nwarnings.warn('w')\nx = x * 2",
    "a log": "x = x + 1\nlogging.getLogger('cell').warning('w %s', x)\nx = x * 2",
    "an exception": "x = x + 1\nprint(x)\nraise ValueError('no')",
    "an exception shown": (
        "def fails(x):\n    raise ValueError('no')\n"
        "try:\n    fails(x)\nexcept ValueError:\n    traceback.print_exc()\nx = x + 1"
    ),
    "much text": "x = x + 1\nfor i in range(50):\n    print('y' * 2000)\nx = x * 2",
    "output captured": (
        "text = io.StringIO()\nwith contextlib.redirect_stdout(text):\n    print(x)\nx = x + len(text.getvalue())"
    ),
    "the library that the kernel uses": (
        "def later(x):\n    return x * tzutc().utcoffset(None).seconds + 1\nprint(x)\nx = later(x)\nprint(x)"
    ),
    "a sleep between prints": "x = x + 1\nprint(x)\ntime.sleep(0.3)\nprint(x)\nx = x * 2",
}

BEFORE = """
import contextlib, io, json, logging, sys, time, traceback, warnings
import torch, tracer_core, tracewalk as tw
from dateutil.tz import tzutc
from IPython.display import HTML, clear_output, display
"""
AGAIN = "tracer_core.reset()\nx = torch.ones(3)\n"
CALLS = """
def calls_of(trace):
    return [(trace.codes[call.code].qualname, call.number, call.outcome, call.version) for call in trace.calls]
"""

SCRIPT = f"""{BEFORE}{CALLS}
from tracewalk.cell import compile_cell
calls = {{}}
for name, text in json.load(sys.stdin).items():
    names = dict(globals())
    exec({AGAIN!r}, names)
    run = tw.compile(compile_cell("# %%trace\\n" + text, name, names).function, backend="eager")
    with contextlib.suppress(ValueError), tw.record() as trace:
        run()
    calls[name] = calls_of(trace), names["x"].tolist()
json.dump(calls, open(sys.argv[1], "w"))
"""


def environment(home: Path) -> dict[str, str]:
    return os.environ | {
        "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "widgets")]),
        "IPYTHONDIR": str(home / "ipython"),
        "JUPYTER_CONFIG_DIR": str(home / "config"),
    }


@pytest.fixture(scope="module")
def scripts(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The calls that a plain script records of each program, and the x that it leaves."""
    home = tmp_path_factory.mktemp("script")
    (home / "script.py").write_text(SCRIPT, encoding="utf-8")
    subprocess.run(
        [sys.executable, home / "script.py", home / "calls.json"],
        input=json.dumps(CELLS),
        env=environment(home),
        text=True,
        check=True,
        capture_output=True,
        timeout=600,
    )
    found: dict[str, Any] = json.loads((home / "calls.json").read_text(encoding="utf-8"))
    return found


class Kernel:
    """A real kernel in which cells are run."""

    def __init__(self, client: NotebookClient) -> None:
        self.client = client

    def run(self, text: str) -> str:
        """What the cell printed."""
        return "".join(output["text"] for output in self._outputs(text) if output.get("name") == "stdout")

    def traceback(self, text: str) -> str:
        """How the kernel shows the error of a cell, without colours."""
        (error,) = [output for output in self._outputs(text) if output["output_type"] == "error"]
        return re.sub(r"\x1b\[[\d;]*m", "", "\n".join(error["traceback"]))

    def _outputs(self, text: str) -> list[Any]:
        cells = self.client.nb.cells
        cells.append(nbformat.v4.new_code_cell(text))
        outputs: list[Any] = self.client.execute_cell(cells[-1], len(cells) - 1)["outputs"]
        return outputs

    def json(self, expression: str) -> Any:
        return json.loads(self.run(f"print(json.dumps({expression}))"))


@pytest.fixture(scope="module")
def kernel(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kernel]:
    home = tmp_path_factory.mktemp("kernel")
    client = NotebookClient(
        nbformat.v4.new_notebook(), timeout=600, allow_errors=True, resources={"metadata": {"path": str(home)}}
    )
    with client.setup_kernel(env=environment(home)):
        made = Kernel(client)
        made.run(f"%load_ext tracewalk\n{BEFORE}{CALLS}")
        yield made


@pytest.mark.parametrize("name", CELLS)
def test_the_calls_of_a_traced_cell_are_the_programs(name: str, kernel: Kernel, scripts: dict[str, Any]) -> None:
    kernel.run(AGAIN)
    kernel.run(f"%%trace\n{CELLS[name]}")
    calls, x = kernel.json("[calls_of(_trace), x.tolist()]")
    expected_calls, expected_x = scripts[name]
    assert x == expected_x
    assert functions(calls) == functions(expected_calls)
    # (In a kernel, standard streams have other types: where the program itself uses them, it breaks elsewhere.)
    if "sys.std" not in CELLS[name] and "redirect_stdout" not in CELLS[name]:
        assert calls == expected_calls


def functions(calls: list[Any]) -> set[str]:
    """The functions called, whatever of them goes on after a break."""
    return {name.removeprefix("resume_in_").partition("_at_")[0] for name, *_ in calls}


def test_a_cell_prints_what_it_prints_without_the_magic(kernel: Kernel) -> None:
    for name in ("prints in a loop", "a flush", "writes", "output cleared", "much text"):
        kernel.run(AGAIN)
        plain = kernel.run(CELLS[name])
        kernel.run(AGAIN)
        assert kernel.run(f"%%trace\n{CELLS[name]}") == plain


@pytest.mark.parametrize("before", ["", "y = 1\n", "y = 1\n\n\nz = 2\n\n\n\n\n\n\nw = 3\n"])
def test_an_error_is_shown_at_the_line_that_raised(kernel: Kernel, before: str) -> None:
    line = before.count("\n") + 2
    shown = kernel.traceback(f"%%trace\n{before}raise ValueError('mine')\n")
    assert f", line {line}, in cell()" in shown
    assert re.search(rf"-> {line} raise ValueError\(.mine.\)", shown)
    assert "%%trace" not in shown


def test_a_recording_over_several_cells_has_the_functions_called_in_them(kernel: Kernel) -> None:
    """The hook is on while the kernel's own loop runs between cells: messages are read, replies are sent."""
    kernel.run(AGAIN)
    kernel.run("def double(x):\n    print(x)\n    return x * 2")
    kernel.run("block = tw.record()\ntrace = block.__enter__()")
    assert kernel.run("x = double(x)\nprint(x.tolist())").endswith("[2.0, 2.0, 2.0]\n")
    kernel.run("display(x)")
    kernel.run("x = double(x)")
    kernel.run("block.__exit__(None, None, None)")
    names = {name for name, *_ in kernel.json("calls_of(trace)")}
    assert "double" in names
    assert {name for name in names if "double" not in name} <= {"<module>"}
