"""Trying changes stops between two of them, and at Ctrl-C anywhere; nothing of the program is left changed."""

from __future__ import annotations

import random
import signal
from types import CodeType
from typing import Any

import pytest
import torch
from torch._C._dynamo import eval_frame

import tracewalk as tw
from tests.fixes import programs
from tests.frame_eval.interrupting import interrupted, places

X = torch.ones(3)


def recorded() -> tw.Trace:
    with tw.record() as trace:
        for x in (X, -X):
            programs.counts(x)
            programs.branch(x)
    return trace


def state() -> Any:
    """What repeating calls changes meanwhile."""
    return (
        dict(vars(programs)),
        dict(programs.COUNT),
        programs.branch.__code__,
        torch.get_rng_state().tolist(),
        random.getstate(),
        torch.is_grad_enabled(),
        eval_frame.get_eval_frame_callback(),
    )


def test_the_state_is_told_before_each_change_and_at_the_end() -> None:
    trace = recorded()
    states = []
    for so_far in trace.trying():
        states.append((so_far.done, so_far.total, so_far.next))
        tried = [one.name for problem in so_far.fixes.problems for one in problem.tried]
        assert len(tried) == so_far.done
    assert states[0][1:] == (0, "the calls as plain Python")
    total = states[-2][1]
    assert [done for done, _, _ in states[2:-1]] == list(range(total))
    assert states[-1] == (total, total, None)
    assert str(so_far.fixes) == str(trace.try_fixes())


def test_what_was_tried_before_a_stop_is_kept_and_the_program_is_as_it_was() -> None:
    trace = recorded()
    before = state()
    trying = trace.trying()
    for so_far in trying:
        assert state() == before, "the program may go on here"
        if so_far.done == 1:
            break
    trying.close()
    assert state() == before
    (problem, *_) = so_far.fixes.problems
    assert len(problem.tried) == 1
    assert so_far.fixes.problems[-1].text == "Not all changes were tried for it."


def test_ctrl_c_anywhere_leaves_the_program_as_it_was(ctrl_c: None) -> None:
    def repeats(code: CodeType) -> bool:
        return code.co_filename.endswith("tracer_core/fixes/repeating.py")

    trace = recorded()
    trace.try_fixes()
    found = list(places(trace.try_fixes, repeats))
    assert len(found) > 30
    before = state()
    for place in random.Random(1).sample(found, 16):
        with pytest.raises(KeyboardInterrupt):
            interrupted(trace.try_fixes, place, signal.SIGINT)
        assert state() == before, f"{place[0].co_qualname}, {place[1]}"
    assert trace.try_fixes().before is not None
