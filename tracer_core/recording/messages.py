"""The messages to the explorer, as data: a recording's records (`Meta`), and its steps and values in parts.

The front end's TypeScript types are generated from this module (`Meta`, `Window`, `TrackerChunk` and others).
"""

from __future__ import annotations

import msgspec

from tracer_core.recording.recompiling import Recompilation
from tracer_core.recording.schema import (
    Attempt,
    Body,
    Break,
    Call,
    Code,
    Compilation,
    Dispatcher,
    Fault,
    Frame,
    Generated,
    Graph,
    Guard,
    Lost,
    Lowered,
    Node,
    Notice,
    Raised,
    SideEffect,
    Snapshot,
    Stage,
    Symbol,
)


class Row(msgspec.Struct, gc=False):
    """One thing that happened. `text` is about the program's line at `place`, which reads `source`."""

    text: str
    place: str = ""  # `model.py:12, in forward`
    source: str = ""
    notes: list[str] = []  # further sentences; what to try begins with `Try: `
    step: int | None = None  # where to look at it
    pane: str = ""  # the pane that shows more of it
    item: int | None = None  # ... and the id of the break or graph there


class Section(msgspec.Struct, gc=False):
    """The rows of one kind, those first that cost most."""

    name: str
    title: str
    rows: list[Row]


class Overview(msgspec.Struct, gc=False):
    """What happened in a recording: one sentence, and the rows below it."""

    label: str
    headline: str
    sections: list[Section]


class Station(msgspec.Struct, frozen=True, gc=False):
    """One station of a story: a sentence, a position in the recording, and the thing to look at there. `item` is the
    id of that thing (node, body, guard, break, call or generated code), `value` a name to look for
    among the values."""

    title: str
    text: str
    step: int | None  # None where nothing was traced
    look: (
        str  # the part of the explorer: source | frames | values | graph | body | guards | breaks | calls | generated
    )
    hint: str  # what to look at there
    item: int | None = None
    value: str = ""


class Figure(msgspec.Struct, frozen=True, gc=False):
    """One number of two recordings."""

    name: str
    before: float
    after: float


class Change(msgspec.Struct, gc=False):
    """The things of one kind that only one of two recordings has, in sections (guards: by source)."""

    kind: str  # breaks | graphs | guards
    gone: list[Section]
    new: list[Section]


class Differences(msgspec.Struct, gc=False):
    """The differences of two recordings. `pairs` are the lines that either ran, aligned: the first step of each, None
    where the other recording has no such line."""

    before: str  # the labels
    after: str
    headline: str
    figures: list[Figure]
    changes: list[Change]
    parts_at: tuple[int, int] | None  # the first steps that run different lines
    pairs: list[tuple[int | None, int | None]]


class Unfinished(msgspec.Struct, gc=False):
    """How far long work over the recording is: `done` of `total` parts of it, in the round that it is at."""

    done: int
    total: int
    unfinished: bool = True


class Meta(msgspec.Struct, gc=False):
    """Everything about a trace but its steps and values. Sent once. `frame` and `instruction` are the columns of
    `Columns` in base64 (little-endian u32), so that finding the next line, call or node needs no question to the
    kernel; so is `begins`, which has the first step of each frame that is the program's own."""

    version: int
    label: str
    overview: Overview
    steps: int
    window: int  # steps in a Window
    chunk: int  # trackers in a TrackerChunk
    later: int  # snapshots in a LaterChunk
    trackers: int
    frame: str
    instruction: str
    begins: str
    codes: list[Code]
    frames: list[Frame]
    attempts: list[Attempt]
    compilations: list[Compilation]
    graphs: list[Graph]
    nodes: list[Node]
    guards: list[Guard]
    breaks: list[Break]
    calls: list[Call]
    symbols: list[Symbol]
    side_effects: list[SideEffect]
    generated: list[Generated]
    faults: list[Fault]
    raised: list[Raised]
    timings: list[Stage]
    notices: list[Notice]
    lost: list[Lost]
    bodies: list[Body]
    recompilations: list[Recompilation]
    dispatcher: Dispatcher
    story: list[Station]
    lowered: list[Lowered]


class State(msgspec.Struct, array_like=True, gc=False):
    """A frame's state. Trackers by id; locals and cells by position in `Code.locals` and `Code.cells`, null where
    unbound."""

    stack: list[int]
    locals: list[int | None]
    cells: list[int | None]


class Window(msgspec.Struct, gc=False):
    """Steps `first`, `first + 1`, ..., by columns. Their trackers are found in `TrackerChunk` number
    `tracker // Meta.chunk`: those before a step as of `step - 1`, those after it as of `step + inlined`."""

    first: int
    before: list[State]  # the states of the steps' frames
    after: list[State | int | None]  # a number: as before the step at that place here; null: the step did not end
    inlined: list[int]  # how many steps after each one belong to frames that it inlined
    texts: list[str]
    sentence: list[int]  # numbers of texts
    handlers: dict[int, list[str]]  # by the place here, where there are any


class TrackerView(msgspec.Struct, gc=False):
    """A tracker's snapshots, oldest first, and the steps that changed it in place. Of a long history, only the first
    snapshot is here."""

    snapshots: list[Snapshot]
    later: list[int]  # of a long history, the numbers of all later snapshots (`LaterChunk`)
    later_steps: list[int]  # ... and their steps
    made_by: int | None  # the step that created it; None if it existed before its attempt's first step
    changed: list[int]


class TrackerChunk(msgspec.Struct, gc=False):
    """Trackers `first`, `first + 1`, ..."""

    first: int
    trackers: list[TrackerView]


class LaterChunk(msgspec.Struct, gc=False):
    """The snapshots numbered `first`, `first + 1`, ..., which are all later than the first one of their trackers."""

    first: int
    snapshots: list[Snapshot]


class Touched(msgspec.Struct, array_like=True, gc=False):
    """The first steps that touched a tracker, and the number of all that did."""

    steps: list[int]
    count: int


class TouchedChunk(msgspec.Struct, gc=False):
    """The steps that touched trackers `first`, `first + 1`, ..."""

    first: int
    trackers: list[Touched]
