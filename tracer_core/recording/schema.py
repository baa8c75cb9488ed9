"""The recording as data: the content of a trace file. No torch, no behaviour.

Ids are positions in the lists of `Recording` (a `Node.id` of 3 is `recording.nodes[3]`). Trackers are numbered from 0
in the order they were first seen; their snapshots are packed (`recording/snapshots.py`). Step numbers count from 0
over the whole recording. "Text" is for people and is never parsed.
All are trees, so the garbage collector need not look at them (`gc=False`).
What graphs consist of is in `recording/schema_graphs.py`.
The messages to the explorer (`recording/messages.py`) consist of the same data; the front end's TypeScript types are
generated from both.
"""

from __future__ import annotations

import msgspec

from tracer_core.recording.schema_graphs import Body as Body
from tracer_core.recording.schema_graphs import Dispatcher as Dispatcher
from tracer_core.recording.schema_graphs import DispatchNode as DispatchNode
from tracer_core.recording.schema_graphs import DispatchRun as DispatchRun
from tracer_core.recording.schema_graphs import DispatchStep as DispatchStep
from tracer_core.recording.schema_graphs import FakeMeta as FakeMeta
from tracer_core.recording.schema_graphs import Graph as Graph
from tracer_core.recording.schema_graphs import Lift as Lift
from tracer_core.recording.schema_graphs import Lowered as Lowered
from tracer_core.recording.schema_graphs import Node as Node

SCHEMA_VERSION = 2


class Instr(msgspec.Struct, array_like=True, frozen=True, gc=False):
    """One instruction of a code object, as CPython calls it (`opname`) and as we do (`op`)."""

    offset: int
    opname: str
    op: str
    arg: str
    line: int | None
    end_line: int | None
    column: int | None
    end_column: int | None
    target: int | None  # index of the instruction jumped to
    takes: int = 0  # how many items on top of the stack it pops or reads
    leaves: int = 0  # how many replace them when the next instruction runs


class Code(msgspec.Struct, gc=False):
    """A code object that was stepped through, generated, or called."""

    id: int
    name: str
    qualname: str
    filename: str
    first_line: int
    source: str  # the text of lines first_line, first_line + 1, ...; empty when it is not available
    locals: list[str]
    cells: list[str]
    instructions: list[Instr]
    kind: str  # user | resume | generated
    resumes: int | None = None  # for `resume`: the code that it resumes
    resumes_at: int | None = None  # ... and the index of the instruction there
    owner: str = "user"  # user | package | language (Python, torch)


class Place(msgspec.Struct, frozen=True, gc=False):
    """A line of a code."""

    code: int
    line: int | None


class Frame(msgspec.Struct, gc=False):
    """A symbolic frame: one activation of a code, the root of an attempt or inlined."""

    id: int
    code: int
    attempt: int
    parent: int | None
    call_step: int | None  # the step in the parent that called it
    depth: int
    first_step: int
    last_step: int  # the last step of this frame itself; first_step - 1 if none
    end_step: int  # the last step of this frame and all it inlined
    suspended: bool = False  # its steps are not all inside one step of its parent (an inlined generator)


class Attempt(msgspec.Struct, gc=False):
    """One attempt to trace a root frame. All but the last of a compilation were restarted."""

    id: int
    compilation: int
    number: int
    first_step: int
    last_step: int
    outcome: str  # compiled | restarted | skipped | interrupted | fault
    message: str


class Compilation(msgspec.Struct, gc=False):
    """One frame turned into guarded code: a version of `code`."""

    id: int
    code: int
    version: int
    attempts: list[int]
    outcome: str  # compiled | skipped | interrupted (by Ctrl-C, or a signal handler) | fault
    graph: int | None
    generated: int | None
    seconds: float
    during_step: int | None = None  # the step that was running, when it started inside another compilation
    callers: list[Place] = []  # the program's calls that were running, the outermost recorded one first


class Guard(msgspec.Struct, gc=False):
    """A condition that must hold to reuse a version. `path` is the chain of sources from the root to `source`, and
    `names` what the program calls them, so that guards can be shown as a tree. `code` and `line` are the program's
    that installed it, `library` the innermost line of the callees, where that is a library's."""

    id: int
    attempt: int
    kind: str
    source: str
    path: list[str]
    text: str
    step: int | None
    code: int | None
    line: int | None
    library: Place | None = None
    names: list[str] = []

    @property
    def name(self) -> str:
        """The source, as the program calls it."""
        return self.names[-1] if self.names else self.source


class Break(msgspec.Struct, gc=False):
    """A place where the graph broke, or where a frame fell back to eager. `code` and `line` are the innermost of the
    program, `library` the innermost of the callees, where that is a library's."""

    id: int
    attempt: int
    reason_id: str
    message: str
    explanation: str
    hints: list[str]
    step: int | None  # the step that could not be traced
    code: int
    line: int | None
    root_code: int
    root_line: int | None
    action: str  # what ran instead, in words
    resumes: list[int]  # codes of the resume functions
    final_step: int | None = None  # where the last attempt stopped because of it, when `attempt` was restarted
    library: Place | None = None


class Notice(msgspec.Struct, gc=False):
    """A request of the user that the program prevents, though the graph continues. `code`, `line` and
    `library` as those of a break."""

    id: int
    attempt: int
    reason_id: str
    message: str
    explanation: str
    hints: list[str]
    step: int | None
    code: int | None
    line: int | None
    library: Place | None = None


