"""Values over time: what a name is bound to, and the steps that read, write or change a value.

A value is named as the program names it: a variable (`x`), its attributes and items (`self.steps`, `kept[0]`), or a
fact of it (`x.shape`).
"""

from __future__ import annotations

import ast
from bisect import bisect_right
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tracer_core.recording import schema
from tracer_core.recording.columns import State
from tracer_core.recording.damage import reading
from tracer_core.recording.index import Index


class Missing:
    """The absence of a value: an unbound variable, an attribute that was not recorded."""

    def __repr__(self) -> str:
        return "nothing"


MISSING = Missing()
_INSIDE = ("realized", "contents")
"""The part that stands for the whole: of a lazy value, of a cell."""


def sizes(texts: Sequence[str]) -> tuple[int | str, ...]:
    return tuple(int(text) if text.lstrip("-").isdecimal() else text for text in texts)


_OF_FAKES: Mapping[str, Callable[[schema.FakeMeta], Any]] = {
    "shape": lambda fake: sizes(fake.shape),
    "stride": lambda fake: sizes(fake.stride),
    "dtype": lambda fake: fake.dtype,
    "device": lambda fake: fake.device,
    "requires_grad": lambda fake: fake.requires_grad,
    "ndim": lambda fake: len(fake.shape),
}
_OF_SNAPSHOTS: Mapping[str, Callable[[schema.Snapshot], Any]] = {
    "kind": lambda snapshot: snapshot.kind,
    "type": lambda snapshot: snapshot.py_type,
    "text": lambda snapshot: snapshot.text,
    "source": lambda snapshot: snapshot.source if snapshot.source is not None else MISSING,
}


class Seen:
    """A value of the program as it was after a step. `visited` collects the trackers that were looked at."""

    __slots__ = ("_at", "_index", "_visited", "snapshot", "tracker")

    def __init__(self, index: Index, tracker: int, at: int, visited: set[int] | None = None) -> None:
        self._index = index
        self._at = at
        self._visited = visited
        self.tracker, self.snapshot = _whole(index, tracker, at, visited)

    def attribute(self, name: str) -> Any:
        """Return an attribute that was recorded, or a fact; MISSING if there is neither."""
        part = self._part(f".{name}")
        if part is not None:
            return part
        fake = self.snapshot.fake or self._index.fake_of_input(self.snapshot)
        if name in _OF_FAKES and fake is not None:
            return _OF_FAKES[name](fake)
        return _OF_SNAPSHOTS[name](self.snapshot) if name in _OF_SNAPSHOTS else MISSING

    def item(self, key: object) -> Any:
        part = self._part(f"[{key!r}]")
        return MISSING if part is None else part

    def _part(self, label: str) -> Seen | None:
        for name, tracker in self.snapshot.parts:
            if name == label:
                return Seen(self._index, tracker, self._at, self._visited)
        return None

    def __len__(self) -> int:
        return len(self.snapshot.parts) + self.snapshot.more

    @property
    def plain(self) -> Any:
        """The value itself where it is a constant of Python, else its text."""
        if self.snapshot.kind == "constant":
            try:
                return ast.literal_eval(self.snapshot.text)
            except (ValueError, SyntaxError):
                pass
        return self.snapshot.text

    @property
    def key(self) -> Hashable:
        """Two values with the same key are the same value in the same state."""
        return self.tracker, self.snapshot.step


def _whole(index: Index, tracker: int, at: int, visited: set[int] | None) -> tuple[int, schema.Snapshot]:
    """Return the value that a lazy value or a cell stands for, as of `at`."""
    while True:
        if visited is not None:
            visited.add(tracker)
        snapshot = index.trackers.at(tracker, at)
        inside = next((part for label, part in snapshot.parts if label in _INSIDE), None)
        if inside is None and snapshot.kind == "lazy value":
            inside = index.realized(snapshot)
        if inside is None or inside == tracker:
            return tracker, snapshot
        tracker = inside


@dataclass(frozen=True)
class Binding:
    """A variable bound to a tracker from step `first` on, up to and including `last`. `bound_by` is the step that
    bound it, and `was` the tracker before; None for arguments."""

    tracker: int | None
    first: int
    last: int
    bound_by: int | None
    was: int | None


def slots_of(code: schema.Code, name: str) -> list[int]:
    """Return the slots of a variable in a code: its local's, its cell's."""
    slots = [2 * code.locals.index(name)] if name in code.locals else []
    return [*slots, 2 * code.cells.index(name) + 1] if name in code.cells else slots


def bound(state: State, slots: Sequence[int]) -> int | None:
    """Return the tracker that a state binds to the first bound one of `slots`."""
    return next((state.slots[slot] for slot in slots if slot in state.slots), None)


