"""Provide the steps of the dispatcher as people read them: runs, calls in calls, the modes at each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, overload

from tracer_core.recording import schema
from tracer_core.recording.arguments import INTEGER, NODE, NUMBER_OR_SLICE, takes, wrong
from tracer_core.recording.words import count

if TYPE_CHECKING:
    from tracer_core.recording.live import LiveGraphs

NOT_LIVE = (
    "What is under {} was not recorded, and its graph is not in this kernel: trace the program here, or record it "
    'with level="dispatch" before you save it.'
)
_MOST = 200
"""How many steps of a run `print` shows."""
_DONE = {
    "decompose": "decomposed",
    "fold": "its value is known",
    "emit": "added to the graph",
    "leave": "left to others",
}


@dataclass(frozen=True, slots=True)
class DispatchedCall:
    """A call as it reached the proxy mode, and what the mode did with it."""

    _of: schema.Dispatcher
    data: schema.DispatchStep

    @property
    def operator(self) -> str:
        return self.data.operator

    @property
    def depth(self) -> int:
        """How many calls it is inside of, whose decompositions made it."""
        return self.data.depth

    @property
    def modes(self) -> list[str]:
        """The class names of the active dispatch modes, from the top to the bottom."""
        return self._of.stacks[self.data.modes]

    @property
    def decision(self) -> str:
        """`decompose`, `fold`, `emit` or `leave`: what the mode decided last. Empty if it could not decide."""
        return self.data.decisions[-1][0] if self.data.decisions else ""

    @property
    def reason(self) -> str:
        """Why, as a sentence."""
        return self.data.decisions[-1][1] if self.data.decisions else ""

    @property
    def inputs(self) -> list[schema.FakeMeta]:
        """The metadata of its tensors and symbolic numbers."""
        return [self._of.fakes[number] for number in self.data.inputs]

    @property
    def results(self) -> list[schema.FakeMeta]:
        return [self._of.fakes[number] for number in self.data.results]

    @property
    def nodes(self) -> list[schema.DispatchNode]:
        """The nodes that this call added itself."""
        return [self._of.nodes[number] for number in self.data.nodes]

    @property
    def parent(self) -> DispatchedCall | None:
        """The call that made this one."""
        return None if self.data.parent is None else DispatchedCall(self._of, self._of.steps[self.data.parent])

    @property
    def calls(self) -> list[DispatchedCall]:
        """The calls of its decomposition, without those that are inside one another."""
        inside = self._of.steps[self.data.id + 1 : self.data.last_step + 1]
        return [DispatchedCall(self._of, step) for step in inside if step.parent == self.data.id]

    def __str__(self) -> str:
        data = self.data
        done = ", ".join(_DONE.get(decision, decision) for decision, _ in data.decisions)
        if data.error:
            done = f"{done}, raised {data.error}" if done else f"raised {data.error}"
        made = f" as {', '.join(node.name for node in self.nodes)}" if data.nodes else ""
        return f"{data.operator}({data.args}): {done or 'returned'}{made}"

    def __repr__(self) -> str:
        return f"<{self}>"


@dataclass(frozen=True, slots=True)
class DispatchedRun:
    """One trace at the dispatcher."""

    _of: schema.Dispatcher
    data: schema.DispatchRun

    @property
    def steps(self) -> list[DispatchedCall]:
        steps = self._of.steps[self.data.first_step : self.data.last_step + 1]
        return [DispatchedCall(self._of, step) for step in steps]

    @property
    def nodes(self) -> list[schema.DispatchNode]:
        return [node for node in self._of.nodes if node.run == self.data.id]

    @property
    def title(self) -> str:
        return f"{self.data.label}, {self.data.direction}" if self.data.direction else self.data.label

    @property
    def sentence(self) -> str:
        steps = self.steps
        opened = sum(step.decision == "decompose" for step in steps)
        made = sum(node.op.startswith("call") for node in self.nodes)
        return (
            f"{self.title}: {count(len(steps), 'operator call')}, {count(opened, 'decomposition')}, "
            f"{count(made, 'node')}."
        )

    def __str__(self) -> str:
        lines = [self.sentence]
        steps = self.steps
        modes: list[str] | None = None
        for step in steps[:_MOST]:
            if step.modes != modes and step.depth == 0:
                modes = step.modes
                lines.append(f"  modes: {' > '.join(modes)}")
            lines.append(f"  {'  ' * step.depth}{step}")
        if len(steps) > _MOST:
            lines.append(f"  ... and {len(steps) - _MOST} more")
        if self.data.error:
            lines.append(f"  It ended early: {self.data.error}")
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"<{self.sentence.removesuffix('.')}>"


class Dispatch(Sequence[DispatchedCall]):
    """The recorded steps of the dispatcher, in order. `live` are the graphs under whose nodes there may be more."""

    def __init__(self, data: schema.Dispatcher, live: LiveGraphs | None = None) -> None:
        self.data = data
        self._live = live

    def __len__(self) -> int:
        return len(self.data.steps)

    @overload
    def __getitem__(self, at: int) -> DispatchedCall: ...

    @overload
    def __getitem__(self, at: slice) -> list[DispatchedCall]: ...

    def __getitem__(self, at: int | slice) -> DispatchedCall | list[DispatchedCall]:
        if isinstance(at, slice):
            return [DispatchedCall(self.data, step) for step in self.data.steps[at]]
        if not INTEGER.accepts(at):
            raise wrong("The index of a step", NUMBER_OR_SLICE, at)
        return DispatchedCall(self.data, self.data.steps[at])

    def __iter__(self) -> Iterator[DispatchedCall]:
        return (DispatchedCall(self.data, step) for step in self.data.steps)

    @property
    def runs(self) -> list[DispatchedRun]:
        return [DispatchedRun(self.data, run) for run in self.data.runs]

    @takes(node=NODE)
    def under(self, node: schema.Node) -> list[DispatchedRun]:
        """Return the runs about a node of a captured graph: forward, and backward if a gradient flows through it.
        They are recorded now if they were not before.

        Raises:
            LookupError: they were not recorded, and the node's graph is not in this kernel.
        """
        if node.op not in ("call_function", "call_method"):
            return []
        if not any(run.node == node.id for run in self.data.runs):
            if self._live is None:
                raise LookupError(NOT_LIVE.format(node.name))
            if node.id not in self._live.calls:
                raise LookupError(f"{node.name} is not in a complete graph, so what is under it cannot be traced.")
            self._live.trace_into(node.id, self.data)
        return [run for run in self.runs if run.data.node == node.id]

    def __str__(self) -> str:
        return "\n".join(map(str, self.runs)) or (
            "No step of the dispatcher was recorded: `tracewalk.trace_dispatch(fn, ...)` records those of a function."
        )

    def __repr__(self) -> str:
        return f"<{count(len(self), 'step')} at the dispatcher>"
