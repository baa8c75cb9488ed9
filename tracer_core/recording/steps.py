"""Present one step of a recording, and its values."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import overload

from tracer_core.recording import schema
from tracer_core.recording.arguments import NUMBER_OR_SLICE, wrong
from tracer_core.recording.codes import line_of
from tracer_core.recording.columns import State
from tracer_core.recording.conditions import steps_where
from tracer_core.recording.damage import reads
from tracer_core.recording.happened import Described, Happened
from tracer_core.recording.index import Index
from tracer_core.recording.makers import Maker
from tracer_core.recording.pace import paced
from tracer_core.recording.sentences import sentence
from tracer_core.recording.words import count

_SHOWN = 20
"""So many steps are printed."""


@reads(but=("__getitem__", "__eq__", "__hash__", "__repr__", "_snapshot"))
class Value:
    """One value of the program (a VariableTracker) as the engine knew it at one point of the recording.

    `parts` are values as of the same point; `value["[0]"]` is the part with that label.
    """

    __slots__ = ("_at", "_index", "_known", "id")

    def __init__(self, index: Index, tracker: int, at: int) -> None:
        self.id = tracker
        self._index = index
        self._at = at
        self._known: schema.Snapshot | None = None

    @property
    def _snapshot(self) -> schema.Snapshot:
        """Look the value up on first use: most values of a state are never looked at."""
        if self._known is None:
            self._known = self._index.trackers.at(self.id, self._at)
        return self._known

    @property
    def kind(self) -> str:
        """The kind in plain words: `tensor`, `list`, `user function`."""
        return self._snapshot.kind

    @property
    def cls(self) -> str:
        """The VariableTracker's class."""
        return self._snapshot.cls

    @property
    def py_type(self) -> str:
        return self._snapshot.py_type

    @property
    def text(self) -> str:
        """The value in one short line."""
        return self._snapshot.text

    @property
    def name(self) -> str:
        """What the program calls it, such as `self.conv.weight`, or what created it, such as "the result of
        `F.relu(x)`, net.py:12"; empty if its text says what it is."""
        return self._index.name(self._snapshot)

    @property
    def maker(self) -> Maker | None:
        """The expression that created it in the trace."""
        return self._index.maker(self.id)

    @property
    def source(self) -> str | None:
        """Its exact source, such as `L['self']._modules['conv']`; None if it was created in the trace."""
        return self._snapshot.source

    @property
    def fake(self) -> schema.FakeMeta | None:
        """The metadata of a tensor or symbolic number."""
        return self._snapshot.fake

    @property
    def node(self) -> schema.Node | None:
        """The graph node that computes it."""
        return None if self._snapshot.node is None else self._index.data.nodes[self._snapshot.node]

    @property
    def parts(self) -> list[tuple[str, Value]]:
        """Its parts, with labels. At most 200 are recorded; `more` counts the others."""
        return [(label, Value(self._index, part, self._at)) for label, part in self._snapshot.parts]

    @property
    def more(self) -> int:
        return self._snapshot.more

    @property
    def guards(self) -> list[schema.Guard]:
        """The guards installed on its source."""
        return [self._index.data.guards[number] for number in self._index.guards_on(self._snapshot)]

    @property
    def made_by(self) -> int | None:
        """The number of the step that created it; None if it existed before the first step."""
        return self._index.made_by(self.id)

    @property
    def history(self) -> list[int]:
        """The numbers of all steps that touched it, also later ones."""
        return list(self._index.touched(self.id))

    def __getitem__(self, label: str) -> Value:
        for name, part in self.parts:
            if name == label:
                return part
        labels = ", ".join(name for name, _ in self.parts) or "none"
        raise KeyError(f"{self.text} has no part {label!r}. Its parts: {labels}.")

    def __eq__(self, other: object) -> bool:
        """Return whether both are the same value of the same recording (maybe at another point)."""
        if not isinstance(other, Value):
            return NotImplemented
        return self.id == other.id and self._index is other._index

    def __hash__(self) -> int:
        return hash((self.id, id(self._index)))

    def __repr__(self) -> str:
        return f"<{self.text}{f' from {self.name}' if self.name else ''}>"


@dataclass(frozen=True)
class View:
    """A frame's values at one point: the stack, bottom first, and what locals and cells are bound to."""

    stack: list[Value]
    locals: dict[str, Value]
    cells: dict[str, Value]


@dataclass(frozen=True)
class Activation:
    """A frame in the chain of calls at a step: its code, the line and step it is at, and its values."""

    frame: schema.Frame
    code: schema.Code
    step: int
    line: int | None
    view: View

    def __repr__(self) -> str:
        return f"<{self.code.qualname} at line {self.line}>"


