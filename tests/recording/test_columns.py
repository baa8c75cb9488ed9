"""Columns give back every state, whatever frames do: enter, step, inline, suspend, leave, get cut off."""

from __future__ import annotations

import random
from array import array
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tracer_core.recording import schema, touches
from tracer_core.recording.column_writer import LiveFrame, Writer, varints
from tracer_core.recording.columns import BLOCK, Reader, State, read_varint, u32_array, u32_bytes


def begin(writer: Writer) -> int:
    """As the recorder does before each step; the step's number."""
    if not len(writer.ended) % BLOCK:
        writer.start_block()
    return len(writer.ended)


def enter(writer: Writer, number: int) -> LiveFrame:
    live = LiveFrame(number)
    writer.enter(live)
    return live


def put(
    writer: Writer,
    live: LiveFrame,
    instruction: int,
    gone: int,
    came: list[int],
    slots: dict[int, int | None],
) -> None:
    """Put a step after `begin`, as the recorder does."""
    state = State(live.numbers, live.slots)
    state.apply(gone, came, slots)
    writer.add((live.id, instruction, gone, list(came), slots, live.step < 0))
    live.step = len(writer.ended)
    writer.ended.append(1)


@given(st.lists(st.integers(0, 2**40)))
def test_varints_come_back(numbers: list[int]) -> None:
    out = varints(numbers)
    at, found = 0, []
    for _ in numbers:
        number, at = read_varint(out, at)
        found.append(number)
    assert found == numbers
    assert at == len(out)


def test_number_columns_are_little_endian() -> None:
    assert u32_bytes(array("I", [1, 2**32 - 1])) == b"\x01\0\0\0\xff\xff\xff\xff"
    assert list(u32_array(b"\x01\0\0\0\xff\xff\xff\xff")) == [1, 2**32 - 1]


@dataclass
class Model:
    """A frame kept in full."""

    id: int
    live: LiveFrame
    parent: Model | None
    stack: list[int] = field(default_factory=list)
    slots: dict[int, int] = field(default_factory=dict)
    steps: list[int] = field(default_factory=list)
    end: int = -1
    suspended: bool = False

    def take(self, gone: int, came: list[int], slots: dict[int, int | None]) -> None:
        self.stack = self.stack[: len(self.stack) - gone] + came
        self.slots = {s: t for s, t in {**self.slots, **slots}.items() if t is not None}


