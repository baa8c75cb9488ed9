"""`Emitter`: collects the instructions of the new code, its temporaries, and which values stand where."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Sequence
from typing import Any

from tracer_core.bytecode import CallShape, Instruction, make
from tracer_core.sources import CellSource, LocalSource, Source
from tracer_core.variables import overlay
from tracer_core.variables.base import VariableTracker
from tracer_core.variables.cells import CellVariable
from tracer_core.variables.frames import Frame

# The local that holds what the graph returned.
OUTPUTS = "___outputs"


class CannotRebuild(Exception):
    """A value that is still alive cannot be made again by generated code."""

    def __init__(self, tracker: VariableTracker) -> None:
        super().__init__(f"a {tracker.kind} ({tracker.describe()})")
        self.tracker = tracker


class ClassLeaves(Exception):
    """A class that the trace made would have to outlive it."""

    def __init__(self, made: overlay.MadeClass) -> None:
        super().__init__(made.cls.__qualname__)
        self.made = made


def refuse_classes_made(alive: list[VariableTracker]) -> None:
    """See to it that no class that exists for the trace alone is needed by what is alive.

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


def _globals_of_caller() -> dict[str, Any]:
    return sys._getframe(1).f_globals


_TEMPORARY = re.compile(r"___[0-9]+")


class Emitter:
    """Instructions that run in the root frame's place.

    `where` maps a tracker to the temporary that holds its value; what is not there is rebuilt when asked for.
    `outputs` are the trackers the graph returns, by position.
    """

    def __init__(
        self, root: Frame, outputs: dict[VariableTracker, int], rebuild: Callable[[Emitter, Any], None]
    ) -> None:
        self.root = root
        self.instructions: list[Instruction] = []
        self.where: dict[VariableTracker, str] = {}
        self.outputs = outputs
        # What is being made now; and of that what one of its parts, which holds it, has made: its temporary.
        self.unfinished: set[VariableTracker] = set()
        self.made_by_parts: dict[VariableTracker, str] = {}
        self._rebuild = rebuild
        self._temporaries = 0

    # --- small steps --------------------------------------------------------------------------------------

    def emit(self, op: str, arg: Any = None, target: Instruction | None = None) -> Instruction:
        instruction = make(op, arg, target)
        self.instructions.append(instruction)
        return instruction

    def const(self, value: Any) -> None:
        """Push an object known while tracing.

        Raises:
            ClassLeaves: it is a class that exists for the trace alone, or of one.
        """
        made = overlay.made_for(value) if overlay.made else None
        if made is not None:
            raise ClassLeaves(made)
        if overlay.placeholders and id(value) in overlay.placeholders:
            self.load(overlay.placeholders[id(value)][1])
            return
        self.emit("LOAD_CONST", value)

    def globals_of(self, globals_: dict[str, Any]) -> None:
        """Push a function's globals. Those of the frame itself are asked of the frame that runs: as a constant of its
        own code they would keep themselves alive."""
        if globals_ is self.root.globals:
            self.call_const(_globals_of_caller)
        else:
            self.const(globals_)

    def temporary(self) -> str:
        self._temporaries += 1
        return f"___{self._temporaries}"

    def store_new(self) -> str:
        """Move the top of the stack to a new temporary."""
        name = self.temporary()
        self.emit("STORE_FAST", name)
        return name

    def drop_temporaries(self) -> None:
        """Unbind all temporaries: what follows shall not find them among its locals."""
        stored = (i.arg for i in self.instructions if i.op == "STORE_FAST")
        names = dict.fromkeys(name for name in stored if name == OUTPUTS or _TEMPORARY.fullmatch(name))
        for name in names:
            self.emit("DELETE_FAST", name)

    def keep(self, tracker: VariableTracker) -> None:
        """Remember that the top of the stack (which stays) is `tracker`'s value."""
        name = self.temporary()
        self.emit("COPY", 1)
        self.emit("STORE_FAST", name)
        self.where[tracker] = name

    def forget_unused(self, others: Sequence[Instruction]) -> None:
        """Take out what keeps values that neither these instructions nor `others` ask for again, and number the
        temporaries that are left from 1."""
        everything = [*self.instructions, *others]
        used = {i.arg for i in everything if i.op == "LOAD_FAST"}
        kept: list[Instruction] = []
        dropped: set[str] = set()
        for instruction in self.instructions:
            if instruction.op == "DELETE_FAST" and instruction.arg in dropped:
                continue
            keeps = instruction.op == "STORE_FAST" and kept and kept[-1].op == "COPY" and kept[-1].arg == 1
            if keeps and str(instruction.arg).startswith("___") and instruction.arg not in used:
                kept.pop()
                dropped.add(instruction.arg)
            else:
                kept.append(instruction)
        self.instructions[:] = kept
        names = dict.fromkeys(str(i.arg) for i in kept if i.op == "STORE_FAST" and _TEMPORARY.fullmatch(str(i.arg)))
        renamed = {name: f"___{number}" for number, name in enumerate(names, 1)}
        for instruction in [*kept, *others]:
            if instruction.op in ("LOAD_FAST", "STORE_FAST", "DELETE_FAST"):
                instruction.arg = renamed.get(instruction.arg, instruction.arg)

    def call_const(self, function: Any, *arguments: Callable[[], None]) -> None:
        """Push `function(*arguments)`; each argument is a callable that pushes one value."""
        self.emit("PUSH_NULL")
        self.const(function)
        for push in arguments:
            push()
        self.emit("CALL", CallShape(len(arguments)))

    # --- values -------------------------------------------------------------------------------------------

    def load_source(self, source: Source) -> None:
        """Push what is at `source`, as it is now."""
        self.instructions.extend(self._source(source))

    def _source(self, source: Source) -> list[Instruction]:
        if isinstance(source, LocalSource) and source.local not in self.root.code.co_varnames and not source.free:
            raise CannotRebuild(CellVariable(None, source))
        return source.rebuild(self._source)

    def load(self, tracker: VariableTracker) -> None:
        """Push the tracker's value."""
        name = self.where.get(tracker)
        if name is not None:
            self.emit("LOAD_FAST", name)
        else:
            self._rebuild(self, tracker)

    def is_own_cell(self, cell: CellVariable) -> str | None:
        """The name under which the root frame itself holds this cell, if it does."""
        if isinstance(cell.source, CellSource):
            return cell.source.cell
        for name, held in self.root.cells.items():
            if held is cell:
                return name
        return None