@reads(but=("__init__",))
class Step(Happened):
    """One instruction that was traced, with everything recorded about it. Numbers count from 0."""

    # --- where --------------------------------------------------------------------------------------------

    @property
    def opname(self) -> str:
        """The instruction's name in this CPython; `instruction.op` is the canonical one."""
        return self.instruction.opname

    @property
    def line(self) -> int | None:
        return line_of(self.code.instructions, self._index.steps.instruction[self.index])

    @property
    def depth(self) -> int:
        """The number of frames that inline this one."""
        return self.frame.depth

    @property
    def frames(self) -> list[Activation]:
        """The chain of frames from the root to this step's own, each with its values at this point."""
        states = self._index.steps.frames_before(self.index)
        chain: list[Activation] = []
        frame: schema.Frame | None = self.frame
        at: int | None = self.index
        while frame is not None and at is not None:
            code = self._index.data.codes[frame.code]
            line = line_of(code.instructions, self._index.steps.instruction[at])
            chain.append(Activation(frame, code, at, line, self._view(code, states[frame.id], self.index - 1)))
            at = frame.call_step
            frame = None if frame.parent is None else self._index.data.frames[frame.parent]
        return chain[::-1]

    # --- values -------------------------------------------------------------------------------------------

    @cached_property
    def _before(self) -> State:
        return self._index.steps.before(self.index)

    @cached_property
    def _after(self) -> State | None:
        return self._index.steps.after(self.index)

    @cached_property
    def before(self) -> View:
        """The frame's values as the instruction found them."""
        return self._view(self.code, self._before, self.index - 1)

    @cached_property
    def after(self) -> View | None:
        """The frame's values as the instruction left them; None if it did not end."""
        return None if self._after is None else self._view(self.code, self._after, self.until)

    @property
    def until(self) -> int:
        """The number of its last step: itself, or the last step of the frames it inlined."""
        return self._index.steps.until(self.index)

    @property
    def stack(self) -> list[Value]:
        """The stack before the step, bottom first."""
        return self.before.stack

    @property
    def locals(self) -> dict[str, Value]:
        """The bound locals before the step."""
        return self.before.locals

    @property
    def cells(self) -> dict[str, Value]:
        """The bound cells and free variables before the step."""
        return self.before.cells

    def _view(self, code: schema.Code, state: State, at: int) -> View:
        index = self._index
        slots = sorted(state.slots.items())
        return View(
            [Value(index, tracker, at) for tracker in state.stack],
            {code.locals[slot >> 1]: Value(index, tracker, at) for slot, tracker in slots if not slot & 1},
            {code.cells[slot >> 1]: Value(index, tracker, at) for slot, tracker in slots if slot & 1},
        )

    # --- effects ------------------------------------------------------------------------------------------

    @property
    def tracers(self) -> list[schema.Body]:
        """The bodies of higher-order operators that were being traced, the outermost first; the graph of the last one
        gets the step's nodes."""
        return self._index.bodies_at(self.index)

    @property
    def handlers(self) -> list[str]:
        """The engine's functions that were chosen for its call or operator."""
        return self._index.handlers(self.index)

    @property
    def sentence(self) -> str:
        """The step in one sentence."""
        following = self._index.steps.next_own(self.index)
        return sentence(Described(self._index, self.index, self._before, self._after, following))

    def __repr__(self) -> str:
        instruction = self.instruction
        what = f"{instruction.opname} {instruction.arg}".strip()
        return f"<step {self.index}: {what} in {self.code.qualname}, line {self.line}>"


class Steps(Sequence[Step]):
    """Steps of a recording, in order; each is read on access."""

    def __init__(self, index: Index, numbers: Sequence[int]) -> None:
        self._index = index
        self._numbers = numbers

    def __len__(self) -> int:
        return len(self._numbers)

    @overload
    def __getitem__(self, at: int) -> Step: ...

    @overload
    def __getitem__(self, at: slice) -> Steps: ...

    def __getitem__(self, at: int | slice) -> Step | Steps:
        if isinstance(at, slice):
            return type(self)(self._index, self._numbers[at])
        try:
            return Step(self._index, self._numbers[at])
        except TypeError:
            raise wrong("The index of a step", NUMBER_OR_SLICE, at) from None
        except IndexError:
            raise IndexError(f"There is no step {at}; this recording has {len(self)} (from 0).") from None

    def __iter__(self) -> Iterator[Step]:
        return (Step(self._index, number) for number in self._numbers)

    def where(self, condition: str | Callable[[Step], bool]) -> Steps:
        """Return those of the steps that meet a condition: a function of a step, or a text, such as
        `"the shape of x changes"`, `"reads(self.steps)"`, `"frame == 'forward' and node.target == 'relu'"`.

        `trace.steps[58:].where(...)[0]` is the next one after step 57, `trace.steps[:57].where(...)[-1]` the one
        before. The language is described in `tracer_core/recording/conditions.py`.

        Raises:
            ConditionError: the text cannot be understood; the message says why.
        """
        if isinstance(condition, str):
            return type(self)(self._index, steps_where(self._index, condition, self._numbers))
        if not callable(condition):
            raise TypeError(f"A condition is a text, or a function of a step, not {type(condition).__name__}.")
        numbers = paced(self._numbers, len(self))
        return type(self)(self._index, [number for number in numbers if condition(Step(self._index, number))])

    def __str__(self) -> str:
        """Return the sentences of the first steps, a line each."""
        lines = [f"{step.index}. {step.sentence}" for step in self[:_SHOWN]]
        more = len(self) - _SHOWN
        return "\n".join([*lines, f"... and {count(more, 'other step')}"] if more > 0 else lines) or "No steps."

    def __repr__(self) -> str:
        return f"<{count(len(self), 'step')}>"