class Play:
    """Random frames driving a writer, with every state remembered as a plain copy."""

    def __init__(self, rng: random.Random, steps: int) -> None:
        self.rng = rng
        self.writer = Writer(batch=2 * BLOCK)
        self.frames: list[Model] = []
        self.live: list[Model] = []
        self.before: list[Any] = []
        self.after: list[Any] = []
        self.others: list[dict[int, Any]] = []
        self.next_tracker = 0
        self.touched: dict[int, list[int]] = {}
        while len(self.before) < steps:
            self.act()
        self.columns = self.writer.columns(len(self.frames))

    def tracker(self) -> int:
        if self.rng.random() < 0.5:
            self.next_tracker += self.rng.choice([1, 1, 1, 5, 300])
            return self.next_tracker
        return self.rng.randint(0, max(0, self.next_tracker))

    def change(self, model: Model) -> tuple[int, list[int], dict[int, int | None]]:
        gone = self.rng.randint(0, min(len(model.stack), self.rng.choice([2, 12])))
        came = [self.tracker() for _ in range(self.rng.choice([0, 1, 1, 2, 9]))]
        slots: dict[int, int | None] = {}
        if self.rng.random() < 0.3:
            slots = {self.rng.choice([0, 1, 2, 7, 200]): self.rng.choice([None, self.tracker()]) for _ in range(2)}
        return gone, came, slots

    def touch(self, model: Model, gone: int, came: list[int], slots: dict[int, int | None]) -> None:
        popped = model.stack[len(model.stack) - gone :]
        bound = [tracker for tracker in slots.values() if tracker is not None]
        self.touched[model.steps[-1]] = [*popped, *came, *bound]

    def act(self) -> None:
        choice = self.rng.random()
        if not self.live or choice < 0.08:
            self.enter()
        elif choice < 0.14 and len(self.live) > 1:
            self.end_frame()
        else:
            self.step()

    def enter(self) -> None:
        parent = self.live[-1] if self.live else None
        number = len(self.frames)
        model = Model(number, None, parent)  # type: ignore[arg-type]
        model.live = enter(self.writer, number)
        self.frames.append(model)
        self.live.append(model)

    def step(self) -> None:
        model = self.live[-1]
        number = begin(self.writer)
        assert number == len(self.before)
        if model.steps:
            gone, came, slots = self.change(model)
            self.touch(model, gone, came, slots)
        else:
            gone, came, slots = 0, [self.tracker()], {0: self.tracker()}
        model.take(gone, came, slots)
        if model.steps and self.writer.ended[model.steps[-1]]:
            self.after[model.steps[-1]] = (list(model.stack), dict(model.slots))
        model.steps.append(number)
        self.before.append((list(model.stack), dict(model.slots)))
        self.after.append(None)
        self.others.append({m.id: (list(m.stack), dict(m.slots)) for m in self.live if m.steps})
        put(self.writer, model.live, number % 97, gone, came, slots)
        if self.rng.random() > 0.8:
            self.writer.ended[number] = 0

    def end_frame(self) -> None:
        model = self.live.pop()
        if not model.steps or self.rng.random() < 0.3:
            self.writer.drop(model.live)
            if model.steps:
                self.writer.ended[model.steps[-1]] = 0
        else:
            last = model.steps[-1]
            self.writer.ended[last] = 1
            gone, came, slots = self.change(model)
            self.writer.leave(model.live, gone, came, slots)
            self.touch(model, gone, came, slots)
            model.take(gone, came, slots)
            self.after[last] = (list(model.stack), dict(model.slots))

    def records(self) -> list[schema.Frame]:
        children: dict[int, int] = {}
        for model in reversed(self.frames):
            end = max([children.get(model.id, -1), *model.steps[-1:]])
            model.end = end
            if model.parent is not None:
                children[model.parent.id] = max(children.get(model.parent.id, -1), end)
        return [
            schema.Frame(
                id=m.id,
                code=0,
                attempt=0,
                parent=None if m.parent is None else m.parent.id,
                call_step=None,
                depth=0,
                first_step=m.steps[0] if m.steps else 0,
                last_step=m.steps[-1] if m.steps else -1,
                end_step=m.end,
            )
            for m in self.frames
        ]


@settings(max_examples=30)
@given(st.integers(0, 2**32), st.sampled_from([1, 63, 64, 65, 130, 400]))
def test_any_state_is_found_from_any_step_in_any_order(seed: int, steps: int) -> None:
    rng = random.Random(seed)
    play = Play(rng, steps)
    reader = Reader(play.columns, play.records())
    order = list(range(steps))
    rng.shuffle(order)
    for step in order:
        state = reader.before(step)
        assert (state.stack, state.slots) == play.before[step]
        found = reader.frames_before(step)
        for frame, expected in play.others[step].items():
            assert (found[frame].stack, found[frame].slots) == expected
        own = play.frames[reader.frame[step]]
        place = own.steps.index(step)
        assert reader.next_own(step) == (own.steps[place + 1] if place + 1 < len(own.steps) else None)
        if place + 1 < len(own.steps) or own not in play.live:
            after = reader.after(step)
            assert (None if after is None else (after.stack, after.slots)) == play.after[step]
        assert reader.instruction[step] == step % 97
        assert reader.top_before(step) == (state.stack[-1] if state.stack else None)
    for first in range(0, steps, 2 * BLOCK):  # as the explorer's windows keep them
        befores = [State(*play.before[step]) for step in range(first, min(first + 2 * BLOCK, steps))]
        reader.keep_tops(first, befores)
    for step in range(steps):
        assert reader.top_before(step) == (play.before[step][0][-1] if play.before[step][0] else None)


