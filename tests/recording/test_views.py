"""What the front end is sent agrees with the trace."""

from __future__ import annotations

import base64
import json
import subprocess
import sys
from array import array
from pathlib import Path

import msgspec
import pytest

from tests.recording.synthetic import example
from tracer_core.recording import Trace, messages, views


@pytest.fixture(scope="module")
def trace() -> Trace:
    return Trace(example())


def test_meta_has_the_columns(trace: Trace) -> None:
    meta = msgspec.json.decode(views.meta(trace), type=messages.Meta)
    assert meta.steps == len(trace)
    assert meta.overview == trace.overview()
    frames = array("I")
    frames.frombytes(base64.b64decode(meta.frame))
    instructions = array("I")
    instructions.frombytes(base64.b64decode(meta.instruction))
    for step in trace.steps[::17]:
        code = meta.codes[meta.frames[frames[step.index]].code]
        assert code.instructions[instructions[step.index]] == step.instruction


def test_windows_cover_all_steps_and_say_the_same_as_steps(trace: Trace) -> None:
    meta = views.meta_view(trace)
    number = 0
    for index in range(-(-meta.steps // meta.window)):
        window = msgspec.json.decode(views.window(trace, index), type=messages.Window)
        assert window.first == number
        for view in window.steps:
            step = trace.steps[number]
            assert view.before.stack == [value.id for value in step.stack]
            bound = {
                name: one for name, one in zip(step.code.locals, view.before.locals, strict=True) if one is not None
            }
            assert bound == {name: value.id for name, value in step.locals.items()}
            cells = {
                name: one for name, one in zip(step.code.cells, view.before.cells, strict=True) if one is not None
            }
            assert cells == {name: value.id for name, value in step.cells.items()}
            assert (view.after is None) == (step.after is None)
            if view.after is not None and step.after is not None:
                assert view.after.stack == [value.id for value in step.after.stack]
            assert view.sentence == step.sentence
            assert view.until == step.until
            assert view.handlers == step.handlers
            number += 1
    assert number == meta.steps


def test_chunks_let_the_front_end_find_a_value_at_a_step(trace: Trace) -> None:
    meta = views.meta_view(trace)
    chunks = [
        msgspec.json.decode(views.chunk(trace, index), type=messages.TrackerChunk)
        for index in range(-(-meta.trackers // meta.chunk))
    ]
    trackers = [tracker for chunk in chunks for tracker in chunk.trackers]
    assert len(trackers) == meta.trackers
    for step in trace.steps:
        for value in step.stack:
            snapshots = trackers[value.id].snapshots
            current = [one for one in snapshots if one.step < step.index][-1]
            assert current.text.startswith(value.text)
            assert [part for _, part in current.parts] == [part.id for _, part in value.parts]
            assert trackers[value.id].made_by == value.made_by
        for value in step.after.stack if step.after is not None else []:
            current = [one for one in trackers[value.id].snapshots if one.step <= step.until][-1]
            assert current.text.startswith(value.text)


def test_chunks_name_the_guards_of_a_value(trace: Trace) -> None:
    chunk = views.chunk_view(trace, 0)
    snapshot = chunk.trackers[trace.steps[0].locals["x"].id].snapshots[0]
    assert [trace.guards[number].text for number in snapshot.guards] == ["x is a Tensor f32[4, 8]"]


@pytest.mark.parametrize("index", [-1, 99])
def test_pieces_that_do_not_exist(trace: Trace, index: int) -> None:
    with pytest.raises(IndexError, match=rf"There is no window {index}; this trace has 4\."):
        views.window(trace, index)
    with pytest.raises(IndexError, match=f"There is no chunk {index}"):
        views.chunk(trace, index)


def test_the_schema_is_printed_for_the_front_end() -> None:
    root = Path(__file__).parents[2]
    done = subprocess.run(
        [sys.executable, "-m", "tracer_core.recording.schema_json"],
        cwd=root,
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    printed = json.loads(done.stdout)
    assert {"Meta", "Window", "TrackerChunk", "StepView", "Snapshot"} <= set(printed["$defs"])
    assert printed["$defs"]["Window"]["properties"]["steps"]["items"]["$ref"] == "#/$defs/StepView"
