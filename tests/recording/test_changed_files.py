"""Well-formed files whose contents were changed: one clear error, at load or when what was changed is read."""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Iterator
from typing import Any

import msgspec
import pytest
import torch

import tracewalk as tw
from tests.recording.reading import reads
from tests.recording.synthetic import example
from tests.recording.test_file import forged
from tracer_core.recording import Trace, TraceFileError, file, schema

MUTATIONS = 300 if os.environ.get("CI") == "true" else 3000
"""How many changes are tried, over all seeds."""
SEEDS = 6


def real() -> schema.Recording:
    """A recording of the engine: a break, a restart, a recompilation, a loop, an exception, an inlined generator."""

    def squares(x: torch.Tensor) -> Iterator[torch.Tensor]:
        for i in range(3):
            yield x * i

    def program(x: torch.Tensor, items: list[int]) -> torch.Tensor:
        try:
            x = x + {"a": 1}["b"]
        except KeyError:
            items.append(len(items))
        for square in squares(x):
            x = x + square
        print(end="")
        return x.sum()

    compiled = tw.compile(program, backend="eager")
    with tw.record() as trace:
        for size in (2, 3, 4):
            compiled(torch.ones(size), [1])
    return trace.data


@pytest.fixture(scope="module", params=[example, real], ids=["pretended", "real"])
def raw(request: pytest.FixtureRequest) -> bytes:
    data: schema.Recording = request.param()
    return msgspec.msgpack.encode(data)


def containers(value: Any) -> Iterator[Any]:
    """The dicts and lists in decoded MessagePack, each with something in it."""
    if isinstance(value, dict | list) and value:
        yield value
        for held in value.values() if isinstance(value, dict) else value:
            yield from containers(held)


def changed(value: Any, rng: random.Random) -> Any:
    """Something of the same type, or None."""
    if isinstance(value, bool) or rng.random() < 0.03:
        return None
    if isinstance(value, int):
        near = [-value, -value - 1, value + 1, value - 1, 0, -1]
        return rng.choice([*near, value * 1000 + 999, 2**31, 2**40, -(2**40)])
    if isinstance(value, bytes):
        return changed_bytes(value, rng)
    if isinstance(value, str):
        return rng.choice(["", value + "x", value[::-1], "CALL", "return", "x" * 5000])
    if isinstance(value, list):
        return changed_list(value, rng)
    return None


def changed_bytes(value: bytes, rng: random.Random) -> bytes:
    at = rng.randrange(len(value) + 1)
    return rng.choice(
        [
            lambda: value[:at],
            lambda: value[: at - at % 4],
            lambda: value + bytes(rng.randrange(1, 9)),
            lambda: value[:at] + bytes([rng.randrange(256)]) + value[at + 1 :],
            lambda: value[: at - at % 4] + rng.randbytes(4) + value[at - at % 4 + 4 :],
            lambda: b"",
            lambda: b"\xff" * len(value),
            lambda: changed_block(value, rng),
        ]
    )()


def changed_block(value: bytes, rng: random.Random) -> bytes:
    """A packed block of snapshots with one of its numbers or texts changed."""
    try:
        block = msgspec.msgpack.decode(value)
    except msgspec.MsgspecError:
        return value[::-1]
    if not isinstance(block, list) or not block or not isinstance(block[0], list):
        return value[::-1]
    entry = rng.choice(block)
    at = rng.randrange(len(entry))
    entry[at] = changed(entry[at], rng)
    return msgspec.msgpack.encode(block)


def changed_list(value: list[Any], rng: random.Random) -> list[Any]:
    if not value:
        return [rng.choice([0, -1, 7])]
    at = rng.randrange(len(value))
    kept = list(value)
    choice = rng.randrange(5)
    if choice == 0:
        del kept[at]
    elif choice == 1:
        kept.insert(at, kept[rng.randrange(len(kept))])
    elif choice == 2:
        rng.shuffle(kept)
    elif choice == 3:
        kept = kept[:at]
    else:
        kept[at] = changed(kept[at], rng)
    return kept


