"""Pack snapshots of trackers: small arrays in blocks, their repeated texts and fake tensors by number.

The first snapshot of tracker `i` is entry `i` of the `first` blocks, so most trackers need no index at all; all
others are entries of `later`, with the tracker of each in a column. The steps that took them are columns too. A block
is decoded when something in it is looked at.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from functools import cached_property, lru_cache

import msgspec

from tracer_core.recording import schema
from tracer_core.recording.columns import u32_array, u32_bytes

BLOCK = 256
NOTHING = -1


Row = tuple[int, int, int, str, int, int, int, Sequence[int], Sequence[int], int, int]
"""The fields of `Packed`: a plain tuple, which costs the recorder less."""


Brief = tuple[int, int, str, int, int, int]
"""The fields of `Packed` that sentences depend on: `kind`, `cls`, `text`, `source`, `name` and `fake`."""


class Packed(msgspec.Struct, array_like=True, gc=False):
    """One snapshot; `kind`, `cls`, `py_type`, `source`, `name` are numbers of strings, `fake` the number of a
    FakeMeta. -1 stands for None. `labels` and `parts` go together."""

    kind: int
    cls: int
    py_type: int
    text: str
    source: int
    node: int
    fake: int
    labels: tuple[int, ...]
    parts: tuple[int, ...]
    more: int
    name: int


class Pool:
    """Texts by number, each once."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self._number: dict[str, int] = {}

    def __call__(self, text: str) -> int:
        number = self._number.get(text)
        if number is None:
            number = self._number[text] = len(self.texts)
            self.texts.append(text)
        return number


class Writer:
    """Pack snapshots as they arrive."""

    def __init__(self) -> None:
        self.pool = Pool()
        self.fakes: list[schema.FakeMeta] = []
        self._encode = msgspec.msgpack.Encoder().encode
        # Each addition changes one list once, so that Ctrl-C never leaves one half done.
        self.packed: list[tuple[array[int], bytes]] = []
        self._later: list[tuple[array[int], array[int], bytes]] = []
        self._open_later: list[tuple[int, int, Row]] = []
        self.open: list[tuple[int, Row]] = []
        """The first snapshots, each with its step, that are in no block yet. Trackers are many: who adds one appends
        to this itself, and calls `close_block` when it is as long as a block."""

    @property
    def trackers(self) -> int:
        """Return the number of trackers that have a first snapshot."""
        return len(self.packed) * BLOCK + len(self.open)

    def add_first(self, step: int, row: Row) -> None:
        """Add the first snapshot of the next tracker."""
        self.open.append((step, row))
        if len(self.open) == BLOCK:
            self.close_block()

    def close_block(self) -> None:
        """Pack the snapshots in `open`."""
        block, self.open = self.open, []
        self.packed.append(self._first_block(block))

    def add_later(self, tracker: int, step: int, row: Row) -> None:
        """Add another snapshot of a known tracker."""
        block = self._open_later
        block.append((tracker, step, row))
        if len(block) == BLOCK:
            self._open_later = []
            self._later.append(self._later_block(block))

    def _first_block(self, block: list[tuple[int, Row]]) -> tuple[array[int], bytes]:
        return array("I", [step + 1 for step, _ in block]), self._encode([row for _, row in block])

    def _later_block(self, block: list[tuple[int, int, Row]]) -> tuple[array[int], array[int], bytes]:
        trackers, steps = array("I", [one[0] for one in block]), array("I", [one[1] + 1 for one in block])
        return trackers, steps, self._encode([row for _, _, row in block])

    def snapshots(self) -> schema.Snapshots:
        """Return all snapshots so far."""
        first, later = list(self.packed), list(self._later)
        if self.open:
            first.append(self._first_block(self.open))
        if self._open_later:
            later.append(self._later_block(self._open_later))
        return schema.Snapshots(
            strings=list(self.pool.texts),
            fakes=list(self.fakes),
            first=[block for _, block in first],
            first_step=b"".join(u32_bytes(steps) for steps, _ in first),
            later=[block for _, _, block in later],
            later_tracker=b"".join(u32_bytes(trackers) for trackers, _, _ in later),
            later_step=b"".join(u32_bytes(steps) for _, steps, _ in later),
            trackers=self.trackers,
        )