class FailedGuard(msgspec.Struct, gc=False):
    """A guard that did not hold at a call."""

    guard: int | None  # its id, when its compilation is in this recording
    kind: str
    source: str
    text: str
    was: str  # what was expected, after a verb; empty for conditions on several values
    seen: str  # what came instead, as a clause
    remedies: list[str]
    place: Place | None = None  # the program's line that installed it
    library: Place | None = None
    name: str = ""  # the source, as the program calls it


class Check(msgspec.Struct, gc=False):
    """One version tried at a call. `failed` is the first guard of that version that did not hold, and `failures` has
    all of them, except those on parts of values that failed."""

    version: int
    reused: bool
    failed: int | None  # id of the guard, when its compilation is in this recording
    text: str  # the guard's text; empty when reused
    seen: str
    place: Place | None = None  # the program's line that installed the guard
    library: Place | None = None  # the library's line below it
    failures: list[FailedGuard] = []


class Call(msgspec.Struct, gc=False):
    """A frame of a known code started."""

    id: int
    code: int
    number: int  # the ordinal of this call among the code's calls in the recording, from 1
    checks: list[Check]
    outcome: str  # reused | compiled | skipped | interrupted | fault
    version: int | None  # the version that ran
    compilation: int | None  # if this call caused one
    message: str = ""
    reason_id: str = ""  # why it ran as plain Python, where it did


class Symbol(msgspec.Struct, gc=False):
    """A size (or other number) kept symbolic."""

    name: str
    hint: str
    meaning: str  # what it stands for, as the program calls it: `x.size(0)`
    step: int | None
    attempt: int


class SideEffect(msgspec.Struct, gc=False):
    """A change to something that outlives the trace."""

    id: int
    attempt: int
    kind: str
    tracker: int
    message: str
    step: int | None


class Generated(msgspec.Struct, gc=False):
    """The code that runs instead of a frame."""

    id: int
    compilation: int
    original: int  # code
    code: int  # code, of kind `generated`
    listing: str
    resumes: list[int]


class Fault(msgspec.Struct, gc=False):
    """An error of the engine itself."""

    attempt: int | None
    step: int | None
    text: str


class Lost(msgspec.Struct, gc=False):
    """A part that is missing from the recording, because the recorder failed on it."""

    what: str
    error: str
    count: int  # how often
    step: int | None  # the step of the first loss
    attempt: int | None


class Snapshot(msgspec.Struct, gc=False):
    """The state of a tracker after `step`, until its next snapshot. The state *before* a step is the last snapshot
    with a smaller `step`; -1 is before any step."""

    tracker: int
    step: int
    kind: str  # plain words
    cls: str  # the VariableTracker's class
    py_type: str
    text: str  # one short line
    source: str | None
    node: int | None
    fake: FakeMeta | None
    parts: list[tuple[str, int]]  # (label, tracker)
    more: int = 0  # how many further parts were not recorded
    guards: list[int] = []
    name: str = ""  # what the program calls the source


class Raised(msgspec.Struct, gc=False):
    """A step that raised a Python exception in the traced program."""

    step: int
    tracker: int
    text: str


class Columns(msgspec.Struct, gc=False):
    """The steps, column by column (numbers little-endian). See `recording/columns.py`."""

    frame: bytes  # u32 per step: frame id
    instruction: bytes  # u32 per step: index into the code's instructions
    ended: bytes  # u8 per step: 0 if it never ended (it broke, raised, or was cut off by a restart)
    delta: bytes  # varints: what changed in the step's frame since that frame's previous step
    delta_at: bytes  # u32 per block of steps: where its deltas start
    keyframes: bytes  # varints: the state of every live frame at the start of each block
    keyframe_at: bytes  # u32 per block of steps: where its entry starts
    exits: bytes  # varints: what changed between a frame's last step and its exit
    exit_at: bytes  # u32 per frame: where its entry starts; 0xFFFFFFFF if it was never left


class Snapshots(msgspec.Struct, gc=False):
    """All snapshots of all trackers. See `recording/snapshots.py`."""

    strings: list[str]  # `first` and `later` refer to them by number
    fakes: list[FakeMeta]
    first: list[bytes]  # packed blocks: the first snapshot of each tracker
    first_step: bytes  # u32 per tracker: the step that took its first snapshot, counted from 1; 0: before all steps
    later: list[bytes]  # packed blocks: all other snapshots
    later_tracker: bytes  # u32 per later snapshot: its tracker
    later_step: bytes  # u32 per later snapshot: the step, as in `first_step`
    trackers: int


class Dispatches(msgspec.Struct, gc=False):
    """Which handler functions were chosen, ordered by step."""

    names: list[str]
    step: bytes  # u32 each
    name: bytes  # u32 each


class Stage(msgspec.Struct, gc=False):
    """The time spent, by stage."""

    name: str
    seconds: float


class Recording(msgspec.Struct, gc=False):
    """A whole recording."""

    version: int
    created: str  # ISO 8601, UTC
    producer: str
    python: str
    torch: str
    label: str
    steps: int
    columns: Columns
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
    snapshots: Snapshots
    dispatches: Dispatches
    timings: list[Stage]
    notices: list[Notice] = []
    lost: list[Lost] = []
    bodies: list[Body] = []
    dispatcher: Dispatcher = msgspec.field(default_factory=Dispatcher)
    lowered: list[Lowered] = []
