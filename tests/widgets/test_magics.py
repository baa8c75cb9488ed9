"""`%%trace` in a real IPython shell: what the cell does, and what is shown."""

from __future__ import annotations

import builtins
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output
from ipywidgets.widgets.widget import _instances

import tracewalk as tw
from tracewalk import magics


def strip_ansi(text: str) -> str:
    return re.sub(r"\x1b\[[0-9;]*m", "", text)


class Session:
    """A shell with the extension loaded. `run` runs a cell; what it showed and printed is kept."""

    def __init__(self, shell: InteractiveShell) -> None:
        self.shell = shell
        self.printed = ""
        self.errors = ""
        self.shown: list[Any] = []

    def run(self, cell: str) -> Any:
        with capture_output() as captured:
            result = self.shell.run_cell(cell, store_history=True)
        self.printed, self.errors = strip_ansi(captured.stdout), strip_ansi(captured.stderr)
        self.shown = captured.outputs
        return result

    def __getitem__(self, name: str) -> Any:
        return self.shell.user_ns[name]

    @property
    def explorers(self) -> int:
        return sum("<div data-place=" in output.data.get("text/html", "") for output in self.shown)


@pytest.fixture
def session() -> Iterator[Session]:
    InteractiveShell.clear_instance()
    # Python's own prompt leaves its last result there, and IPython then keeps none.
    vars(builtins).pop("_", None)
    shell = InteractiveShell.instance()
    shell.run_line_magic("load_ext", "tracewalk")
    shell.run_cell("import torch\nx = torch.arange(4.0)")
    yield Session(shell)
    InteractiveShell.clear_instance()


def test_a_cell_assigns_prints_and_shows_as_without_the_magic(session: Session) -> None:
    result = session.run("%%trace\ny = x * 2\nprint('tens', y.shape)\nz = y + 1\nz")
    assert result.success
    assert torch.equal(session["y"], torch.tensor([0.0, 2.0, 4.0, 6.0]))
    assert torch.equal(result.result, torch.tensor([1.0, 3.0, 5.0, 7.0]))
    assert session["_"] is session["z"]
    assert "tens torch.Size([4])" in session.printed
    assert session.explorers == 1


def test_two_steps_of_an_optimizer_in_a_cell(session: Session) -> None:
    """The second reads a step counter that the first has counted up."""
    session.run("p = torch.nn.Parameter(torch.tensor([1., 2.])); p.grad = torch.tensor([.5, -.5])")
    assert session.run("%%trace\no = torch.optim.Adam([p], lr=.1)\no.step(); o.step()").success
    torch.testing.assert_close(session["p"].detach(), torch.tensor([0.8, 2.2]))


def test_the_recording_walks_the_cells_own_lines(session: Session) -> None:
    session.run("%%trace\ny = x * 2\n\nz = y + 1\n")
    trace = session["_trace"]
    assert isinstance(trace, tw.Trace)
    lines = {
        trace.codes[f.code].source.splitlines()[s.line - trace.codes[f.code].first_line]
        for s in trace.steps
        for f in [s.frame]
        if f.depth == 0 and s.line
    }
    assert lines == {"y = x * 2", "z = y + 1"}
    assert {step.line for step in trace.steps if step.depth == 0} == {2, 4}, "lines as the notebook numbers them"


def test_a_semicolon_keeps_the_value_back(session: Session) -> None:
    assert session.run("%%trace\nx + 1;").result is None
    assert session.run("%%trace\nx + 1  # no; semicolon").result is not None
    assert session.run("%%trace\ny = x + 1").result is None


def test_the_same_cell_again_goes_through_its_guards(session: Session) -> None:
    cell = "%%trace\ny = x + 1"
    session.run(cell)
    assert [call.outcome for call in root_calls(session)] == ["compiled"]
    session.run(cell)
    assert [call.outcome for call in root_calls(session)] == ["reused"]
    session.run("x = torch.arange(7.0)")
    session.run(cell)
    (call,) = root_calls(session)
    assert call.outcome == "compiled"
    assert call.checks[0].failed is not None or call.checks[0].text
    assert torch.equal(session["y"], torch.arange(7.0) + 1)