def bindings(index: Index, name: str) -> Iterator[Binding]:
    """Yield every binding of a variable, in all frames."""
    frames = index.data.frames
    slots = [slots_of(code, name) for code in index.data.codes]
    wanted = [slots[frame.code] for frame in frames]
    running: dict[int, tuple[int | None, int, int | None, int | None]] = {}
    latest: dict[int, int] = {}
    states: dict[int, State] = {}
    for step, frame, change in index.steps.walk(0, len(index.steps), states):
        own = wanted[frame]
        if not own:
            continue
        if change.fresh:
            running[frame] = bound(states[frame], own), step, None, None
        elif change.slots and any(slot in change.slots for slot in own):
            tracker, first, bound_by, was = running[frame]
            now = bound(states[frame], own)
            if now != tracker:
                yield Binding(tracker, first, step - 1, bound_by, was)
                running[frame] = now, step, latest[frame], tracker
        latest[frame] = step
    for frame, (tracker, first, bound_by, was) in running.items():
        yield Binding(tracker, first, frames[frame].end_step, bound_by, was)


def binding_of_value(index: Index, tracker: int) -> Binding:
    """Return a value by itself as if it were bound all the time."""
    return Binding(tracker, 0, len(index.steps) - 1, None, None)


Reading = Callable[[Seen], Any]
"""What is read of the bound value: the value itself, a part, a fact."""


@reading
def changes(index: Index, among: Iterator[Binding], read: Reading) -> set[int]:
    """Return the steps after which `read` gives another result for a bound value: they bound another value to the
    variable, or changed the value."""
    found: set[int] = set()
    for binding in among:
        if binding.bound_by is not None:
            before = _result(index, binding.was, binding.bound_by - 1, read)
            if before != _result(index, binding.tracker, binding.first - 1, read):
                found.add(binding.bound_by)
        if binding.tracker is not None:
            found.update(_mutations(index, binding.tracker, binding.first, binding.last, read))
    return found


def _mutations(index: Index, tracker: int, first: int, last: int, read: Reading) -> Iterator[int]:
    """Yield the steps from `first` to `last` that change the result of `read` by changing a value in place."""
    at = first - 1
    visited: set[int] = set()
    result = _result(index, tracker, at, read, visited)
    while True:
        following = [step for one in visited if (step := _next_change(index, one, at)) is not None and step <= last]
        if not following:
            return
        at = min(following)
        visited = set()
        now = _result(index, tracker, at, read, visited)
        if now != result:
            yield at
        result = now


def _next_change(index: Index, tracker: int, after: int) -> int | None:
    """Return the first step after `after` that changed a tracker."""
    if not index.trackers.later_of(tracker):
        return None
    steps = index.trackers.later_steps(tracker)
    at = bisect_right(steps, after)
    return steps[at] if at < len(steps) else None


def _result(index: Index, tracker: int | None, at: int, read: Reading, visited: set[int] | None = None) -> Hashable:
    found = MISSING if tracker is None else read(Seen(index, tracker, at, visited))
    if isinstance(found, Seen):
        return found.key
    return tuple(found) if isinstance(found, list) else found


# --- instructions that name a value -------------------------------------------------------------------------------

_LOADS = frozenset({"LOAD_FAST", "LOAD_DEREF", "LOAD_CLASSDEREF", "LOAD_NAME", "LOAD_GLOBAL"})
_STORES = frozenset(
    f"{what}_{where}" for what in ("STORE", "DELETE") for where in ("FAST", "DEREF", "NAME", "GLOBAL")
)
_ATTRIBUTES = {"reads": frozenset({"LOAD_ATTR", "LOAD_METHOD"}), "writes": frozenset({"STORE_ATTR", "DELETE_ATTR"})}
_ITEMS = {"reads": frozenset({"BINARY_SUBSCR"}), "writes": frozenset({"STORE_SUBSCR", "DELETE_SUBSCR"})}

Base = Callable[[schema.Code, State, int], int | None]
"""Returns the tracker, as it was before a step, of the value whose attribute or item is named."""


def names_variable(what: str, instruction: schema.Instr, name: str) -> bool:
    """Return whether an instruction reads (or writes) the variable `name`."""
    if instruction.opname not in (_LOADS if what == "reads" else _STORES):
        return False
    return instruction.arg.removeprefix("NULL + ") == name


@reading
def accesses(index: Index, what: str, base: Base, last: tuple[str, object], name: str | None) -> set[int]:
    """Return the steps that read (or write) an attribute or an item: `last` is ("attribute", its name) or ("item",
    its key). `name` is the base where it is a plain variable, which may be a global one."""
    kind, wanted = last
    ops = (_ATTRIBUTES if kind == "attribute" else _ITEMS)[what]
    depth = 1 if kind == "attribute" else 2
    data, frames = index.data, index.data.frames
    found: set[int] = set()
    states: dict[int, State] = {}
    candidates = [
        [one.opname in ops and (kind == "item" or one.arg == wanted) for one in code.instructions]
        for code in data.codes
    ]
    instruction_of = index.steps.instruction
    for step, frame, _ in index.steps.walk(0, len(index.steps), states):
        code = data.codes[frames[frame].code]
        if not candidates[code.id][instruction_of[step]]:
            continue
        state = states[frame]
        if len(state.stack) < depth:
            continue
        if kind == "item" and Seen(index, state.stack[-1], step - 1).plain != wanted:
            continue
        holder = Seen(index, state.stack[-depth], step - 1)
        own = base(code, state, step - 1)
        if own is not None:
            if Seen(index, own, step - 1).tracker == holder.tracker:
                found.add(step)
        elif name is not None and holder.snapshot.source == f"G[{name!r}]":
            found.add(step)
    return found