def mutated(raw: bytes, rng: random.Random) -> bytes:
    """The trace with one to three of its parts changed."""
    data = msgspec.msgpack.decode(raw)
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        # Large parts have many places: every part of the trace is as likely as the others.
        top = rng.choice(list(data))
        inside = list(containers(data[top]))
        owner = rng.choice(inside) if inside else data
        place = rng.choice(list(owner)) if isinstance(owner, dict) else rng.randrange(len(owner))
        if owner is data:
            place = top
        owner[place] = changed(owner[place], rng)
    return msgspec.msgpack.encode(data)


def outcome(raw: bytes, every: int) -> str:
    """`refused` at load, `reached` where a read said so, else `read`."""
    try:
        trace = Trace(file.unpack(forged(raw), "changed"))
    except TraceFileError:
        return "refused"
    told: set[str] = set()
    for read in reads(trace, every):
        try:
            read()
        except TraceFileError as error:
            told.add(str(error)[:41])
    assert told <= {"The recording is damaged, or was changed:"}
    return "reached" if told else "read"


@pytest.mark.timeout(1800)
@pytest.mark.parametrize("seed", range(SEEDS))
def test_whatever_was_changed_is_one_clear_error(raw: bytes, seed: int) -> None:
    rng = random.Random(seed)
    came = {"refused": 0, "reached": 0, "read": 0}
    for _ in range(MUTATIONS // SEEDS // 2):
        one = mutated(raw, rng)
        try:
            came[outcome(one, rng.randrange(5, 40))] += 1
        except Exception as error:
            raise AssertionError(f"not told of as damage: {difference(raw, one)}") from error
    assert came["refused"] > 3
    assert came["read"] > 3


def difference(before: bytes, after: bytes) -> str:
    """The changed parts, for a person."""
    one, two = msgspec.msgpack.decode(before), msgspec.msgpack.decode(after)
    return "; ".join(f"{name}: {str(two[name])[:300]}" for name in one if one[name] != two[name])


def test_what_was_not_changed_is_read(raw: bytes) -> None:
    assert outcome(raw, 1) == "read"


CHANGES: dict[str, Callable[[schema.Recording], Any]] = {
    "a code before the first": lambda data: setattr(data.frames[0], "code", -1),
    "a node after the last": lambda data: data.graphs[0].nodes.append(len(data.nodes)),
    "a frame inside itself": lambda data: setattr(data.frames[0], "parent", 0),
    "a frame that ends before it starts": lambda data: setattr(data.frames[0], "end_step", -1),
    "a step too many": lambda data: setattr(data, "steps", data.steps + 1),
    "records in another order": lambda data: data.guards.reverse(),
    "an instruction that takes less than nothing": lambda data: data.codes.__setitem__(
        data.frames[0].code, with_takes(data.codes[data.frames[0].code], -1)
    ),
    "a column too short": lambda data: setattr(data.columns, "ended", data.columns.ended[:-1]),
    "a block of snapshots too few": lambda data: data.snapshots.first.pop(),
    "a snapshot of no tracker": lambda data: setattr(data.snapshots, "later_tracker", b"\xff\xff\xff\x7f" * 2),
}


def with_takes(code: schema.Code, takes: int) -> schema.Code:
    first = msgspec.structs.replace(code.instructions[0], takes=takes)
    return msgspec.structs.replace(code, instructions=[first, *code.instructions[1:]])


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_what_can_be_seen_at_load_is(raw: bytes, change: Callable[[schema.Recording], Any]) -> None:
    data = msgspec.msgpack.decode(raw, type=schema.Recording)
    change(data)
    with pytest.raises(TraceFileError, match="damaged or incomplete"):
        file.unpack(forged(msgspec.msgpack.encode(data)), "changed")


def test_what_a_person_asks_wrongly_is_no_damage(raw: bytes) -> None:
    trace = Trace(file.unpack(forged(raw), "whole"))
    with pytest.raises(IndexError, match="There is no step"):
        trace.steps[len(trace)]
    with pytest.raises(ValueError, match="Say what to find"):
        trace.find()
    with pytest.raises(ValueError, match="There is no table"):
        trace.to_dataframe("nothing")
    value = next(value for step in trace.steps for value in step.stack)
    with pytest.raises(KeyError, match="has no part"):
        value["nothing"]
