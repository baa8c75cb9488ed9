"""The recorder on work that the example does not have: turns, faults, odd values, texts, garbage."""

from __future__ import annotations

import gc
import weakref
from types import SimpleNamespace
from typing import Any

import pytest

from tests.recording.naive import Both, Naive, picture
from tests.recording.seen import LINES, seen_view
from tests.recording.synthetic import Engine, Frame, Walk, example_events, functions
from tests.recording.synthetic_values import ConstantVariable, Fake, Graph, ListVariable, Source, VariableTracker
from tracer_core.bytecode import Instruction
from tracer_core.recording import Trace, codes, schema
from tracer_core.recording.recorder import Recorder
from tracer_core.recording.steps import Value
from tracer_core.variables.core import base, constant, tensors


def start(recorder: Recorder, name: str = "layer") -> tuple[Frame, list[Any]]:
    code = functions()[name].__code__
    recorder.on_compile_start(code, 1)
    frame = Frame(code, {}, None)
    recorder.on_attempt_start(frame, 1)
    recorder.on_frame_enter(frame)
    return frame, frame.program.instructions


def test_a_compilation_inside_a_step_leaves_the_outer_one_as_it_was() -> None:
    recorder, naive = Recorder(), Naive()
    tell = Both(recorder, naive)
    code = functions()["layer"].__code__
    tell.on_call(code)
    tell.on_compile_start(code, 1)
    outer = Frame(code, {"x": ConstantVariable(1)}, None)
    tell.on_attempt_start(outer, 1)
    tell.on_frame_enter(outer)
    instructions = outer.program.instructions
    for at in range(70):
        tell.on_step_start(outer, instructions[at % 3])
        outer.stack.append(ConstantVariable(at))
        tell.on_step_end(outer, instructions[at % 3])
    tell.on_step_start(outer, instructions[0])
    Engine(tell).call("counted", {"x": Fake(3)}, ())
    outer.stack.append(ConstantVariable("made by the outer step"))
    recorder.on_guard(SimpleNamespace(source=Source("L['late']"), kind="late", text="late", where=None))
    tell.on_step_end(outer, instructions[0])
    tell.on_step_start(outer, instructions[1])
    tell.on_step_end(outer, instructions[1])
    tell.on_frame_exit(outer, ConstantVariable(None))
    tell.on_attempt_end("compiled", "")
    tell.on_compile_end("compiled", 1.0)
    trace = Trace(recorder.finish())
    for step in trace.steps:
        assert seen_view(step.before) == naive.before[step.index]
        assert seen_view(step.after) == naive.after[step.index]
    assert [c.during_step for c in trace.compilations] == [None, 70]
    assert [(trace.codes[c.code].name, c.outcome, c.compilation) for c in trace.calls] == [
        ("layer", "compiled", 0),
        ("counted", "compiled", 1),
    ]
    assert trace.steps[70].after is not None
    assert trace.steps[70].after.stack[-1].text == "Constant 'made by the outer step'"
    assert trace.guards[-1].step == 70
    assert trace.guards[-1].attempt == 0
    assert [a.compilation for a in trace.attempts] == [0, 1]


def test_frames_that_take_turns() -> None:
    recorder, naive = Recorder(), Naive()
    tell = Both(recorder, naive)
    outer, instructions = start(recorder)
    inner = Frame(functions()["number"].__code__, {}, outer)
    plan = [outer, inner, outer, inner, inner, outer, outer]
    for number, frame in enumerate(plan):
        tell.on_step_start(frame, frame.program.instructions[0])
        frame.stack.append(ConstantVariable(number))
        tell.on_step_end(frame, frame.program.instructions[0])
    recorder.on_frame_exit(outer, ConstantVariable(None))
    recorder.on_attempt_end("compiled", "")
    recorder.on_compile_end("compiled", 0.0)
    trace = Trace(recorder.finish())
    for step in trace.steps:
        assert seen_view(step.before) == naive.before[step.index]
    following = {0: 2, 2: 5, 5: 6, 1: 3, 3: 4}
    for step, after in following.items():
        assert seen_view(trace.steps[step].after) == naive.before[after]
    assert [value.text for value in trace.steps[6].after.stack] == [f"Constant {i}" for i in (0, 2, 5, 6)]


def test_an_exception_that_leaves_frames_ends_none_of_their_steps() -> None:
    recorder = Recorder()
    outer, instructions = start(recorder)
    recorder.on_step_start(outer, instructions[0])
    inner = Frame(functions()["number"].__code__, {}, outer)
    recorder.on_frame_enter(inner)
    recorder.on_step_start(inner, inner.program.instructions[0])
    error = ConstantVariable("error")
    recorder.on_raise(inner, inner.program.instructions[0], error)
    recorder.on_frame_exit(inner, None)
    recorder.on_raise(outer, instructions[0], error)
    recorder.on_step_start(outer, instructions[1])
    recorder.on_frame_exit(outer, ConstantVariable(None))
    trace = Trace(recorder.finish())
    assert [step.ended for step in trace.steps] == [False, False, True]
    assert [raised.step for raised in trace.data.raised] == [0, 1]
    assert trace.frames[1].call_step == 0
    assert (trace.frames[0].last_step, trace.frames[0].end_step) == (2, 2)


