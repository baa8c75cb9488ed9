"""Graphs as data: their nodes, the bodies of higher-order operators, and the operators under a node (a part of
`schema.py`)."""

from __future__ import annotations

import msgspec


class FakeMeta(msgspec.Struct, frozen=True, gc=False):
    """The metadata of a tensor, without its data. Sizes and strides as text, since they may be symbols."""

    type: str  # Tensor | Parameter | SymInt | ...
    dtype: str
    shape: list[str]
    stride: list[str]
    device: str
    requires_grad: bool
    hints: dict[str, str]  # text of a size that is not a plain number -> example value


class Node(msgspec.Struct, gc=False):
    """A node of a graph. `inputs` are the nodes it uses."""

    id: int
    graph: int
    name: str
    op: str  # placeholder | call_function | call_method | call_module | get_attr | output
    target: str
    args: str  # text of all arguments
    inputs: list[int]
    step: int | None  # the step that added it
    after: int  # the last step that had started when it was added; later than `step` only after an inlined call
    source: str | None  # for placeholders: the source
    fakes: list[FakeMeta]
    live: bool = True  # still in the graph when it was complete
    label: str = ""  # for placeholders: the source, as the program calls it
    modules: list[str] = []  # names of the modules whose `forward` was running, outermost first
    module_frames: list[int] = []  # ... and the frames in which it ran, which tell calls of a module apart


class Graph(msgspec.Struct, gc=False):
    """The graph of one attempt; `code` is its Python text once complete."""

    id: int
    attempt: int
    name: str
    nodes: list[int]
    code: str
    body: int | None = None  # the body that it is the graph of; None for a frame's own graph


class Lowered(msgspec.Struct, gc=False):
    """What the back end `tracer_aot` made of a graph: graphs of operators, as text, a line for each node. A text is
    empty where there is no such graph."""

    graph: int
    forward: str
    backward: str
    joint: str  # forward and backward as they were traced, before they were split
    reason: str  # why the captured graph runs eagerly instead, as a clause; empty if it does not


class Lift(msgspec.Struct, gc=False):
    """A value from outside a body that became an input of the body's graph."""

    outer: int  # node: the value in the graph around
    inner: int  # node: the input
    name: str  # the value, as the program calls it
    step: int | None  # the step that used it, or that called the operator
    reason: str  # used | inside (a body inside this one used it) | returned | shared (another body used it)
    text: str


class Body(msgspec.Struct, gc=False):
    """The function of a higher-order operator, traced into a graph of its own. Its steps are `first_step` to
    `last_step`; it has none if `last_step` is smaller."""

    id: int
    attempt: int
    operator: str
    function: str
    parent: int | None  # the body that it is inside
    graph: int | None
    step: int | None  # the step that called the operator
    first_step: int
    last_step: int
    outcome: str  # kept | abandoned (it could not be traced) | unused (the operator was not added to the graph)
    message: str  # why it was abandoned; empty if a body around it was
    lifted: list[Lift]
    holders: list[int]  # nodes that hold its graph
    calls: list[int]  # nodes of the operator that run it
    text: str


class DispatchRun(msgspec.Struct, gc=False):
    """One trace at the dispatcher. Its steps are `first_step` to `last_step` of `Dispatcher.steps`; it has none if
    `last_step` is smaller."""

    id: int
    label: str
    node: int | None  # the node of a captured graph that it is about
    direction: str  # forward | backward; empty if it is not about a node
    first_step: int
    last_step: int
    code: str  # the graph's Python text, once complete
    error: str  # why it ended early; empty if it did not


class DispatchNode(msgspec.Struct, gc=False):
    """A node of the graph that a trace at the dispatcher builds."""

    id: int
    run: int
    step: int | None  # the dispatcher step that added it; None for inputs, and for arithmetic on sizes between calls
    name: str
    op: str
    target: str
    args: str


class DispatchStep(msgspec.Struct, gc=False):
    """A call as it reached the proxy mode, and what the mode did with it. The calls of its decomposition are the
    steps up to `last_step`."""

    id: int
    run: int
    parent: int | None  # the step whose decomposition, or whose functions, made the call
    depth: int
    last_step: int
    operator: str
    args: str  # text of all arguments; tensors by dtype and shape
    inputs: list[int]  # `Dispatcher.fakes` of the tensors and symbolic numbers among them
    modes: int  # the active modes, in `Dispatcher.stacks`
    decisions: list[tuple[str, str]]  # (decompose | fold | emit | leave, why)
    nodes: list[int]
    results: list[int]  # `Dispatcher.fakes`
    error: str  # what it raised; empty if it returned


class Dispatcher(msgspec.Struct, gc=False):
    """All that was recorded of traces at the dispatcher. Its steps are apart from those of the interpreter."""

    runs: list[DispatchRun] = []
    steps: list[DispatchStep] = []
    nodes: list[DispatchNode] = []
    stacks: list[list[str]] = []  # class names of the active modes, from the top to the bottom
    fakes: list[FakeMeta] = []
