"""Pack the changes of many steps at once into the bytes that `columns.py` describes and reads."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import NamedTuple

import numpy
from numpy.typing import NDArray

from tracer_core.recording.columns import BLOCK, FRESH, SLOTS

Numbers = NDArray[numpy.int64]

Change = tuple[int, int, int, Sequence[int], Mapping[int, int | None], bool]
"""The start of a step: its frame and instruction, and what happened to the frame's state since its previous step: the
number of popped items, the trackers pushed, the slots bound (None: unbound), and whether there was no such step. A
plain tuple, which costs the recorder less."""


class Batch(NamedTuple):
    """Packed steps, the first of which starts a block. `delta_at` is where the entries of each block start."""

    frame: array[int]
    instruction: array[int]
    delta: bytes
    delta_at: array[int]


def pack(changes: Sequence[Change], top: int) -> Batch:
    """Pack steps, the first of which starts a block. `top` is the largest tracker before them."""
    if not changes:
        return Batch(array("I"), array("I"), b"", array("I"))
    frame, instruction, popped, pushed, slots, fresh = zip(*changes, strict=True)
    tokens, starts = _tokens(popped, pushed, slots, fresh, top)
    width = _width(tokens)
    width[starts] = 1  # headers
    ends = numpy.cumsum(width)
    at = ends - width
    out = numpy.empty(int(ends[-1]), numpy.uint8)
    out[at] = tokens & 127 | (width > 1) << 7
    out[at[starts]] = tokens[starts]
    for byte in range(1, int(width.max())):
        longer = numpy.flatnonzero(width > byte)
        out[at[longer] + byte] = tokens[longer] >> 7 * byte & 127 | (width[longer] > byte + 1) << 7
    return Batch(array("I", frame), array("I", instruction), out.tobytes(), array("I", at[starts[::BLOCK]].tolist()))


def _tokens(
    popped: Sequence[int],
    pushed: Sequence[Sequence[int]],
    slots: Sequence[Mapping[int, int | None]],
    fresh: Sequence[bool],
    top: int,
) -> tuple[Numbers, Numbers]:
    """Return the numbers to write, and where the entry of each step starts among them."""
    gone = numpy.array(popped, numpy.int64)
    count = numpy.fromiter(map(len, pushed), numpy.int64, len(pushed))
    names = numpy.fromiter(map(len, slots), numpy.int64, len(slots))
    rebinding = numpy.flatnonzero(names)
    rebound = numpy.where(names > 0, 1 + 2 * names, 0)  # numbers written about slots
    many_gone, many_came = gone >= 7, count >= 7
    size = 1 + many_gone + many_came + count + rebound
    starts = numpy.cumsum(size) - size
    tokens = numpy.empty(int(size.sum()), numpy.int64)
    tokens[starts] = (
        numpy.minimum(gone, 7) | numpy.minimum(count, 7) << 3 | (rebound > 0) * SLOTS | numpy.array(fresh) * FRESH
    )
    tokens[starts[many_gone] + 1] = gone[many_gone]
    tokens[(starts + 1 + many_gone)[many_came]] = count[many_came]
    first = starts + 1 + many_gone + many_came
    # The trackers among the numbers: 1, or 2 where they are shifted by one.
    kind = numpy.zeros(len(tokens), numpy.int64)
    came = runs(first, count)
    tokens[came], kind[came] = list(chain.from_iterable(pushed)), 1
    bound = runs((first + count)[rebinding], rebound[rebinding])
    tokens[bound], kind[bound] = _of_slots(filter(None, slots))
    trackers = numpy.flatnonzero(kind)
    tokens[trackers] = _distances(tokens[trackers], top) + kind[trackers] - 1
    return tokens, starts


def _of_slots(rebound: Iterable[Mapping[int, int | None]]) -> tuple[list[int], list[int]]:
    """Return the numbers written about slots, and which of them are trackers."""
    numbers: list[int] = []
    kind: list[int] = []
    for slots in rebound:
        numbers.append(len(slots))
        kind.append(0)
        for slot, tracker in slots.items():
            numbers += (slot, 0) if tracker is None else (slot, tracker)
            kind += (0, 0) if tracker is None else (0, 2)
    return numbers, kind


def _distances(trackers: Numbers, top: int) -> Numbers:
    """Return the zigzag distance of each tracker from the largest one before it, at first from `top`."""
    before = numpy.maximum.accumulate(numpy.concatenate([[top], trackers]))[:-1]
    distance = trackers - before
    return numpy.where(distance > 0, distance << 1, 1 - (distance << 1))


def _width(numbers: Numbers) -> Numbers:
    """Return the number of bytes that each number takes."""
    width = numpy.ones(len(numbers), numpy.int64)
    largest = int(numbers.max())
    bits = 7
    while largest >> bits:
        width += numbers >> bits > 0
        bits += 7
    return width


def runs(starts: Numbers, counts: Numbers) -> Numbers:
    """Return `start, start + 1, ...`, as many as counted, for each start."""
    within = numpy.arange(int(counts.sum())) - numpy.repeat(numpy.cumsum(counts) - counts, counts)
    return numpy.repeat(starts, counts) + within