def test_the_instructions_of_a_code_are_computed_once_for_all_recordings(monkeypatch: pytest.MonkeyPatch) -> None:
    def record() -> list[schema.Instr]:
        recorder = Recorder()
        start(recorder)
        return Trace(recorder.finish()).codes[0].instructions

    first = record()
    monkeypatch.setattr(codes, "instr", None)
    again = record()
    assert again == first
    assert again is not first  # each recording adds the instructions that the engine synthesizes


def test_a_tracker_has_nothing_that_its_class_cannot_have() -> None:
    class Plain(base.VariableTracker):
        pass

    assert Plain.may_have == frozenset()
    assert tensors.TensorVariable.may_have == {"describe", "node", "fake"}
    assert constant.ConstantVariable.may_have == {"describe", "literal"}


def test_work_that_never_ended_is_a_fault_and_can_be_read() -> None:
    recorder = Recorder()
    frame, instructions = start(recorder)
    recorder.on_step_start(frame, instructions[0])
    recorder.on_fault("Traceback ...\nKeyError: 'x'")
    trace = Trace(recorder.finish())
    assert [c.outcome for c in trace.compilations] == ["fault"]
    assert [a.outcome for a in trace.attempts] == ["fault"]
    assert (trace.faults[0].step, trace.faults[0].attempt) == (0, 0)
    assert "KeyError: 'x'" in str(trace)


def test_events_outside_of_any_compilation_do_no_harm() -> None:
    recorder = Recorder()
    frame = Frame(functions()["layer"].__code__, {}, None)
    instruction = frame.program.instructions[0]
    recorder.on_attempt_start(frame, 1)
    recorder.on_frame_enter(frame)
    recorder.on_step_start(frame, instruction)
    recorder.on_step_end(frame, instruction)
    recorder.on_frame_exit(frame, None)
    recorder.on_break(SimpleNamespace(), frame, instruction)
    recorder.on_dispatch("nothing")
    recorder.on_attempt_end("compiled", "")
    recorder.on_compile_end("compiled", 0.0)
    assert len(Trace(recorder.finish())) == 0


class Odd(VariableTracker):
    """A tracker for an object of the user's that answers nothing."""

    kind = "user object"

    def python_type_name(self) -> str:
        raise RuntimeError("no name")

    def describe(self) -> str:
        raise RuntimeError("no text")

    def parts(self) -> list[tuple[str, VariableTracker]]:
        raise RuntimeError("no parts")


class Loud(VariableTracker):
    kind = "user object"

    def describe(self) -> str:
        return "\x1b[31mred\x07 \ud800 \u202e" + "long" * 100


def record_one(tracker: Any) -> Value:
    recorder = Recorder()
    frame, instructions = start(recorder)
    frame.stack.append(tracker)
    recorder.on_step_start(frame, instructions[0])
    return Trace(recorder.finish()).steps[0].stack[0]


def test_objects_that_cannot_be_described_are_named_by_their_kind() -> None:
    value = record_one(Odd())
    assert (value.text, value.cls, value.parts) == (f"a {Odd.kind}", "Odd", [])


def test_texts_are_cut_and_made_harmless() -> None:
    text = record_one(Loud()).text
    assert len(text) == 200
    assert text.startswith("\\x1b[31mred\\x07 \\ud800 \\u202elong")
    assert text.isprintable()


def test_long_lists_keep_their_first_parts_and_say_how_many_more() -> None:
    value = record_one(ListVariable([ConstantVariable(i) for i in range(1000)]))
    assert len(value.parts) == 200
    assert value.more == 800
    assert value["[199]"].text == "Constant 199"


def test_values_that_contain_themselves() -> None:
    inner = ListVariable([])
    inner.items.append(inner)
    value = record_one(inner)
    assert value["[0]"] == value


class Equal(ConstantVariable):
    """A tracker that compares by value, as a dataclass would."""

    __hash__ = None  # type: ignore[assignment]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Equal) and other.value == self.value


def test_equal_trackers_are_still_told_apart() -> None:
    recorder = Recorder()
    frame, instructions = start(recorder)
    store = next(one for one in instructions if one.op == "STORE_FAST")
    one, two = Equal(1), Equal(1)
    for value in (one, two, one):
        recorder.on_step_start(frame, store)
        frame.locals[store.arg] = value
    recorder.on_step_start(frame, instructions[0])
    bound = [step.locals[store.arg] for step in Trace(recorder.finish()).steps if store.arg in step.locals]
    assert bound[0] == bound[2]
    assert bound[0] != bound[1]


def test_names_the_code_does_not_list_get_a_place() -> None:
    recorder = Recorder()
    frame, _ = start(recorder)
    store, delete = Instruction("STORE_FAST", "logits"), Instruction("DELETE_FAST", "logits")
    recorder.on_step_start(frame, store)
    frame.locals["logits"] = ConstantVariable(1)
    recorder.on_step_start(frame, delete)
    del frame.locals["logits"]
    recorder.on_step_start(frame, store)
    steps = Trace(recorder.finish()).steps
    assert steps[1].locals["logits"].text == "Constant 1"
    assert steps[2].locals == {}
    assert steps[1].code.locals[-1] == "logits"


