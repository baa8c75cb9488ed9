"""Our make_fx gives torch's graphs: of functions written for it, of models, and of a part of torch's operators.

`python -m tests.proxy_tensor` compares all in each setting, all operators, with more samples, and whole models.
Here, to be quick, functions are compared in symbolic mode and in one of the other settings in turn, operators in one
setting with decompositions and one without, two models in symbolic mode: a training step of GPT-2, and T5 forward.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator

import pytest

from tests.proxy_tensor.accepted import ACCEPTED
from tests.proxy_tensor.cases import FUNCTIONS, SETTINGS
from tests.proxy_tensor.judging import judge
from tests.proxy_tensor.units import compare, listed

OPERATORS_IN_CI = 60
EVERY_OPERATOR = listed(["operators"], [])
OPERATORS = [EVERY_OPERATOR[i * len(EVERY_OPERATOR) // OPERATORS_IN_CI] for i in range(OPERATORS_IN_CI)]
REAL, FAKE, SYMBOLIC, REAL_DECOMPOSED, FAKE_DECOMPOSED, SYMBOLIC_DECOMPOSED = SETTINGS
OTHERS = (REAL, FAKE, REAL_DECOMPOSED, FAKE_DECOMPOSED, SYMBOLIC_DECOMPOSED)
PAIRS = ((REAL, SYMBOLIC_DECOMPOSED), (FAKE, REAL_DECOMPOSED), (SYMBOLIC, FAKE_DECOMPOSED))


@pytest.fixture(autouse=True)
def no_logs_of_fake_kernels(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """Fake kernels log what they then raise."""
    with caplog.at_level(logging.CRITICAL, logger="torch._subclasses"):
        yield


def check(unit: str, *args: object, **options: object) -> None:
    report = compare(unit, *args, **options)  # type: ignore[arg-type]
    assert not report.lost
    assert report.compared
    verdict = judge([report], ACCEPTED, [unit])
    assert not verdict.open, "\n".join(f"{found.case} ({found.setting}): {found.text}" for found in verdict.open)


@pytest.mark.row("P1", "P3", "P4", "P5", "P6", "P8", "P10", "P11")
@pytest.mark.parametrize(("name", "turn"), [(name, turn) for turn, name in enumerate(FUNCTIONS)], ids=[*FUNCTIONS])
def test_function(name: str, turn: int) -> None:
    check(f"functions.{name}", settings=(SYMBOLIC, OTHERS[turn % len(OTHERS)]))


@pytest.mark.row("P1", "P4", "P5", "P6")
@pytest.mark.parametrize(("unit", "turn"), [(unit, turn) for turn, unit in enumerate(OPERATORS)], ids=OPERATORS)
def test_operator(unit: str, turn: int) -> None:
    check(unit, samples=1, settings=PAIRS[turn % len(PAIRS)])


@pytest.mark.row("P1", "P7")
@pytest.mark.parametrize("name", ["gpt2", "t5"])
def test_model_of_one_layer(name: str) -> None:
    part = "forward" if name == "t5" else "backward"
    check(f"models.{name}.{part}", layers=1, settings=(SYMBOLIC,))