@settings(max_examples=20)
@given(st.integers(0, 2**32), st.sampled_from([1, 63, 64, 65, 400]))
def test_the_steps_that_touched_a_tracker_are_found_all_at_once(seed: int, steps: int) -> None:
    play = Play(random.Random(seed), steps)
    expected = {
        (tracker, step)
        for step, trackers in play.touched.items()
        for tracker in trackers
        if any(step in model.steps[:-1] for model in play.frames) or play.after[step] is not None
    }
    found = touches.touches(play.columns, play.records())
    assert set(zip(found.trackers.tolist(), found.steps.tolist(), strict=True)) == expected
    grouped = touches.Grouped(play.next_tracker + 2, [found, found])
    for tracker in range(play.next_tracker + 2):
        assert grouped.of(tracker) == sorted(step for one, step in expected if one == tracker)


@settings(max_examples=20)
@given(st.integers(0, 2**32))
def test_walking_gives_the_same_states_as_jumping(seed: int) -> None:
    play = Play(random.Random(seed), 300)
    reader = Reader(play.columns, play.records())
    states: dict[int, State] = {}
    seen = []
    for step, frame, _ in reader.walk(64, 300, states):
        seen.append(step)
        assert (states[frame].stack, states[frame].slots) == play.before[step]
    assert seen == list(range(64, 300))


def test_a_recording_without_steps_touches_nothing() -> None:
    found = touches.touches(Writer().columns(0), [])
    assert touches.Grouped(3, [found]).of(2) == []


def test_frames_that_take_turns_are_followed_when_marked() -> None:
    writer = Writer()
    caller, generator = (enter(writer, number) for number in (0, 1))
    for number, live in enumerate([caller, generator, caller, generator, caller]):
        assert begin(writer) == number
        put(writer, live, 0, 0, [number], {})
    frames = [
        schema.Frame(0, 0, 0, None, None, 0, 0, 4, 4),
        schema.Frame(1, 0, 0, 0, 0, 1, 1, 3, 3, suspended=True),
    ]
    reader = Reader(writer.columns(2), frames)
    assert [reader.next_own(step) for step in range(5)] == [2, 3, 4, None, None]
    assert reader.before(4).stack == [0, 2, 4]
    assert reader.before(3).stack == [1, 3]


def test_a_plain_step_costs_few_bytes() -> None:
    writer = Writer()
    live = enter(writer, 0)
    for number in range(64_000):
        begin(writer)
        put(writer, live, 0, len(live.numbers), [number], {})
    columns = writer.columns(1)
    assert len(columns.delta) + len(columns.keyframes) < 2.2 * 64_000


def test_outer_frames_that_wait_are_not_written_again() -> None:
    def keyframe_bytes(waiting: int) -> int:
        writer = Writer()
        lives = [enter(writer, number) for number in range(waiting + 1)]
        for live in lives[:-1]:
            begin(writer)
            put(writer, live, 0, 0, list(range(100_000, 100_030)), {})
        for _ in range(6400):
            begin(writer)
            put(writer, lives[-1], 0, 0, [], {})
        return len(writer.columns(waiting + 1).keyframes)

    assert (keyframe_bytes(10) - keyframe_bytes(0)) / 100 < 45


@pytest.mark.parametrize("count", [6, 7, 8, 200])
def test_large_changes(count: int) -> None:
    writer = Writer()
    live = enter(writer, 0)
    for gone, came in ((0, list(range(count))), (count, []), (0, [5] * count)):
        begin(writer)
        put(writer, live, 0, gone, came, {})
    reader = Reader(writer.columns(1), [schema.Frame(0, 0, 0, None, None, 0, 0, 2, 2)])
    assert [reader.before(step).stack for step in range(3)] == [list(range(count)), [], [5] * count]
