"""The object people hold: indexing, questions, tables, text."""

from __future__ import annotations

import builtins
from typing import Any

import pytest

from tests.recording.synthetic import example
from tracer_core.recording import Trace
from tracer_core.recording.recorder import Recorder
from tracer_core.recording.tables import TABLES


@pytest.fixture(scope="module")
def trace() -> Trace:
    return Trace(example())


def test_steps_are_a_sequence(trace: Trace) -> None:
    assert len(trace.steps) == len(trace) == 451
    assert trace.steps[-1].index == 450
    assert [step.index for step in trace.steps[10:20:5]] == [10, 15]
    with pytest.raises(IndexError, match=r"There is no step 451; this recording has 451 \(from 0\)\."):
        trace.steps[451]


def test_find_meets_all_conditions(trace: Trace) -> None:
    assert {step.code.name for step in trace.find(line=3)} == {"layer"}
    found = trace.find(line=3, op="BINARY_OP")
    assert len(found) == 8
    assert all(step.opname == "BINARY_OP" for step in found)
    assert len(trace.find(line=3, op="BINARY_OP", attempts="last")) == 4


def test_find_by_node_guard_and_break(trace: Trace) -> None:
    node = next(one for one in trace.nodes if one.name == "matmul")
    assert [step.index for step in trace.find(node=node.id)] == [node.step]
    assert {step.instruction.arg for step in trace.find(guard="G['layer']")} == {"NULL + layer"}
    guard = next(one for one in trace.guards if one.source == "G['layer']")
    assert [step.index for step in trace.find(guard=guard.id)] == [guard.step]
    assert [step.index for step in trace.find(break_=0)] == [trace.breaks[0].step, trace.breaks[0].final_step]
    assert len(trace.find(break_=True)) == 4


def test_find_by_text(trace: Trace) -> None:
    assert {step.line for step in trace.find(text="nonlocal")} == set()
    assert {step.line for step in trace.find(text="count +=")} == {36}
    assert {step.opname for step in trace.find(text="'two'", op="LOAD_CONST")} == {"LOAD_CONST"}
    assert {step.opname for step in trace.find(text="branches on the value")} == {"POP_JUMP_FORWARD_IF_FALSE"}


def test_find_refuses_nothing_and_nonsense(trace: Trace) -> None:
    with pytest.raises(ValueError, match="Say what to find"):
        trace.find()
    with pytest.raises(ValueError, match='attempts must be "all" or "last"'):
        trace.find(line=1, attempts="first")


def test_at_line(trace: Trace) -> None:
    assert trace.at_line("model.py", 3)
    assert [s.index for s in trace.at_line("model.py", 3)] == [s.index for s in trace.at_line(None, 3)]
    assert trace.at_line("other.py", 3) == []


def test_steps_table(trace: Trace) -> None:
    frame = trace.to_dataframe()
    assert len(frame) == 451
    row = frame.iloc[30]
    assert (row.function, row.line, row.opname, row.arg, row.depth, row.nodes) == ("layer", 3, "BINARY_OP", "@", 1, 1)
    assert list(frame[frame.op == "BINARY_OP"].function.unique()) == [
        "layer",
        "__resume_at_74_model",
        "counted.<locals>.more",
    ]


def test_calls_table(trace: Trace) -> None:
    frame = trace.to_dataframe("calls")
    assert list(frame.outcome) == ["compiled"] * 4 + ["reused"] * 2 + ["compiled", "skipped"]
    assert frame.seen[2] == "x is f32[6, 8]"
    assert frame.first_failed[2] == "x is a Tensor f32[4, 8]"


@pytest.mark.parametrize("what", sorted(TABLES))
def test_all_tables_can_be_made(trace: Trace, what: str) -> None:
    assert len(trace.to_dataframe(what).columns) > 0 or what in ("side_effects", "notices", "bodies")


def test_unknown_table(trace: Trace) -> None:
    with pytest.raises(ValueError, match="There is no table 'stesp'; choose one of steps, calls"):
        trace.to_dataframe("stesp")


def test_without_pandas(trace: Trace, monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def refuse(name: str, *args: Any, **kwargs: Any) -> Any:
        if name == "pandas":
            raise ImportError("no pandas")
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", refuse)
    with pytest.raises(ImportError, match="to_dataframe needs pandas; run `pip install pandas`"):
        trace.to_dataframe()


def test_summary_tells_the_overview(trace: Trace) -> None:
    lines = str(trace).splitlines()
    assert lines[0] == ("Trace of the example: 5 graphs, breaks at 1 place, 2 recompilations.")
    at = lines.index("Breaks")
    assert lines[at + 1] == ("  model.py:20, in model: The code branches on the value of a tensor (total.sum() > 0).")
    assert lines[at + 2] == "      if total.sum() > 0:"
    assert lines[at + 3].startswith("    Try: Use torch.where")
    assert lines[at + 5].startswith("    Instead: The graph up to here was compiled")
    at = lines.index("  model.py:16: `x is a Tensor f32[4, 8]` did not hold in 1 call of model (2).")
    assert lines[at + 1] == "    It was compiled for `x is a Tensor f32[4, 8]`; then x is f32[6, 8]."
    assert "  model (model.py:16): 2 versions, 3 calls, 4 graphs, 40 ms to compile." in lines


def test_short_text(trace: Trace) -> None:
    assert repr(trace) == "<Trace 'the example': 451 steps, 5 graphs, 2 breaks>"
    assert repr(trace.steps[1]) == "<step 1: LOAD_FAST x in model, line 17>"


def test_a_trace_still_recording_says_so() -> None:
    trace = Trace()
    assert repr(trace) == "<Trace, still recording>"
    with pytest.raises(RuntimeError, match="still going on"):
        len(trace)
    trace.fill(example())
    assert len(trace) == 451
    with pytest.raises(ValueError, match="complete already"):
        trace.fill(example())


def test_an_empty_recording() -> None:
    trace = Trace(Recorder().finish())
    assert len(trace) == 0
    assert str(trace).startswith("Trace: Nothing was traced.")
    assert trace.find(line=1) == []
    with pytest.raises(IndexError):
        trace.steps[0]


def test_unknown_part_names_the_parts(trace: Trace) -> None:
    weights = trace.steps[0].locals["weights"]
    assert weights["[1]"].source == "L['weights'][1]"
    with pytest.raises(KeyError, match=r"List of 2 has no part '\[2\]'. Its parts: \[0\], \[1\]"):
        weights["[2]"]
