"""Programs with a back end that rewrites graphs: those that train, write into tensors or vary in their sizes.

pytest runs a sixth of them; `python -m tests.conformance --backend aot_eager` runs all programs.
"""

from __future__ import annotations

import inspect
import re
import zlib
from pathlib import Path

import pytest
import torch
from torch.utils._pytree import tree_leaves

from tests.conformance.compare import explain
from tests.conformance.pool import Runner, Workers
from tests.conformance.program import Listed, Program, list_programs
from tests.conformance.rewriting import ask_rewriting, is_comparable, judge_rewriting
from tests.conformance.ways import CallRecord, Record

CHANGES_MORE = re.compile(r"\w_\(|\.data\b|\bout=|backward\(|grad|rand|dropout")


def touched(program: Program) -> bool:
    """Whether a back end does more to it than to take operations one by one: it trains, writes into tensors, draws
    random numbers, or is called with other sizes and numbers."""
    calls = [tree_leaves((call.args, call.kwargs)) for call in program.make_calls()]
    trains = any(each.requires_grad for leaves in calls for each in leaves if isinstance(each, torch.Tensor))
    varies = len({tuple(map(size, leaves)) for leaves in calls}) > 1
    return trains or varies or CHANGES_MORE.search(inspect.getsource(program.fn)) is not None


def size(leaf: object) -> object:
    return tuple(leaf.shape) if isinstance(leaf, torch.Tensor) else leaf if isinstance(leaf, int | float) else None


def chosen(program: Program) -> bool:
    return zlib.crc32(program.name.encode()) % 6 == 0


PROGRAMS = list_programs(where=lambda program: chosen(program) and is_comparable(program) and touched(program))


@pytest.fixture(scope="module")
def runner(workers: Workers) -> Runner:
    return Runner(workers, backend="aot_eager")


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
