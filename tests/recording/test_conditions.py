"""Conditions on steps: what they find is what the program does, by its lines and by plain Python."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import tracewalk as tw
from tests.recording import synthetic
from tracer_core.recording import ConditionError, Recorder, Step

EXAMPLES = "write one such as `step.line == 12`, `changes(x.shape)` or `the shape of x changes`."


class Net(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.steps = 0

    def forward(self, x: torch.Tensor, kept: list[torch.Tensor]) -> torch.Tensor:
        self.steps += 1  # line + 1
        for _ in range(2):
            x = x.relu()  # line + 3
        kept.append(x)  # line + 4
        if self.steps % 2:  # line + 5
            x = x[:2]  # line + 6
        y = x * kept[0].sum()  # line + 7
        return y.reshape(-1)  # line + 8


FORWARD = Net.forward.__code__.co_firstlineno


@pytest.fixture(scope="module")
def trace() -> tw.Trace:
    return tw.trace(Net(), torch.ones(3, 4), [])


def lines(trace: tw.Trace, condition: str) -> list[int | None]:
    """The lines of the steps of `forward` that meet a condition, counted from its own."""
    found = [step for step in trace.steps.where(condition) if step.code.name == "forward"]
    return [None if step.line is None else step.line - FORWARD for step in found]


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("the shape of `x` changes", [6]),
        ("changes(x.shape)", [6]),
        ("x changes", [3, 3, 6]),
        ("where self.steps is read", [1, 5]),
        ("self.steps is written", [1]),
        ("changes(self.steps)", [1]),
        ("changes(kept)", [4]),
        ("changes(len(kept))", [4]),
        ("reads(kept[0])", [7]),
        ("reads(kept)", [4, 7]),
        ("y is set", [7]),
        ("node.target == 'relu'", [3, 3]),
        ("node and x.shape == (2, 4)", [7, 7, 8]),
        ("x.shape[0] == 2 and step.op == 'RETURN_VALUE'", [8]),
        ("'append' in step.source and 'CALL' in step.op", [4]),
        ("len(kept) == 1 and step.op == 'BINARY_SUBSCR'", [6, 7]),
        ("self.steps == 1 and writes(x)", [3, 3, 6]),
        ("node.dtype == 'float32' and not (frame.depth > 0) and node.shape == (8,)", [8]),
    ],
)
def test_conditions_find_the_lines_that_do_it(trace: tw.Trace, condition: str, expected: list[int]) -> None:
    assert lines(trace, condition) == expected


def test_anything_else_is_no_condition(trace: tw.Trace) -> None:
    with pytest.raises(TypeError, match="A condition is a text, or a function of a step, not int."):
        trace.steps.where(5)  # type: ignore[arg-type]


def test_found_steps_print_as_sentences(trace: tw.Trace) -> None:
    relus = trace.steps.where("node.target == 'relu'")
    assert repr(relus[:1]) == "<1 step>"
    assert str(relus) == "\n".join(f"{step.index}. {step.sentence}" for step in relus)
    assert str(trace.steps).splitlines()[-1] == f"... and {len(trace) - 20} other steps"
    assert str(trace.steps[:0]) == "No steps."


def test_a_function_is_a_condition_too(trace: tw.Trace) -> None:
    by_text = [step.index for step in trace.steps.where(f"step.line == {FORWARD + 7}")]
    assert by_text == [step.index for step in trace.steps.where(lambda step: step.line == FORWARD + 7)]


ATOMS: list[tuple[str, Callable[[Step], bool]]] = [
    (f"step.line == {FORWARD + 3}", lambda step: step.line == FORWARD + 3),
    ("step.op == 'CALL'", lambda step: step.opname == "CALL"),
    ("step % 3 == 1", lambda step: step.index % 3 == 1),
    ("frame.depth > 0", lambda step: step.depth > 0),
    ("node", lambda step: bool(step.nodes)),
    ("self.steps == 1", lambda step: "self" in step.locals and step.index in _after_writing(step)),
]
Tree = tuple[str, Callable[[Step], bool]]


def _after_writing(step: Step) -> range:
    """The steps of a frame after its own assignment of `self.steps`."""
    attempt = step.attempt
    written = [s for s in range(attempt.first_step, step.index) if step._index.steps.frame[s] == step.frame.id]
    codes = step.code.instructions
    stores = [s for s in written if codes[step._index.steps.instruction[s]].opname == "STORE_ATTR"]
    return range(stores[0] + 1, attempt.last_step + 1) if stores else range(0)


def _combined(parts: st.SearchStrategy[Tree]) -> st.SearchStrategy[Tree]:
    both = st.tuples(parts, parts)
    return st.one_of(
        parts.map(lambda one: (f"not ({one[0]})", lambda step: not one[1](step))),
        both.map(lambda two: (f"({two[0][0]}) and ({two[1][0]})", lambda step: two[0][1](step) and two[1][1](step))),
        both.map(lambda two: (f"({two[0][0]}) or ({two[1][0]})", lambda step: two[0][1](step) or two[1][1](step))),
    )


@given(tree=st.recursive(st.sampled_from(ATOMS), _combined, max_leaves=4))
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_combined_conditions_hold_where_their_parts_do(trace: tw.Trace, tree: Tree) -> None:
    condition, expected = tree
    own = trace.steps.where("frame == 'forward' and frame.depth == 0")
    assert [step.index for step in own.where(condition)] == [step.index for step in own if expected(step)]


def counter(x: torch.Tensor) -> torch.Tensor:
    count = 0

    def more(by: int) -> torch.Tensor:
        nonlocal count
        count += by
        return x + count

    return more(1) + more(2)


def test_a_variable_of_a_closure_changes_where_any_function_binds_it() -> None:
    recorded = tw.trace(counter, torch.ones(2))
    first = counter.__code__.co_firstlineno
    changed = recorded.steps.where("changes(count)")
    assert {step.line - first for step in changed if step.line is not None} >= {1, 5}


def test_forward_and_back(trace: tw.Trace) -> None:
    all_steps = [step.index for step in trace.steps.where("changes(x)")]
    first, second = all_steps[:2]
    assert trace.steps[first + 1 :].where("changes(x)")[0].index == second
    assert trace.steps[:second].where("changes(x)")[-1].index == first


def test_a_lazy_value_knows_the_steps_that_changed_what_it_became(trace: tw.Trace) -> None:
    (appended,) = trace.steps.where("changes(kept)")
    kept = appended.locals["kept"]
    assert kept.kind == "lazy value"
    assert trace.index.changed(trace.index.trackers.first(kept.id)) == [appended.index]


def test_a_value_is_named_by_its_number(trace: tw.Trace) -> None:
    (appended,) = trace.steps.where("changes(kept)")
    value = appended.stack[-2]["self"]
    assert value.text == "list of 0"
    assert [step.index for step in trace.steps.where(f"changes(value({value.id}))")] == [appended.index]


@pytest.mark.parametrize(
    ("condition", "message"),
    [
        ("", f"A condition is missing: {EXAMPLES}"),
        ("x ==", f"`x ==` is not a condition, its syntax is wrong: {EXAMPLES}"),
        ("lin == 3", "No function in this recording has a variable `lin` (did you mean `step.line`?)."),
        ("reads(nothing_like_it)", "No function in this recording has a variable `nothing_like_it`."),
        (
            "step.lime == 3",
            "`step` has no `lime` (did you mean `line`?); it has number, line, op, arg, source, raised.",
        ),
        ("changes(step.line)", "`changes(step.line)` is about no value; write `changes(x)` or `changes(x.shape)`."),
        ("changes(x, y)", "`changes` takes one argument, as in `changes(x)`."),
        ("reads(3)", "`reads(3)` names no variable, attribute or item."),
        ("x[y]", "`x[y]` has an index that is neither a number nor a text."),
    ],
)
def test_a_wrong_condition_says_what_is_wrong(trace: tw.Trace, condition: str, message: str) -> None:
    with pytest.raises(ConditionError) as error:
        trace.steps.where(condition)
    assert str(error.value) == message


@pytest.mark.parametrize(
    "condition", ["__import__('os')", "x.__class__()", "(lambda: 1)()", "[1 for _ in step]", "f'{x}'", "x ** 9"]
)
def test_conditions_run_no_code(trace: tw.Trace, condition: str) -> None:
    with pytest.raises(ConditionError, match="cannot be part of a condition"):
        trace.steps.where(condition)


def test_what_was_not_recorded_compares_with_nothing(trace: tw.Trace) -> None:
    for condition in ("y == 1", "y != 1", "x.unheard > 1", "x > 3", "y.shape < 3", "x[99] == 1"):
        assert not [s for s in trace.steps.where(condition) if "y" not in s.locals and condition.startswith("y")]
        assert not trace.steps.where(f"({condition}) and step.number < 0")


def test_long_recordings_are_searched_in_seconds() -> None:
    recorder = Recorder("a long run")
    synthetic.long_events(recorder, 50_000)
    trace = tw.Trace(recorder.finish())
    begun = time.perf_counter()
    assert trace.steps.where("changes(total)")
    assert trace.steps.where("step.op == 'CALL'")
    assert time.perf_counter() - begun < 20, "10 times what it takes"
