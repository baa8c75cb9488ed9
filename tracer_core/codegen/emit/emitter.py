"""`Emitter`: collect the instructions of the new code, its temporaries, and the variable that holds each value."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from tracer_core.bytecode import Instruction, Push
from tracer_core.codegen.emit.names import OUTPUTS, is_ours, is_temporary, temporary
from tracer_core.names.sentences import a
from tracer_core.runtime.objects import globals_of_caller
from tracer_core.sources import CellSource, LocalSource, Source, SourceCode
from tracer_core.variables.core.base import VariableTracker
from tracer_core.variables.functions.cells import CellVariable
from tracer_core.variables.functions.frames import Frame
from tracer_core.variables.objects import overlay


class CannotRebuild(Exception):
    """A value that is still alive cannot be rebuilt by generated code."""

    def __init__(self, tracker: VariableTracker) -> None:
        super().__init__(f"{a(tracker.kind)} ({tracker.describe()})")
        self.tracker = tracker


class ClassLeaves(Exception):
    """A class that was created in the trace would have to outlive it."""

    def __init__(self, made: overlay.CreatedClass) -> None:
        super().__init__(made.cls.__qualname__)
        self.made = made


def refuse_created_classes(alive: list[VariableTracker]) -> None:
    """Check that no live value needs a class that exists for the trace alone.

    Raises:
        ClassLeaves: one is.
    """
    if not overlay.made:
        return
    for tracker in alive:
        for place in ("known", "cls", "named_cls"):
            found = getattr(tracker, place, None)
            if isinstance(found, type) and found in overlay.made:
                raise ClassLeaves(overlay.made[found])


class Emitter(SourceCode):
    """Code that runs in the root frame's place.

    `where` maps a tracker to the temporary that holds its value; other trackers are rebuilt when they are first
    loaded. `outputs` are the trackers the graph returns, by position.
    """

    def __init__(
        self, root: Frame, outputs: dict[VariableTracker, int], rebuild: Callable[[Emitter, Any], None]
    ) -> None:
        super().__init__()
        self.root = root
        self.where: dict[VariableTracker, str] = {}
        self.outputs = outputs
        # The trackers being rebuilt now; the temporary of each that one of its parts, which holds it, has already
        # built.
        self.unfinished: set[VariableTracker] = set()
        self.made_by_parts: dict[VariableTracker, str] = {}
        self._rebuild = rebuild
        self._temporaries = 0

    # --- small steps --------------------------------------------------------------------------------------

    def const(self, value: Any) -> None:
        """Push an object known while tracing.

        Raises:
            ClassLeaves: it is a class that exists for the trace alone, or of one.
        """
        made = overlay.find_created(value) if overlay.made else None
        if made is not None:
            raise ClassLeaves(made)
        if overlay.placeholders and id(value) in overlay.placeholders:
            self.load(overlay.placeholders[id(value)][1])
            return
        super().const(value)

    def globals_of(self, globals_: dict[str, Any]) -> None:
        """Push a function's globals. Those of the frame itself are read from the running frame: as a constant of its
        own code they would keep themselves alive."""
        if globals_ is self.root.globals:
            self.call_const(globals_of_caller)
        else:
            self.const(globals_)

    def temporary(self) -> str:
        self._temporaries += 1
        return temporary(self._temporaries)

    def store_new(self) -> str:
        """Move the top of the stack to a new temporary."""
        name = self.temporary()
        self.store_local(name)
        return name

    def drop_temporaries(self) -> None:
        """Unbind all temporaries, so that the following code does not find them among its locals."""
        stored = (i.arg for i in self.instructions if i.op == "STORE_FAST")
        names = dict.fromkeys(name for name in stored if name == OUTPUTS or is_temporary(name))
        for name in names:
            self.delete_local(name)

    def keep(self, tracker: VariableTracker) -> None:
        """Remember that the top of the stack (which stays) is `tracker`'s value."""
        name = self.temporary()
        self.emit("COPY", 1)
        self.store_local(name)
        self.where[tracker] = name

    def forget_unused(self, others: Sequence[Instruction]) -> None:
        """Remove stores of values that neither these instructions nor `others` load, and number the remaining
        temporaries from 1."""
        everything = [*self.instructions, *others]
        used = {i.arg for i in everything if i.op == "LOAD_FAST"}
        kept: list[Instruction] = []
        dropped: set[str] = set()
        for instruction in self.instructions:
            if instruction.op == "DELETE_FAST" and instruction.arg in dropped:
                continue
            keeps = instruction.op == "STORE_FAST" and kept and kept[-1].op == "COPY" and kept[-1].arg == 1
            if keeps and is_ours(str(instruction.arg)) and instruction.arg not in used:
                kept.pop()
                dropped.add(instruction.arg)
            else:
                kept.append(instruction)
        self.instructions[:] = kept
        names = dict.fromkeys(str(i.arg) for i in kept if i.op == "STORE_FAST" and is_temporary(str(i.arg)))
        renamed = {name: temporary(number) for number, name in enumerate(names, 1)}
        for instruction in [*kept, *others]:
            if instruction.op in ("LOAD_FAST", "STORE_FAST", "DELETE_FAST"):
                instruction.arg = renamed.get(instruction.arg, instruction.arg)

    # --- values -------------------------------------------------------------------------------------------

    def load_source(self, source: Source) -> None:
        if isinstance(source, LocalSource) and source.local not in self.root.code.co_varnames and not source.free:
            raise CannotRebuild(CellVariable(None, source))
        super().load_source(source)

    def load(self, tracker: VariableTracker) -> None:
        """Push the tracker's value."""
        name = self.where.get(tracker)
        if name is not None:
            self.load_local(name)
        else:
            self._rebuild(self, tracker)

    def loading(self, trackers: Iterable[VariableTracker]) -> list[Push]:
        """Return for each tracker a function that pushes its value."""
        return [partial(self.load, tracker) for tracker in trackers]

    def set_attributes_of(self, tracker: VariableTracker, attributes: Mapping[str, VariableTracker]) -> None:
        """Write the attributes of a value, as a statement would."""
        for name, value in attributes.items():
            self.set_attribute(partial(self.load, tracker), name, partial(self.load, value))

    def is_own_cell(self, cell: CellVariable) -> str | None:
        """Return the name under which the root frame itself holds this cell, if it does."""
        if isinstance(cell.source, CellSource):
            return cell.source.cell
        for name, held in self.root.cells.items():
            if held is cell:
                return name
        return None
