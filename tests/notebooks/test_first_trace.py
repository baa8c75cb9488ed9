"""The first notebook run from top to bottom in a kernel: what it prints is what plain torch gives."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from tests import first_notebook
from tests.notebooks.running import Ran, run

LENGTHS = [16, 24, 40]
MEMORY_LIMIT = 1300 * 2**20  # bytes; Binder gives 2 GB, and JupyterLab itself takes about 0.15 GB of it

PROBES = {
    "trace": "torch.save(logits, 'logits.pt')",
    "trace-chatty": "torch.save(logits, 'chatty.pt')",
    "script": "print(len(t.steps), len(t.breaks))",
    "script-breaks": "print([(b.line, b.reason_id) for b in t.breaks])",
    "next-text": "import resource; print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024)",
}


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Ran:
    return run(first_notebook.PATH, tmp_path_factory.mktemp("notebook"), PROBES)


@pytest.fixture(scope="module")
def eager() -> dict[str, Any]:
    return first_notebook.eager()


def graphs_of_torch_compile(function: Callable[..., Any], *calls: Any) -> int:
    """How many graphs the installed torch.compile makes of `function` over `calls`."""
    graphs: list[Any] = []

    def count(graph: Any, _: Any) -> Any:
        graphs.append(graph)
        return graph.forward

    torch._dynamo.reset()
    compiled = torch.compile(function, backend=count)
    for argument in calls:
        compiled(argument)
    torch._dynamo.reset()
    return len(graphs)


def test_every_cell_ran_without_a_warning(ran: Ran) -> None:
    ran.check_that_every_cell_ran_without_a_warning()


def test_the_traced_cells_result_is_the_eager_one(ran: Ran, eager: dict[str, Any]) -> None:
    expected = eager["model"](eager["tokens"])
    assert torch.equal(torch.load(ran.folder / "logits.pt"), expected)
    assert ran.printed("equal") == "shape: (2, 16, 65)\nequal to eager: True\n"


@pytest.mark.parametrize("cell_id", ["trace", "trace-chatty", "calls"])
def test_an_explorer_is_shown_and_a_summary_where_no_script_runs(ran: Ran, cell_id: str) -> None:
    (shown,) = ran.shown(cell_id)
    assert "data-recording" in shown["text/html"], "the recording is small"
    assert "graph" in shown["text/plain"]
    assert "graph" in re.sub(r"<[^>]*>", "", shown["text/html"]), "what is left without scripts"


def test_the_breaks_are_on_the_lines_that_cause_them(ran: Ran, eager: dict[str, Any]) -> None:
    lines = [first_notebook.line_of("chatty", text) for text in ("print(x.shape)", "if x.sum() > 0:")]
    breaks = ast.literal_eval(ran.probes["script-breaks"])
    assert lines == sorted({line for line, _ in breaks} & set(lines))
    assert {line: reason for line, reason in breaks}[lines[1]] == "tensor-branch"
    printed = ran.printed("script-breaks")
    for line in lines:
        assert re.search(rf"^line {line}: .+\n    try: .+", printed, re.MULTILINE), printed


def test_output_and_result_of_the_broken_model_are_those_of_plain_python(ran: Ran, eager: dict[str, Any]) -> None:
    expected = eager["chatty"](eager["tokens"])
    assert torch.equal(torch.load(ran.folder / "chatty.pt"), expected)
    assert ran.printed("trace-chatty") == "torch.Size([2, 16, 32])\n"
    assert ran.printed("equal-chatty").endswith("equal to eager: True\n")


def test_a_model_without_breaks_is_one_graph(ran: Ran, eager: dict[str, Any]) -> None:
    steps, breaks = map(int, ran.probes["script"].split())
    assert steps > 400
    assert breaks == 0
    assert graphs_of_torch_compile(eager["model"], eager["tokens"]) == 1
    assert "1 graph" in ran.printed("script")


def test_two_versions_serve_three_lengths(ran: Ran, eager: dict[str, Any]) -> None:
    calls = [torch.randint(0, 65, (2, length)) for length in LENGTHS]
    assert graphs_of_torch_compile(eager["model"], *calls) == 2
    results = [line for line in ran.printed("calls").splitlines() if line]
    assert results == [f"{length} equal to eager: True" for length in LENGTHS]

    printed = ran.printed("calls-python")
    checks = re.findall(r"^call (\d+) of \S+, version (\d+): (reused|guard failed: .*)$", printed, re.MULTILINE)
    first, second = LENGTHS[:2]
    (refused,) = [outcome for call, version, outcome in checks if (call, version) == ("2", "1")]
    assert re.search(rf"\b{first}\b.*saw.*\b{second}\b", refused), refused
    assert checks[-1] == ("3", "2", "reused")
    assert re.search(rf"stands for .*size\(1\).*, {second} in this call", printed), printed


def test_a_saved_trace_is_the_same_with_and_without_torch(ran: Ran) -> None:
    saved = ran.printed("save").strip()
    assert re.fullmatch(r"\d+ steps, \d+ calls", saved)
    assert ran.printed("load-without-torch").strip() == f"{saved}, loaded without torch"
    assert (ran.folder / "first.trace").stat().st_size > 1000


def test_the_page_it_wrote_needs_nothing_else(ran: Ran) -> None:
    page = (ran.folder / "first.html").read_text(encoding="utf-8")
    assert page.lower().startswith("<!doctype html>")
    assert re.findall(r"""(?:src|href)\s*=\s*["']?(?:https?:)?//""", page) == []
    assert "first.html" in str(ran.shown("html"))


def test_a_step_says_what_the_explorer_shows(ran: Ran) -> None:
    sentence, place, before, after, names = ran.printed("script-step").splitlines()
    assert sentence.endswith(".")
    assert re.fullmatch(r"at line \d+ of \S+", place)
    assert before.startswith("stack before: [")
    assert after.startswith("stack after:  [")
    assert names.startswith("locals: {")


def test_it_fits_binder(ran: Ran, artifacts: Path) -> None:
    peak = int(ran.probes["next-text"])
    (artifacts / "notebook-memory.txt").write_text(f"{peak / 2**20:.0f} MiB at most in the kernel\n")
    assert peak < MEMORY_LIMIT
