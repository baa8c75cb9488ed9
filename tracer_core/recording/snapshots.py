"""Pack snapshots of trackers: small arrays in blocks, their repeated texts and fake tensors by number.

The first snapshot of tracker `i` is entry `i` of the `first` blocks, so most trackers need no index at all; all
others are entries of `later`, with the tracker of each in a column. The steps that took them are columns too. A block
is decoded when something in it is looked at.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from functools import lru_cache

import msgspec

from tracer_core.recording import schema
from tracer_core.recording.columns import u32_array, u32_bytes

BLOCK = 256
NOTHING = -1


Row = tuple[int, int, int, str, int, int, int, Sequence[int], Sequence[int], int, int]
"""The fields of `Packed`: a plain tuple, which costs the recorder less."""


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
    labels: Sequence[int]
    parts: Sequence[int]
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
        self._first: list[tuple[array[int], bytes]] = []
        self._later: list[tuple[array[int], array[int], bytes]] = []
        self._open_first: list[tuple[int, Row]] = []
        self._open_later: list[tuple[int, int, Row]] = []

    @property
    def trackers(self) -> int:
        """Return the number of trackers that have a first snapshot."""
        return len(self._first) * BLOCK + len(self._open_first)

    def add_first(self, step: int, row: Row) -> None:
        """Add the first snapshot of the next tracker."""
        block = self._open_first
        block.append((step, row))
        if len(block) == BLOCK:
            self._open_first = []
            self._first.append(self._first_block(block))

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
        first, later = list(self._first), list(self._later)
        if self._open_first:
            first.append(self._first_block(self._open_first))
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
        self._later_of: dict[int, list[int]] | None = None
        self._block = lru_cache(maxsize=64)(self._decode_block)
        self._known_first = lru_cache(maxsize=4096)(self._read_first)
        self._known_later = lru_cache(maxsize=4096)(self._read_later)

    def history(self, tracker: int) -> list[schema.Snapshot]:
        """Return all snapshots of a tracker, oldest first, for the caller to keep."""
        return [self._read_first(tracker), *(self._read_later(tracker, one) for one in self.later_of(tracker))]

    def at(self, tracker: int, step: int) -> schema.Snapshot:
        """Return the tracker's state after `step`, which must not be changed; its first snapshot if the tracker is
        newer."""
        later = self.later_of(tracker)
        at = bisect_right(later, step + 1, key=self._later_steps.__getitem__)
        return self._known_later(tracker, later[at - 1]) if at else self._known_first(tracker)

    def steps(self, tracker: int) -> list[int]:
        """Return the steps that took the tracker's snapshots; -1 is before the first step."""
        self._check(tracker)
        return [self._first_steps[tracker] - 1, *(self._later_steps[later] - 1 for later in self.later_of(tracker))]

    def later_of(self, tracker: int) -> Sequence[int]:
        """Return the numbers of the tracker's later snapshots."""
        if self._later_of is None:
            self._later_of = {}
            found = self._later_of
            for number, owner in enumerate(u32_array(self._stored.later_tracker)):
                if owner in found:
                    found[owner].append(number)
                else:
                    found[owner] = [number]
        return self._later_of.get(tracker, ())

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

    def _decode_block(self, later: bool, block: int) -> list[Packed]:
        return self._decoder.decode((self._stored.later if later else self._stored.first)[block])

    def _unpack(self, tracker: int, step: int, packed: Packed) -> schema.Snapshot:
        strings = self._stored.strings
        lowest = min(packed.kind, packed.cls, packed.py_type, *packed.labels, *packed.parts)
        if lowest < 0 or min(packed.source, packed.node, packed.fake, packed.name) < NOTHING:
            raise ValueError("a snapshot refers to what is before the first")
        return schema.Snapshot(
            tracker=tracker,
            step=step,
            kind=strings[packed.kind],
            cls=strings[packed.cls],
            py_type=strings[packed.py_type],
            text=packed.text,
            source=None if packed.source == NOTHING else strings[packed.source],
            node=None if packed.node == NOTHING else packed.node,
            fake=None if packed.fake == NOTHING else self._stored.fakes[packed.fake],
            parts=[(strings[label], part) for label, part in zip(packed.labels, packed.parts, strict=True)],
            more=packed.more,
            name="" if packed.name == NOTHING else strings[packed.name],
        )