def test_the_engines_objects_are_let_go_of() -> None:
    recorder = Recorder()
    example_events(recorder)
    walk = Walk(recorder, functions()["layer"].__code__, dynamic=False)
    recorder.on_compile_start(walk.code, 9)
    frame = Frame(walk.code, {"x": walk.argument(Fake(2), Source("L['x']"))}, None)
    recorder.on_attempt_start(frame, 1)
    recorder.on_frame_enter(frame)
    recorder.on_step_start(frame, frame.program.instructions[0])
    gone = [weakref.ref(frame), weakref.ref(frame.locals["x"]), weakref.ref(walk.graph)]
    recorder.finish()
    del frame, walk
    gc.collect()
    assert [ref() for ref in gone] == [None, None, None]


def test_nodes_that_were_dropped_are_marked() -> None:
    recorder = Recorder()
    frame, instructions = start(recorder)
    graph = Graph()
    for name in ("kept", "dropped"):
        recorder.on_node(graph.add("call_function", len, (), name), None)
    del graph.nodes[1]
    recorder.on_graph(SimpleNamespace(graph=graph, code="..."), "g")
    data = recorder.finish()
    assert [(node.name, node.live) for node in data.nodes] == [("kept", True), ("dropped", False)]


def test_a_break_told_of_in_two_attempts_is_one() -> None:
    recorder = Recorder()
    frame, instructions = start(recorder)
    unsupported = SimpleNamespace(
        reason_id="r", message="Why.", reason=SimpleNamespace(explanation="So."), hints=("Try.",), where=None
    )
    recorder.on_step_start(frame, instructions[1])
    recorder.on_break(unsupported, frame, instructions[1])
    recorder.on_attempt_end("restarted", "")
    again = Frame(frame.code, {}, None)
    recorder.on_attempt_start(again, 2)
    recorder.on_frame_enter(again)
    recorder.on_step_start(again, instructions[1])
    recorder.on_break(unsupported, again, instructions[1])
    recorder.on_attempt_end("skipped", "")
    recorder.on_compile_end("skipped", 0.0)
    (broken,) = recorder.finish().breaks
    assert (broken.step, broken.final_step) == (0, 1)
    assert broken.action == "The whole frame runs as plain Python."


def test_pictures_of_the_naive_observer_are_plain() -> None:
    assert picture(ListVariable([ConstantVariable(1)])) == ("List of 1", [("[0]", ("Constant 1", []))])


def test_a_break_told_of_when_the_last_attempt_has_stopped_before_it() -> None:
    """As the engine does it: the failing attempt says nothing, the next one stops short of the instruction and then
    tells of the break with the frame and instruction of the failing one."""
    recorder = Recorder()
    frame, instructions = start(recorder, "model")
    call = next(at for at, one in enumerate(instructions) if one.op == "CALL")
    inner = Frame(functions()["number"].__code__, {}, frame)
    for instruction in (instructions[0], instructions[call]):
        recorder.on_step_start(frame, instruction)
    recorder.on_frame_enter(inner)
    recorder.on_step_start(inner, inner.program.instructions[2])
    recorder.on_frame_exit(inner, None)
    recorder.on_frame_exit(frame, None)
    recorder.on_attempt_end("restarted", "Why.")
    again = Frame(frame.code, {}, None)
    recorder.on_attempt_start(again, 2)
    recorder.on_frame_enter(again)
    recorder.on_step_start(again, instructions[0])
    again.stack.append(ConstantVariable("left"))
    recorder.on_step_start(again, instructions[call])
    recorder.on_frame_exit(again, None)
    unsupported = SimpleNamespace(
        reason_id="r", message="Why.", reason=SimpleNamespace(explanation="So."), hints=("Try.",), where=None
    )
    recorder.on_break(unsupported, inner, inner.program.instructions[2])
    recorder.on_attempt_end("compiled", "")
    recorder.on_compile_end("compiled", 0.0)
    trace = Trace(recorder.finish())
    (broken,) = trace.breaks
    assert (broken.attempt, broken.step, broken.final_step) == (0, 2, 4)
    assert (trace.codes[broken.code].name, broken.line) == ("number", LINES["number"] + 2)
    assert (trace.codes[broken.root_code].name, broken.root_line) == ("model", LINES["model"] + 3)
    assert trace.steps[2].sentence.endswith(
        f"The graph breaks here: Why. The tracer goes back to line {LINES['model'] + 3} and stops this time at line "
        f"{LINES['model'] + 3}, which called what leads here."
    )
    assert trace.steps[3].sentence == (
        "RESUME 0 marked where the function starts or resumes. The tracer begins again here, as the graph broke: "
        f"Why. It stops at line {LINES['model'] + 3} this time."
    )
    assert trace.steps[4].after is None
    after = trace.steps[3].after
    assert after is not None
    assert [value.text for value in after.stack] == ["Constant 'left'"]
