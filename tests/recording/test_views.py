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

from tests.recording.synthetic import example, long_events
from tracer_core.recording import Recorder, Trace, messages, views


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
        for at, before in enumerate(window.before):
            step = trace.steps[number]
            after = window.after[at]
            after = window.before[after] if isinstance(after, int) else after
            assert before.stack == [value.id for value in step.stack]
            bound = {name: one for name, one in zip(step.code.locals, before.locals, strict=True) if one is not None}
            assert bound == {name: value.id for name, value in step.locals.items()}
            cells = {name: one for name, one in zip(step.code.cells, before.cells, strict=True) if one is not None}
            assert cells == {name: value.id for name, value in step.cells.items()}
            assert (after is None) == (step.after is None)
            if after is not None and step.after is not None:
                assert after.stack == [value.id for value in step.after.stack]
            assert window.texts[window.sentence[at]] == step.sentence
            assert number + window.inlined[at] == step.until
            assert window.handlers.get(at, []) == step.handlers
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


@pytest.fixture(scope="module")
def long() -> Trace:
    recorder = Recorder("a long run")
    long_events(recorder, 4_000)
    return Trace(recorder.finish())


def test_steps_alike_have_the_sentences_that_each_has_alone(long: Trace) -> None:
    """Sentences are built once for steps that are alike; those of single steps are not."""
    for index in range(0, len(long) // views.WINDOW, 5):
        window = views.window_view(long, index)
        for at, number in enumerate(window.sentence):
            assert window.texts[number] == long.steps[window.first + at].sentence


def test_a_long_history_is_sent_in_parts(monkeypatch: pytest.MonkeyPatch, trace: Trace) -> None:
    whole = [one for index in range(_chunks(trace)) for one in views.chunk_view(trace, index).trackers]
    monkeypatch.setattr(views, "LONG", 0)
    later = msgspec.json.decode(views.later(trace, 0), type=messages.LaterChunk).snapshots
    parts = [one for index in range(_chunks(trace)) for one in views.chunk_view(trace, index).trackers]
    assert max(len(view.snapshots) for view in whole) > 1
    for view, part in zip(whole, parts, strict=True):
        assert view.snapshots == [*part.snapshots, *(later[number] for number in part.later)]
        assert part.later_steps == [later[number].step for number in part.later]
        assert (view.made_by, view.changed) == (part.made_by, part.changed)


def test_the_first_steps_that_touched_a_value_are_sent_and_how_many_did(long: Trace) -> None:
    for index in range(_chunks(long)):
        chunk = msgspec.json.decode(views.touched(long, index), type=messages.TouchedChunk)
        for tracker, told in enumerate(chunk.trackers, chunk.first):
            steps = long.index.touched(tracker)
            assert (told.steps, told.count) == (steps[:16], len(steps))


def _chunks(trace: Trace) -> int:
    return -(-trace.data.snapshots.trackers // views.CHUNK)


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
    assert {"Meta", "Window", "TrackerChunk", "State", "Snapshot"} <= set(printed["$defs"])
    assert printed["$defs"]["Window"]["properties"]["before"]["items"]["$ref"] == "#/$defs/State"
