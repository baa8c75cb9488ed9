"""The recorder against a naive observer that copies everything, and against values written by hand."""

from __future__ import annotations

from typing import Any

import pytest

from tests.recording.naive import Both, Naive
from tests.recording.seen import LINES, seen_view
from tests.recording.synthetic import example_events
from tracer_core.recording import Trace
from tracer_core.recording.recorder import Recorder


@pytest.fixture(scope="module")
def run() -> tuple[Trace, Naive]:
    recorder, naive = Recorder("the example"), Naive()
    example_events(Both(recorder, naive))
    return Trace(recorder.finish()), naive


@pytest.fixture(scope="module")
def trace(run: tuple[Trace, Naive]) -> Trace:
    return run[0]


def test_every_step_before_and_after_as_plain_copies_have_it(run: tuple[Trace, Naive]) -> None:
    trace, naive = run
    assert len(trace) == len(naive.before)
    for step in trace.steps:
        assert seen_view(step.before) == naive.before[step.index], step
        assert seen_view(step.after) == naive.after[step.index], step
        assert step.opname == naive.opnames[step.index]
        assert naive.lines[step.index] in (None, step.line)


def test_outer_frames_are_shown_as_they_are_at_an_inner_step(run: tuple[Trace, Naive]) -> None:
    trace, naive = run
    step = trace.find(function="layer", op="BINARY_OP")[0]
    outer, inner = step.frames
    assert (outer.code.name, inner.code.name) == ("model", "layer")
    assert outer.line == LINES["model"] + 3
    assert seen_view(outer.view)[0] == naive.before[outer.step][0]
    assert trace.steps[outer.step].opname == "CALL"


def test_attempts_compilations_and_calls(trace: Trace) -> None:
    def named(record: Any) -> str:
        return trace.codes[record.code].name

    assert [(named(c), c.version, c.outcome, len(c.attempts)) for c in trace.compilations] == [
        ("model", 1, "compiled", 2),
        ("__resume_at_74_model", 1, "compiled", 1),
        ("model", 2, "compiled", 2),
        ("__resume_at_74_model", 2, "compiled", 1),
        ("counted", 1, "compiled", 1),
    ]
    assert [a.outcome for a in trace.attempts] == ["restarted", *["compiled"] * 2, "restarted", *["compiled"] * 3]
    assert [(named(c), c.number, c.outcome, c.version, c.compilation) for c in trace.calls] == [
        ("model", 1, "compiled", 1, 0),
        ("__resume_at_74_model", 1, "compiled", 1, 1),
        ("model", 2, "compiled", 2, 2),
        ("__resume_at_74_model", 2, "compiled", 2, 3),
        ("model", 3, "reused", 2, None),
        ("__resume_at_74_model", 3, "reused", 2, None),
        ("counted", 1, "compiled", 1, 4),
        ("logger", 1, "skipped", None, None),
    ]
    third = trace.calls[4]
    assert [(check.version, check.reused, check.seen) for check in third.checks] == [
        (1, False, "x is f32[6, 8]"),
        (2, True, ""),
    ]
    failed = trace.guards[third.checks[0].failed or 0]
    assert failed.text == third.checks[0].text == "x is a Tensor f32[4, 8]"
    assert failed.attempt == 1  # of the attempt that was compiled, not of the restarted one
    assert trace.calls[-1].message == "The function takes and makes no tensors."


def test_steps_of_attempts_follow_each_other(trace: Trace) -> None:
    at = 0
    for attempt in trace.attempts:
        assert attempt.first_step == at
        at = attempt.last_step + 1
    assert at == len(trace)


def test_breaks_say_where_why_and_what_instead(trace: Trace) -> None:
    first, second = trace.breaks
    assert first.reason_id == "tensor-branch"
    assert first.message == "The code branches on the value of a tensor (total.sum() > 0)."
    assert (trace.codes[first.code].name, first.line) == ("model", LINES["model"] + 4)
    assert (trace.codes[first.root_code].name, first.root_line) == ("model", LINES["model"] + 4)
    assert "torch.where" in first.hints[0]
    assert [trace.codes[code].name for code in first.resumes] == ["__resume_at_74_model"]
    assert first.action.endswith("and the rest of the function (__resume_at_74_model) is traced separately.")
    assert first.step == trace.attempts[0].last_step
    assert first.final_step == trace.attempts[1].last_step
    assert trace.steps[first.step].break_ is first
    assert trace.steps[first.final_step].break_ is first
    assert not trace.steps[first.step].ended
    assert second.attempt == 3


def test_resume_functions_point_into_what_they_go_on_with(trace: Trace) -> None:
    resume = next(code for code in trace.codes if code.name == "__resume_at_74_model")
    assert resume.kind == "resume"
    assert resume.resumes is not None
    assert resume.resumes_at is not None
    assert trace.codes[resume.resumes].name == "model"
    assert trace.codes[resume.resumes].instructions[resume.resumes_at].op == "POP_JUMP_IF_FALSE"