def explorer_of(session: Session) -> Any:
    """The explorer that the last cell showed."""
    [place] = re.findall(r'<div data-place="(\w+)"', html_of(session))
    return next(one for one in list(_instances.values()) if getattr(one, "_place", None) == place)


def test_a_run_that_reuses_all_shows_the_recording_of_what_it_reused(session: Session) -> None:
    cell = "%%trace\ny = x + 1"
    session.run(cell)
    first = session["_trace"]
    session.run(cell)
    assert len(session["_trace"]) == 0
    explorer = explorer_of(session)
    assert explorer.trace.data is first.data
    assert explorer.note.startswith("This run traced nothing: each call reused a version that was compiled before.")
    assert "%%trace --fresh" in explorer.note
    assert not explorer.compared
    assert "This run traced nothing" in html_of(session)


def test_a_cell_that_only_reuses_what_another_compiled(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    session.run("%%trace\ny = x + 1")
    first = session["_trace"]
    monkeypatch.setattr(session.shell, "parent_header", {"metadata": {"cellId": "a copy"}}, raising=False)
    session.run("%%trace\ny = x + 2")
    session.run("%%trace\ny = x + 1")
    assert explorer_of(session).trace.data is first.data


def test_fresh_traces_anew(session: Session) -> None:
    session.run("def f(x):\n    print('here')\n    return x * 2")
    cell = "\ny = x + 1\nprint(y.shape)\nz = f(y)"
    session.run(f"%%trace{cell}")
    steps = len(session["_trace"])
    assert session.run(f"%%trace{cell}").success
    assert session["_trace"].only_reused
    assert len(explorer_of(session).trace) == steps
    assert session.run(f"%%trace --fresh{cell}").success
    assert len(session["_trace"]) == steps
    assert "reused" not in {call.outcome for call in session["_trace"].calls}
    assert explorer_of(session).note == ""
    session.run(f"%%trace{cell}")
    assert session["_trace"].only_reused, "what was traced anew is reused"


def test_before_and_after_of_a_cell_that_was_edited(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session.shell, "parent_header", {"metadata": {"cellId": "a"}}, raising=False)
    session.run("%%trace\ny = x + 1\nprint(y)")
    before = session["_trace"]
    assert not explorer_of(session).compared
    session.run("%%trace\ny = x + 1")
    explorer = explorer_of(session)
    assert explorer.compared
    assert explorer._before.data is before.data
    monkeypatch.setattr(session.shell, "parent_header", {"metadata": {"cellId": "b"}}, raising=False)
    session.run("%%trace\ny = x + 2")
    assert not explorer_of(session).compared


def test_before_and_after_where_cells_have_no_id(session: Session) -> None:
    cell = "%%trace\ny = x + 1"
    session.run(cell)
    before = session["_trace"]
    session.run("x = torch.arange(7.0)")
    session.run(cell)
    assert explorer_of(session)._before.data is before.data


def test_the_last_recordings_are_kept_without_the_programs_objects(session: Session) -> None:
    for number in range(12):
        session.run(f"%%trace\ny = x + {number}")
    magics = session.shell.magics_manager.registry["TraceMagics"]
    kept = [trace for _, trace in magics._recent._kept]
    assert len(kept) == 8
    assert all(trace.kept is None for trace in kept)


def html_of(session: Session) -> str:
    return "".join(output.data.get("text/html", "") for output in session.shown)


def root_calls(session: Session) -> list[Any]:
    trace = session["_trace"]
    return [call for call in trace.calls if trace.codes[call.code].name == "cell"]


def test_an_exception_is_the_cells_own_and_the_recording_is_shown(session: Session) -> None:
    result = session.run("%%trace\ny = x + 1\nraise ValueError('mine')")
    assert isinstance(result.error_in_exec, ValueError)
    assert session.explorers == 1
    assert len(session["_trace"]) > 0
    assert torch.equal(session["y"], session["x"] + 1)
    assert "raise ValueError('mine')" in session.printed
    assert "magics.py" not in session.printed
    assert "run_cell_magic" not in session.printed


def test_options_save_name_and_choose(session: Session, tmp_path: Path) -> None:
    saved, page = tmp_path / "a.trace", tmp_path / "a.html"
    assert session.run(f"%%trace --name t --save {saved} --html {page} --dynamic --attempts\ny = x + 1").success
    assert len(tw.load(saved)) == len(session["t"])
    assert page.exists()
    assert session["t"].label == "y = x + 1"


def test_the_height_of_the_explorer_is_chosen(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    heights = []
    monkeypatch.setattr(magics, "display", lambda explorer: heights.append(explorer.height))
    assert session.run("%%trace --height 500\ny = x + 1").success
    assert session.run("%%trace\ny = x + 1").success
    assert heights == [500, 760]
    session.run("%%trace --height 20\ny = x + 1")
    assert "--height 20: the explorer needs at least 360 pixels." in session.errors
    assert heights == [500, 760]


def test_packages_that_are_mine_too_are_named(session: Session, tmp_path: Path) -> None:
    page = tmp_path / "a.html"
    assert session.run(f"%%trace --my-code timm --my-code /home/me/lib --html {page}\ny = x + 1").success
    assert explorer_of(session).my_code == ["timm", "/home/me/lib"]
    assert "/home/me/lib" in page.read_text()


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (
            "--dynamics",
            "%%trace has no option --dynamics. Did you mean --dynamic? Its options: --attempts,",
        ),
        ("--bakend=eager", "%%trace has no option --bakend. Did you mean --backend?"),
        ("--zzz 1", "%%trace has no option --zzz. Its options:"),
        ("-fresh", "%%trace has no option -fresh. Did you mean --fresh?"),
        ("fresh", "%%trace takes options alone, not 'fresh'. Did you mean --fresh?"),
        ("model(x)", "%%trace takes options alone, not 'model(x)'. Its options:"),
    ],
)
def test_an_unknown_option_gets_a_suggestion(session: Session, given: str, said: str) -> None:
    assert not session.run(f"%%trace {given}\ny = x + 1").success
    assert f"UsageError: {said}" in session.printed + session.errors


