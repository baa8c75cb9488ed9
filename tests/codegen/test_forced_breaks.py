"""Whatever instruction a graph ends at, the program does what plain Python does."""

from __future__ import annotations

from types import CodeType
from typing import Any

import pytest

from tests.codegen.forced import Forced, outcome, steps_of, traced
from tests.codegen.forced_programs import PROGRAMS, arguments_of
from tracer_core.codegen.resume.functions import origin_of

MOST_STEPS = 400


def _is_original(fn: Any) -> Any:
    return lambda code: code is fn.__code__


def _is_resume_of(fn: Any) -> Any:
    def applies(code: CodeType) -> bool:
        origin = origin_of(code)
        return origin is not None and origin[0] is fn.__code__

    return applies


@pytest.mark.row("O6", "I1", "I14")
@pytest.mark.parametrize("fn", PROGRAMS, ids=lambda fn: fn.__name__)
def test_a_break_at_each_instruction(fn: Any) -> None:
    expected = outcome(fn, arguments_of(fn))
    applies = _is_original(fn)
    steps = steps_of(fn, arguments_of(fn), applies)
    assert 5 < steps < MOST_STEPS
    wrong = []
    for at in range(steps):
        forced = Forced(at, applies)
        seen = traced(fn, arguments_of(fn), forced)
        assert forced.frames == 1, at
        if seen != expected:
            wrong.append((at, seen))
    assert wrong == [], f"plain Python gives {expected}"


@pytest.mark.row("O6", "I14")
@pytest.mark.parametrize("fn", PROGRAMS[::2], ids=lambda fn: fn.__name__)
def test_breaks_at_the_same_instruction_of_all_its_frames(fn: Any) -> None:
    """The function breaks at its n-th instruction, its resume function at its own n-th, and so on."""
    expected = outcome(fn, arguments_of(fn))
    original, resume = _is_original(fn), _is_resume_of(fn)
    wrong = []
    for at in (0, 1, 2, 3, 4, 6, 9, 13, 18):
        seen = traced(fn, arguments_of(fn), Forced(at, lambda code: original(code) or resume(code)))
        if seen != expected:
            wrong.append((at, seen))
    assert wrong == [], f"plain Python gives {expected}"