def test_guards_know_the_step_and_line_that_asked(trace: Trace) -> None:
    guard = next(one for one in trace.guards if one.source == "G['layer']")
    assert guard.step is not None
    step = trace.steps[guard.step]
    assert (step.opname, step.instruction.arg) == ("LOAD_GLOBAL", "NULL + layer")
    assert (guard.code, guard.line) == (step.code.id, LINES["model"] + 3)
    assert step.guards == [guard]
    item = next(one for one in trace.guards if one.source == "L['weights'][0]")
    assert item.path == ["L['weights']", "L['weights'][0]"]
    assert item.step is None


def test_nodes_by_step_with_what_is_known_of_them(trace: Trace) -> None:
    step = trace.find(function="layer", op="BINARY_OP")[0]
    (node,) = step.nodes
    assert (node.name, node.op, node.target) == ("matmul", "call_function", "operator.matmul")
    assert [trace.nodes[number].name for number in node.inputs] == ["L__x__", "L__weights___0_"]
    assert [(fake.dtype, fake.shape, fake.stride) for fake in node.fakes] == [("float32", ["4", "8"], ["8", "1"])]
    placeholder = trace.nodes[node.inputs[0]]
    assert (placeholder.op, placeholder.source, placeholder.step) == ("placeholder", "L['x']", None)


def test_graphs_hold_their_nodes_in_final_order_and_only_output_was_not_reported(trace: Trace) -> None:
    graph = trace.graphs[0]
    assert [trace.nodes[number].name for number in graph.nodes] == [
        *(
            "L__x__",
            "L__weights___0_",
            "L__weights___1_",
            "matmul",
            "mul",
            "matmul_1",
            "mul_1",
            "sum",
            "gt",
            "output",
        ),
    ]
    assert graph.name == "__graph_model_1"
    assert graph.code.startswith("def forward(self):")
    assert trace.compilations[0].graph == graph.id


def test_symbols_have_their_hint_and_reach_the_shapes(trace: Trace) -> None:
    assert [(one.attempt, one.name, one.hint, one.meaning) for one in trace.symbols] == [
        (3, "s0", "6", "x.size(0)"),
        (4, "s0", "6", "x.size(0)"),
        (5, "s0", "6", "total.size(0)"),
    ]
    step = trace.find(function="layer", op="BINARY_OP", node="matmul")[-1]
    fake = step.nodes[0].fakes[0]
    assert (fake.shape, fake.hints) == (["s0", "8"], {"s0": "6"})


def test_exceptions_handled_inside(trace: Trace) -> None:
    step = trace.find(function="number", op="CALL")[0]
    assert not step.ended
    assert step.raised is not None
    assert step.raised.text == "ValueError(\"invalid literal for int() with base 10: 'two'\")"
    after = trace.steps[step.index + 1]
    assert after.opname == "PUSH_EXC_INFO"
    assert [value.py_type for value in after.stack] == ["ValueError"]


def test_changes_are_seen_from_the_step_that_made_them(trace: Trace) -> None:
    call = next(step for step in trace.find(function="layer", op="CALL"))
    before = call.locals["kept"]
    assert before.text == "List of 1"
    assert call.after is not None
    assert call.after.locals["kept"].text == "List of 2"
    assert before == call.after.locals["kept"]
    assert before["[0]"].text == "Tensor f32[4, 8]"
    made_by = before.made_by
    assert made_by is not None
    assert trace.steps[made_by].opname == "BUILD_LIST"
    names = [trace.steps[step].opname for step in before.history]
    assert names == ["BUILD_LIST", "STORE_FAST", "LOAD_FAST", "LOAD_METHOD", "CALL", "LOAD_FAST", "BINARY_SUBSCR"]


def test_cells_show_what_inner_functions_put_there(trace: Trace) -> None:
    returned = trace.find(function="counted", op="RETURN_VALUE")[0]
    assert returned.cells["count"]["contents"].text == "Constant 3"
    first = trace.find(function="counted", op="STORE_DEREF")[0]
    assert first.cells["count"].parts == []
    assert first.after is not None
    assert first.after.cells["count"]["contents"].text == "Constant 0"


def test_source_text_starts_at_the_first_line(trace: Trace) -> None:
    layer = next(code for code in trace.codes if code.name == "layer")
    assert layer.first_line == 1
    assert layer.source.splitlines()[0] == "def layer(x, weight, scale):"
    assert layer.source.splitlines()[-1] == "    return kept[0] * scale"
    assert layer.filename == "model.py"


def test_generated_code_is_kept_with_its_instructions(trace: Trace) -> None:
    generated = trace.generated[0]
    code = trace.codes[generated.code]
    assert code.kind == "generated"
    assert "LOAD_NAME" in [one.opname for one in code.instructions]
    assert generated.listing == "def model():\n    return __graph_model_1()\n"
    assert trace.compilations[0].generated == generated.id


def test_handlers_by_step(trace: Trace) -> None:
    append = next(step for step in trace.find(function="layer", op="CALL"))
    assert append.handlers == ["list_append"]
    assert trace.steps[0].handlers == []


def test_values_know_their_guards(trace: Trace) -> None:
    value = trace.steps[0].locals["x"]
    assert [guard.text for guard in value.guards] == ["x is a Tensor f32[4, 8]"]
    assert value.made_by is None
    assert value.node is not None
    assert value.node.name == "L__x__"
