"""Programs that train, write into tensors or switch gradients, compiled with `tracer_aot`: as in plain Python.

pytest runs every other one; `python -m tests.conformance --backend tracer_aot` runs all programs.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conformance.compare import explain
from tests.conformance.pool import Runner, Workers
from tests.conformance.program import Listed, Program, list_programs
from tests.conformance.rewriting import ask_rewriting, is_comparable, judge_rewriting
from tests.conformance.ways import OURS

FILES = {
    "autograd", "autograd_functions", "checkpointing", "gradients_read", "reads_between_writes", "tensor_memory",
    "training_steps", "with_grad_modes",
}  # fmt: skip
# It takes a second derivative, which is refused.
REFUSED = "autograd_functions.gradient_by_keywords"


def file_of(program: Program) -> str:
    return Path(program.fn.__code__.co_filename).stem


CHOSEN = [
    each
    for each in list_programs(where=lambda program: file_of(program) in FILES and is_comparable(program))
    if each.id != REFUSED
][::2]


@pytest.fixture(scope="module")
def runner(workers: Workers) -> Runner:
    return Runner(workers, backend=OURS)


@pytest.mark.parametrize("program", [pytest.param(each, id=each.id) for each in CHOSEN])
def test_program(program: Listed, runner: Runner) -> None:
    records = ask_rewriting(runner, program)
    assert judge_rewriting(program, records).agrees, "\n".join(explain(records))
