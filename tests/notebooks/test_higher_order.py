"""The second notebook run from top to bottom in a kernel: results are those of plain torch, and graphs are those of
`torch.compile`."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import torch

from tests.higher_order.three_ways import Graphs, written
from tests.notebooks.running import Ran, run

pytestmark = pytest.mark.row("H1")

PATH = Path(__file__).resolve().parents[2] / "notebooks" / "02_higher_order.ipynb"
SHOW_GRAPHS = "from tests.higher_order.three_ways import written; print([written(graph) for graph in graphs])"
PROBES = {"cond": SHOW_GRAPHS, "checkpoint": SHOW_GRAPHS, "vmap": SHOW_GRAPHS}


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Ran:
    return run(PATH, tmp_path_factory.mktemp("notebook"), PROBES)


def source(cell_id: str) -> str:
    (cell,) = [cell for cell in json.loads(PATH.read_text(encoding="utf-8"))["cells"] if cell["id"] == cell_id]
    return "".join(cell["source"])


def names(*cell_ids: str) -> dict[str, Any]:
    """The functions and tensors that cells define, made here: all statements before the first that compiles one."""
    found: dict[str, Any] = {"torch": torch, "nn": torch.nn}
    for cell_id in cell_ids:
        definitions = re.split(r"^(?:graphs|with tw|mended = )", source(cell_id), flags=re.MULTILINE)[0]
        exec(compile(definitions, f"<cell {cell_id}>", "exec"), found)
    return found


def graphs_of_torch_compile(function: Any, *args: Any) -> str:
    backend = Graphs()
    torch._dynamo.reset()
    torch.compile(function, backend=backend, fullgraph=True)(*args)
    torch._dynamo.reset()
    return str([written(graph) for graph in backend.graphs])


def test_every_cell_ran_without_a_warning(ran: Ran) -> None:
    ran.check_that_every_cell_ran_without_a_warning()


def test_both_branches_give_the_results_of_plain_python_in_one_graph(ran: Ran) -> None:
    grown, shrunk = torch.full((3,), 1 * 2.0 + 1), torch.full((3,), -1 / 2.0 + 1)
    assert ran.printed("cond").splitlines() == [
        f"{grown} equal to plain Python: True",
        f"{shrunk} equal to plain Python: True",
        "1 graph",
    ]
    assert ran.probes["cond"] == graphs_of_torch_compile(names("cond")["model"], torch.ones(3))


def test_the_bodies_are_printed_under_the_graph(ran: Ran) -> None:
    modules = re.findall(r"^ *class (\w+)\(torch\.nn\.Module\)", ran.printed("cond-bodies"), re.MULTILINE)
    assert modules == ["GraphModule", "cond_true_0", "cond_false_0"]


@pytest.mark.parametrize("cell_id", ["trace", "checkpoint-trace"])
def test_an_explorer_is_shown(ran: Ran, cell_id: str) -> None:
    (shown,) = ran.shown(cell_id)
    assert "data-recording" in shown["text/html"], "the recording is small"
    assert "1 graph, no breaks" in shown["text/plain"]


def test_the_steps_go_through_both_branches(ran: Ran) -> None:
    lines = source("cond").splitlines()
    steps = re.findall(r"^(\w+), line (\d+): (.+)\.$", ran.printed("steps"), re.MULTILINE)
    seen = list(dict.fromkeys((function, lines[int(line) - 1].strip()) for function, line, _ in steps))
    assert seen == [
        ("grow", "def grow(x):"),
        ("grow", "return x * scale"),
        ("shrink", "def shrink(x):"),
        ("shrink", "return x / scale"),
    ]
    assert len(steps) == len(ran.printed("steps").splitlines())


def test_the_global_is_lifted_into_both_bodies_and_can_change(ran: Ran) -> None:
    assert ran.printed("lifted").splitlines() == [
        f"{name} has the inputs ['scale', 'x']" for name in ("cond_true_0", "cond_false_0")
    ]
    assert ran.printed("lifted-again") == f"{torch.full((3,), 1 * 5.0 + 1)} 1 graph\n"


def test_the_refused_branch_is_named_with_the_line_and_leaves_nothing(ran: Ran) -> None:
    lines = source("refused").splitlines()
    message, place, *hints = ran.printed("refused").splitlines()
    assert re.match(r"torch\.cond needs remember as one graph\b.*\bhistory\b", message)
    (line,) = re.findall(r'line (\d+), in remember"?$', place)
    assert lines[int(line) - 1].strip() == "history.append(x.sum())"
    assert hints and all(hint.startswith("  Try: ") for hint in hints)
    printed, empty = ran.printed("refused-script").splitlines()
    assert printed == f"line {line}, body-breaks: {message}"
    assert empty == "in the list: []"


def test_the_mended_branch_appends_what_plain_python_appends(ran: Ran) -> None:
    assert ran.printed("mended").splitlines() == [
        f"{torch.full((3,), 2.0)} {[torch.tensor(3.0)]}",
        f"{torch.full((3,), -0.5)} {[torch.tensor(3.0), torch.tensor(0.0)]}",
    ]


def test_the_checkpointed_block_is_one_graph_with_the_gradients_of_plain_python(ran: Ran) -> None:
    assert ran.printed("checkpoint").startswith("gradients equal to plain Python: True\n1 graph\n")
    made = names("checkpoint")
    assert ran.probes["checkpoint"] == graphs_of_torch_compile(made["loss"], made["batch"])


def test_gradients_of_samples_are_those_of_each_alone(ran: Ran) -> None:
    assert ran.printed("vmap").splitlines() == [f"sample {n} as computed alone: True" for n in range(4)] + ["1 graph"]
    made = names("checkpoint", "vmap")
    assert ran.probes["vmap"] == graphs_of_torch_compile(made["per_sample"], made["weights"], made["batch"])


def test_the_graph_enters_the_levels_and_leaves_them(ran: Ran) -> None:
    names = [line.split()[0] for line in ran.printed("vmap-graph").splitlines()]
    assert names == [
        "_vmap_increment_nesting", "_grad_increment_nesting", "_grad_decrement_nesting", "_vmap_decrement_nesting",
    ]  # fmt: skip