class Reader:
    """Snapshots by tracker and step."""

    def __init__(self, stored: schema.Snapshots) -> None:
        self.trackers = stored.trackers
        self._stored = stored
        self._decoder = msgspec.msgpack.Decoder(list[Packed])
        self._first_steps = u32_array(stored.first_step)
        self._later_steps = u32_array(stored.later_step)
        self._later_trackers = u32_array(stored.later_tracker)
        self._block = lru_cache(maxsize=64)(self._decode_block)
        self._known_first = lru_cache(maxsize=4096)(self._read_first)
        self._known_later = lru_cache(maxsize=4096)(self._read_later)
        self._first_brief = lru_cache(maxsize=4096)(lambda tracker: self._brief(False, tracker))
        self._later_brief = lru_cache(maxsize=4096)(lambda number: self._brief(True, number))

    def first(self, tracker: int) -> schema.Snapshot:
        """Return the first snapshot of a tracker, for the caller to keep."""
        return self._read_first(tracker)

    @property
    def longest(self) -> int:
        """Return the largest number of later snapshots of a tracker."""
        return max(map(len, self._later_of.values()), default=0)

    @property
    def later_count(self) -> int:
        """Return the number of all later snapshots."""
        return len(self._later_trackers)

    def later(self, number: int) -> schema.Snapshot:
        """Return a later snapshot by its number, for the caller to keep."""
        return self._read_later(self._later_trackers[number], number)

    def at(self, tracker: int, step: int) -> schema.Snapshot:
        """Return the tracker's state after `step`, which must not be changed; its first snapshot if the tracker is
        newer."""
        later = self._later_of.get(tracker)
        at = 0 if later is None else bisect_right(later, step + 1, key=self._later_steps.__getitem__)
        return self._known_first(tracker) if later is None or not at else self._known_later(tracker, later[at - 1])

    def brief(self, tracker: int, step: int) -> Brief:
        """Return what sentences say of the tracker after `step`; equal for values of which they say the same."""
        later = self._later_of.get(tracker)
        at = 0 if later is None else bisect_right(later, step + 1, key=self._later_steps.__getitem__)
        return self._first_brief(tracker) if later is None or not at else self._later_brief(later[at - 1])

    def kind_of(self, tracker: int) -> tuple[str, bool]:
        """Return the kind of the tracker when it was first seen, and whether it has a source."""
        kind, _, _, source, _, _ = self.brief(tracker, -1)
        return self._stored.strings[kind], source != NOTHING

    def first_step(self, tracker: int) -> int:
        """Return the step that took the tracker's first snapshot; -1 is before the first step."""
        self._check(tracker)
        return self._first_steps[tracker] - 1

    def later_steps(self, tracker: int) -> list[int]:
        """Return the steps that took the tracker's later snapshots."""
        return [self._later_steps[later] - 1 for later in self.later_of(tracker)]

    def later_of(self, tracker: int) -> Sequence[int]:
        """Return the numbers of the tracker's later snapshots."""
        return self._later_of.get(tracker, ())

    @cached_property
    def _later_of(self) -> dict[int, list[int]]:
        found: dict[int, list[int]] = {}
        for number, owner in enumerate(self._later_trackers):
            if owner in found:
                found[owner].append(number)
            else:
                found[owner] = [number]
        return found

    def from_sources(self) -> Iterable[tuple[int, int, str]]:
        """Return (tracker, step, source) of the first snapshot of every tracker that has a source and is not lazy."""
        strings = self._stored.strings
        for number, block in enumerate(self._stored.first):
            for tracker, packed in enumerate(self._decoder.decode(block), number * BLOCK):
                if packed.source != NOTHING and strings[packed.kind] != "lazy value":
                    yield tracker, self._first_steps[tracker] - 1, strings[packed.source]

    def _check(self, tracker: int) -> None:
        if not 0 <= tracker < self.trackers:
            raise IndexError(f"There is no tracker {tracker}; this recording has {self.trackers}.")

    def _read_first(self, tracker: int) -> schema.Snapshot:
        self._check(tracker)
        packed = self._block(False, tracker // BLOCK)[tracker % BLOCK]
        return self._unpack(tracker, self._first_steps[tracker] - 1, packed)

    def _read_later(self, tracker: int, number: int) -> schema.Snapshot:
        packed = self._block(True, number // BLOCK)[number % BLOCK]
        return self._unpack(tracker, self._later_steps[number] - 1, packed)

    def _brief(self, later: bool, number: int) -> Brief:
        packed = self._block(later, number // BLOCK)[number % BLOCK]
        return packed.kind, packed.cls, packed.text, packed.source, packed.name, packed.fake

    def _decode_block(self, later: bool, block: int) -> list[Packed]:
        return self._decoder.decode((self._stored.later if later else self._stored.first)[block])

    def _unpack(self, tracker: int, step: int, packed: Packed) -> schema.Snapshot:
        strings, labels, parts = self._stored.strings, packed.labels, packed.parts
        kind, cls, py_type = packed.kind, packed.cls, packed.py_type
        source, node, fake, name = packed.source, packed.node, packed.fake, packed.name
        if min(kind, cls, py_type, *labels, *parts) < 0 or min(source, node, fake, name) < NOTHING:
            raise ValueError("a snapshot refers to what is before the first")
        return schema.Snapshot(
            tracker,
            step,
            strings[kind],
            strings[cls],
            strings[py_type],
            packed.text,
            None if source == NOTHING else strings[source],
            None if node == NOTHING else node,
            None if fake == NOTHING else self._stored.fakes[fake],
            [(strings[label], part) for label, part in zip(labels, parts, strict=True)] if labels or parts else [],
            packed.more,
            name="" if name == NOTHING else strings[name],
        )