def test_an_error_is_shown_at_its_line_below_empty_lines(session: Session) -> None:
    session.run("%%trace\n\n  \ny = x + 1\nassert y.sum() < 0, 'mine'\n")
    assert re.search(
        r"Cell In\[1\], line 5, in cell\(\)\n(.*\n)*----> 5 assert y.sum\(\) < 0, 'mine'", session.printed
    )


def test_a_file_that_cannot_be_written_does_not_lose_the_value(session: Session) -> None:
    result = session.run("%%trace --save /nowhere/at/all.trace\nx + 1")
    assert result.result is not None
    assert "/nowhere/at/all.trace was not written" in session.errors


def test_fullgraph_raises_where_the_graph_would_break(session: Session) -> None:
    from tracer_core.errors import Unsupported

    result = session.run("%%trace --fullgraph\ny = x + 1\nprint(y)\n")
    assert isinstance(result.error_in_exec, Unsupported)
    assert session.explorers == 1


@pytest.mark.parametrize(
    ("cell", "said"),
    [
        ("%%trace\nfrom math import *", "cell of its own"),
        ("%%trace\nawait y", "top level"),
        ("%%trace\n", "empty"),
        ("%%trace --name a-b\ny = 1", "not a valid variable name"),
        ("%%trace --nonsense\ny = 1", "%%trace has no option --nonsense"),
        ("%%trace --backend inducto\ny = 1", "Did you mean 'inductor'?"),
    ],
)
def test_what_cannot_be_traced_is_said_in_a_sentence(session: Session, cell: str, said: str) -> None:
    result = session.run(cell)
    assert not result.success
    assert said in session.printed + session.errors
    assert "Traceback" not in session.printed + session.errors


def test_a_syntax_error_points_into_the_cell(session: Session) -> None:
    result = session.run("%%trace\ny = 1\nz = = 2")
    assert isinstance(result.error_in_exec, SyntaxError)
    assert result.error_in_exec.lineno == 3
    assert "z = = 2" in session.printed + session.errors
    shown = session.printed.strip()
    session.run("# the same line\ny = 1\nz = = 2")
    assert shown.replace("In[1]", "In[2]") == session.printed.strip(), "as the notebook shows it without the magic"
    with pytest.raises(ZeroDivisionError):
        session.run("1 / 0").raise_error()
    assert "1 / 0" in session.printed


