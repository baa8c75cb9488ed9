"""`TraceState`: the knowledge of one attempt about the program, above the graphs that it builds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch

from tracer_core.graph.marks import Lengths, Table, cut_back, lengths_of
from tracer_core.graph.output import OutputGraph, OutputMark
from tracer_core.guards import make
from tracer_core.guards.kinds.libraries import LibraryReads
from tracer_core.sources import ConstantSource, DrawnSource, FrameGlobalsSource, GlobalSource, Source
from tracer_core.variables.core.journal import Journal, JournalMark
from tracer_core.variables.core.side_effects import ReplayedCall, SideEffects

if TYPE_CHECKING:
    from tracer_core.names.where import Where
    from tracer_core.variables.core.base import VariableTracker
    from tracer_core.variables.core.draws import Draw
    from tracer_core.variables.core.lazy import LazyVariableTracker
    from tracer_core.variables.core.tensors import TensorVariable


@dataclass(frozen=True, slots=True)
class TraceMark:
    """A mark of a `TraceState` and its graphs."""

    output: OutputMark
    lengths: Lengths
    realized: int
    compiling_check: str | None
    journal: JournalMark
    overlay: dict[type, dict[str, Any]]


class TraceState:
    """The state of an attempt above its graphs: trackers by value, side effects, draws, and answers to the program.

    Args:
        output: the graphs of the attempt.
    """

    def __init__(self, output: OutputGraph) -> None:
        self.output = output
        self.journal = Journal(self._on_restored)
        self.side_effects = SideEffects(self.journal, self._on_side_effect, output.where)
        # The trackers of external values: of objects with identity by their ids, of all by id and source.
        self.trackers_by_object: dict[int, VariableTracker] = {}
        self.built: dict[tuple[int, Source], VariableTracker] = {}
        # Lazy values that were realized, in this order.
        self.realized: list[LazyVariableTracker] = []
        # An operation that returns its argument, as in-place ones do, returns the argument's tracker, whose node is
        # the memory, not the values that were in it when the node was added.
        self.tensors_by_fake: dict[int, TensorVariable] = {}
        self.kept_alive: list[Any] = []
        # The writes to classes; how lookups find them; and the tracker of each placeholder.
        self.class_writes: dict[type, Any] = {}
        self.overlay: dict[type, dict[str, Any]] = {}
        self.placeholders: dict[int, tuple[Any, VariableTracker]] = {}
        # Whose `__dict__` each dict is, by their ids.
        self.dict_owners: dict[int, int] = {}
        self.libraries = LibraryReads()
        # The sources of globals that were read, by the ids of the globals and the names.
        self._global_sources: dict[tuple[int, str], GlobalSource] = {}
        # The names that are known, and guarded, to be no globals, each with the id of the globals.
        self.no_globals: dict[tuple[int, str], None] = {}
        # Tables by identity that the trace created, each with its place.
        self.identity_tables: list[tuple[Any, Where]] = []
        # Generators that the trace started.
        self.generators: list[Any] = []
        # Calls of random generators, which the generated code makes in this order before it calls the graph.
        self.draws: list[Draw] = []
        # The root frame's instructions, by number, at which the graph checks a condition on data that decides a
        # branch.
        self.check_steps: list[int] = []
        # Whether `is_compiling()` and the like return False, as in plain Python; the last of them that returned True.
        self.reports_eager = False
        self.compiling_check: str | None = None

    def real_value(self, tracker: VariableTracker) -> Any:
        """Return the real object of an external value's tracker."""
        assert tracker.source is not None
        return self.output.value_at(tracker.source)

    def draw(self, draw: Draw) -> DrawnSource:
        """Have the generated code make this call after the earlier draws; return the source of its result."""
        self.draws.append(draw)
        return DrawnSource(len(self.draws) - 1, draw.label)

    def global_source(self, globals_: dict[str, Any], name: str) -> GlobalSource:
        """Return the source of a global, as code with these globals sees it."""
        source = self._global_sources.get((id(globals_), name))
        if source is None:
            source = GlobalSource.of_function(name, globals_, self.output.frame.globals)
            self._global_sources[id(globals_), name] = source
        return source

    def note_no_global(self, globals_: dict[str, Any], name: str) -> None:
        """Guard that there is no global of that name, which would hide a builtin."""
        if (id(globals_), name) in self.no_globals:
            return
        self.no_globals[id(globals_), name] = None
        module = str(globals_.get("__name__", ""))
        if module.startswith("torch."):
            self.libraries.name(globals_, name)
        elif not module.startswith("tracer_core."):
            own = globals_ is self.output.frame.globals
            label = f"globals of {module}"
            source = FrameGlobalsSource(module) if own else ConstantSource.of_object(globals_, label)
            self.output.guard(make.lacks(source, name))

    def shows_other_data(self, call: ReplayedCall) -> bool:
        """Return whether a tensor that `call` shows was written to after the call was deferred, or might have
        been."""
        if call.moment is None:
            return False
        fakes = [tracker.fake for tracker in (*call.args, *call.kwargs.values())]
        written_since = self.output.fakes.written_since
        return any(isinstance(fake, torch.Tensor) and written_since(fake, call.moment) for fake in fakes)

    def _on_side_effect(self, kind: str, tracker: VariableTracker, message: str) -> None:
        observer = self.output.observer
        if observer is not None:
            if tracker.source is not None or kind == "global":
                observer.on_side_effect(kind, tracker, message)
            observer.on_change(tracker)

    def _on_restored(self, tracker: VariableTracker) -> None:
        if self.output.observer is not None:
            self.output.observer.on_change(tracker)

    # --- marks --------------------------------------------------------------------------------------------

    def _tables(self) -> tuple[Table, ...]:
        return (
            self.trackers_by_object,
            self.built,
            self._global_sources,
            self.tensors_by_fake,
            self.kept_alive,
            self.dict_owners,
            self.no_globals,
            self.class_writes,
            self.placeholders,
            self.identity_tables,
            self.generators,
            self.draws,
            self.check_steps,
            *self.libraries.tables,
        )

    def mark(self) -> TraceMark:
        """Mark the state, to roll back to if the following part is abandoned. Each mark is rolled back to or kept,
        those inside it first."""
        return TraceMark(
            self.output.mark(),
            lengths_of(self._tables()),
            len(self.realized),
            self.compiling_check,
            self.journal.mark(),
            {cls: dict(written) for cls, written in self.overlay.items()},
        )

    def keep(self, mark: TraceMark) -> None:
        """Keep the changes since the mark."""
        self.journal.keep(mark.journal)
        self.output.keep(mark.output)

    def roll_back(self, mark: TraceMark) -> None:
        """Return to the state at the mark: lazy values realized since are lazy again, and changes are undone."""
        self.journal.roll_back(mark.journal)
        for lazy in self.realized[mark.realized :]:
            lazy.realized = None
        del self.realized[mark.realized :]
        cut_back(self._tables(), mark.lengths)
        self.overlay.clear()
        self.overlay.update(mark.overlay)
        self.compiling_check = mark.compiling_check
        self.output.roll_back(mark.output)
