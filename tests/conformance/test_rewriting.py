"""Programs with a back end that rewrites graphs: those that train, write into tensors or vary in their sizes."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from torch.utils._pytree import tree_leaves

from tests.conformance.compare import explain
from tests.conformance.pool import Runner
from tests.conformance.program import Listed, Program, list_programs
from tests.conformance.rewriting import ask_rewriting, judge_rewriting
from tests.conformance.ways import CallRecord, Record

TRAINS_OR_WRITES = re.compile(r"\w_\(|\.data\b|\bout=|backward\(|grad")


def touched(program: Program) -> bool:
    """Whether a back end has to rewrite more of it than operations one by one."""
    calls = [
        [each for each in tree_leaves((call.args, call.kwargs)) if isinstance(each, torch.Tensor)]
        for call in program.make_calls()
    ]
    shapes = {tuple(each.shape for each in tensors) for tensors in calls}
    trains = any(each.requires_grad for tensors in calls for each in tensors)
    return trains or len(shapes) > 1 or TRAINS_OR_WRITES.search(inspect.getsource(program.fn)) is not None


PROGRAMS = list_programs(where=touched)


@pytest.fixture(scope="module")
def runner() -> Iterator[Runner]:
    runner = Runner(backend="aot_eager")
    yield runner
    runner.close()


@pytest.mark.row("O11")
@pytest.mark.parametrize("program", [pytest.param(each, id=each.id) for each in PROGRAMS])
def test_program(program: Listed, runner: Runner) -> None:
    records = ask_rewriting(runner, program)
    verdict = judge_rewriting(program, records)
    assert verdict.agrees, "\n".join(explain(records))


PLAIN = "[0]: [1.0] grad_fn=MulBackward0#3\n[1]: storage=2"
GRAPH = "[0]: [1.0] grad_fn=CompiledFunctionBackward#3\n[1]: storage=2"
COPIED = "[0]: [1.0] grad_fn=MulBackward0#3\n[1]: storage=3"
WRONG = "[0]: [2.0] grad_fn=MulBackward0#3\n[1]: storage=3"
LEAF = "[0]: [1.0] grad_fn=leaf#3\n[1]: storage=2"


@pytest.mark.parametrize(
    ("ours", "torch", "word", "wrong"),
    [
        (PLAIN, None, None, []),
        (GRAPH, None, None, []),
        (LEAF, None, None, ["outcome"]),
        (COPIED, None, None, ["outcome"]),
        (COPIED, COPIED, None, []),
        (COPIED, WRONG, None, []),
        (WRONG, COPIED, None, ["outcome"]),
        (COPIED, COPIED, "fewer_breaks", []),
        (COPIED, COPIED, "torch_differs", ["outcome"]),
    ],
)
def test_what_torch_shows_too_does_not_count(
    ours: str, torch: str | None, word: str | None, wrong: list[str]
) -> None:
    texts = {"plain": PLAIN, "ours": ours} | ({"torch": torch} if torch else {})
    records = {way: Record([CallRecord(outcome=text)]) for way, text in texts.items()}
    listed = Listed(Path("file.py"), "name", ("I1",), word, "why" if word else "")
    assert judge_rewriting(listed, records).wrong == wrong