def test_an_error_of_tracing_is_shown_without_the_engines_frames(session: Session) -> None:
    session.run("%%trace --fullgraph\ny = x + 1\nprint(y)\n")
    assert 'File "Cell In[1]", line 3, in cell' in session.printed
    assert "convert.py" not in session.printed + session.errors


def test_an_error_after_a_break_is_shown_at_its_line_once(session: Session) -> None:
    session.run("%%trace\ndef f(x):\n    y = x + 1\n    print('a')\n    raise ValueError('v')\nf(x)")
    assert re.findall(r"Cell In\[1\], line (\d+), in (\w+)", session.printed) == [("6", "cell"), ("5", "f")]
    assert "Unexpected exception" not in session.printed + session.errors


INTERRUPTED = """\
import signal, tracewalk as tw
def f(x):
    y = x + 1
    signal.raise_signal(signal.SIGINT)
    return y
def interrupt(graph, inputs):
    signal.raise_signal(signal.SIGINT)
def g(x):
    return x + 1
"""


@pytest.mark.parametrize(
    ("cell", "line"),
    [
        ("%%trace\nf(x)", "----> 4     signal.raise_signal(signal.SIGINT)"),
        ("tw.trace(f, x)", "----> 4     signal.raise_signal(signal.SIGINT)"),
        ("tw.compile(f, backend='eager')(x)", "----> 4     signal.raise_signal(signal.SIGINT)"),
        ("%%trace\ntw.compile(g, backend=interrupt)(x)", "----> 2 tw.compile(g, backend=interrupt)(x)"),
        ("tw.compile(g, backend=interrupt)(x)", "----> 1 tw.compile(g, backend=interrupt)(x)"),
    ],
)
def test_an_interrupt_is_shown_at_the_programs_lines(session: Session, cell: str, line: str) -> None:
    """While the program runs, and while it is traced."""
    session.run(INTERRUPTED)
    result = session.run(cell)
    assert isinstance(result.error_in_exec, KeyboardInterrupt)
    assert line in session.printed
    for ours in ("tracer_core", "widgets/tracewalk", "<tracewalk, internal"):
        assert ours not in session.printed


def test_cells_are_called_as_the_notebook_calls_them(session: Session) -> None:
    session.run("def f(x):\n    return x + 1")
    session.run("%%trace\ny = f(x)\nprint(y)\nz = y + 1")
    trace = session["_trace"]
    assert {code.name: code.filename for code in trace.codes if code.kind == "user"} == {
        "f": "Cell In[1]",
        "cell": "Cell In[2]",
    }
    assert "Cell In[2], line 3, in cell: The code calls `print()`." in str(trace)


def test_what_the_notebook_does_for_a_cell_is_no_call_of_the_program(session: Session) -> None:
    session.run("def f(x):\n    return x + 1")
    session.run("%%trace\nimport wave, tabnanny\n%time y = f(x)\nq = !echo hi")
    trace = session["_trace"]
    names = {trace.codes[call.code].name.partition(", after ")[0] for call in trace.calls}
    assert names <= {"cell", "f", "`cell`", "<module>"}
    assert {trace.codes[call.code].filename for call in trace.calls} <= {"Cell In[1]", "Cell In[2]", "<timed exec>"}


def test_notebook_syntax_inside_the_cell(session: Session) -> None:
    assert session.run("%%trace\n%precision 3\ny = x + 1\nfiles = !echo hello").success
    assert list(session["files"]) == ["hello"]
    assert torch.equal(session["y"], session["x"] + 1)


def test_the_level_dispatch_records_what_is_under_each_node(session: Session) -> None:
    session.run("def double(x):\n    return x * 2")
    session.run("%%trace --level dispatch\ndouble(x)")
    (forward,) = session["_trace"].dispatch.runs
    assert [step.operator for step in forward.steps] == ["aten.mul.Tensor"]
