"""Provide a recording as people use it: its steps, their effects, and queries."""

from __future__ import annotations

import os
from functools import cached_property
from typing import TYPE_CHECKING, Any

from tracer_core.recording import file, schema
from tracer_core.recording.arguments import (
    BREAK,
    INTEGER,
    PATH,
    TEXT,
    TEXT_OR_ID,
    Kind,
    takes,
)
from tracer_core.recording.comparison import Comparison, compare
from tracer_core.recording.conditions import Stops, stops
from tracer_core.recording.dispatch import Dispatch
from tracer_core.recording.dot import RecordedGraph
from tracer_core.recording.find import find_steps
from tracer_core.recording.index import Index
from tracer_core.recording.messages import Overview
from tracer_core.recording.overview import overview, plain_calls
from tracer_core.recording.recompiling import Recompilation, recompilations
from tracer_core.recording.sentences import Sentences
from tracer_core.recording.steps import Step, Steps
from tracer_core.recording.story import Story, story
from tracer_core.recording.summary import summary
from tracer_core.recording.tables import rows
from tracer_core.recording.words import count

if TYPE_CHECKING:
    import pandas

    from tracer_core.recording.live import LiveGraphs

_BreakPlace = tuple[str, int, int | None]


_ADVICE = "Pass what tracewalk.trace(fn, ...) or tracewalk.load(path) returns."
RECORDING = Kind("a recording", _ADVICE, lambda value: isinstance(value, Trace))
_RECORDED = Kind("a recording", _ADVICE, lambda value: isinstance(value, (Trace, schema.Recording)))


class Trace:
    """A recording. `steps[i]` is a step with all its details; the lists below hold plain records (`schema.py`).

    A trace created without data belongs to a running recording; `fill` completes it.
    """

    live: LiveGraphs | None = None
    """The graphs of the recording as this kernel has them; None for recordings from a file."""

    def __init__(self, data: schema.Recording | None = None) -> None:
        self._data = data

    def fill(self, data: schema.Recording, live: LiveGraphs | None = None) -> None:
        """Set the data of a recording that has ended."""
        if self._data is not None:
            raise ValueError("This trace is complete already; make another one.")
        self._data, self.live = data, live

    @property
    def data(self) -> schema.Recording:
        """All data, as stored."""
        if self._data is None:
            raise RuntimeError("The recording is still going on; leave its `with` block before you read it.")
        return self._data

    @cached_property
    def index(self) -> Index:
        """Lookups that the parts of this package share."""
        return Index(self.data)

    @cached_property
    def sentences(self) -> Sentences:
        """The sentences of the steps, for who needs many."""
        return Sentences()

    @property
    def steps(self) -> Steps:
        return Steps(self.index, range(self.data.steps))

    def __len__(self) -> int:
        return self.data.steps

    @property
    def label(self) -> str:
        return self.data.label

    @property
    def codes(self) -> list[schema.Code]:
        return self.data.codes

    @property
    def frames(self) -> list[schema.Frame]:
        return self.data.frames

    @property
    def attempts(self) -> list[schema.Attempt]:
        return self.data.attempts

    @property
    def compilations(self) -> list[schema.Compilation]:
        return self.data.compilations

    @property
    def graphs(self) -> list[RecordedGraph]:
        """The graphs that were completed, in order; `all_graphs` has those of failed attempts too."""
        completed = {compilation.graph for compilation in self.compilations}
        return [graph for graph in self.all_graphs if graph.id in completed]

    @cached_property
    def all_graphs(self) -> list[RecordedGraph]:
        return [RecordedGraph.of(graph, self.data, self.dispatch) for graph in self.data.graphs]

    @property
    def nodes(self) -> list[schema.Node]:
        return self.data.nodes

    @property
    def bodies(self) -> list[schema.Body]:
        """The bodies of higher-order operators that were traced into graphs of their own, in that order."""
        return self.data.bodies

    @property
    def guards(self) -> list[schema.Guard]:
        return self.data.guards

    @property
    def breaks(self) -> list[schema.Break]:
        return self.data.breaks

    @property
    def notices(self) -> list[schema.Notice]:
        return self.data.notices

    @takes(code=INTEGER)
    def function_of(self, code: int) -> schema.Code:
        """Return the code with this id; for a resume function, the code of the function it resumes."""
        found = self.codes[code]
        return found if found.resumes is None else self.codes[found.resumes]

    @property
    def break_places(self) -> list[schema.Break]:
        """One break for each place in the program and each reason. A break in an inlined function also breaks each
        of its callers; this list has the break of the function that contains the line, if that was traced
        separately. A break in a library's function that was traced separately belongs to the first line of the
        program that calls it, if there is one."""
        return [main for main, _ in self.breaks_by_place]

    @property
    def breaks_by_place(self) -> list[tuple[schema.Break, list[schema.Break]]]:
        """The breaks of `break_places`, each with the other breaks at its place."""
        above = {self._place(one, one.library): self._place(one) for one in reversed(self.breaks) if one.library}
        places: dict[_BreakPlace, list[schema.Break]] = {}
        for one in self.breaks:
            place = self._place(one)
            places.setdefault(above.get(place, place), []).append(one)
        by_place = []
        for place, found in places.items():
            own = [one for one in found if self._place(one) == place]
            main = next((one for one in own if one.root_code == one.code), own[0])
            by_place.append((main, [one for one in found if one is not main]))
        return by_place

    def _place(self, one: schema.Break, at: schema.Place | None = None) -> _BreakPlace:
        """Return the key that distinguishes places of breaks, for the break's own line or another. (The message is no
        part of it, since it may differ between calls, as by a dtype.)"""
        code, line = (one.code, one.line) if at is None else (at.code, at.line)
        return one.reason_id, self.function_of(code).id, line

    @property
    def calls(self) -> list[schema.Call]:
        return self.data.calls

    @property
    def only_reused(self) -> bool:
        """Whether calls ran versions that had been compiled before, and nothing was compiled. (What has no graph
        anyway is traced in vain each time.)"""
        reused = any(call.outcome == "reused" for call in self.calls)
        return reused and not plain_calls(self) and all(one.outcome == "skipped" for one in self.compilations)

    @cached_property
    def recompilations(self) -> list[Recompilation]:
        """The causes of recompilations, those of most calls first: what changed, in which calls, the line that it
        matters to, and what to try."""
        return recompilations(self)

    @property
    def dispatch(self) -> Dispatch:
        """The steps of the dispatcher: of `trace_dispatch`, of a recording at the level `dispatch`, or under the
        nodes for which that was asked."""
        return Dispatch(self.data.dispatcher, self.live)

    @property
    def symbols(self) -> list[schema.Symbol]:
        return self.data.symbols

    @property
    def side_effects(self) -> list[schema.SideEffect]:
        return self.data.side_effects

    @property
    def generated(self) -> list[schema.Generated]:
        return self.data.generated

    @property
    def faults(self) -> list[schema.Fault]:
        return self.data.faults

    @property
    def timings(self) -> list[schema.Stage]:
        return self.data.timings

    @property
    def lost(self) -> list[schema.Lost]:
        """The parts that are missing from the recording, because the recorder failed on them."""
        return self.data.lost

    def overview(self) -> Overview:
        """Return what happened as data: a headline, and sections of rows, ranked by what they cost. `print(trace)`
        and the explorer show the same."""
        return overview(self)

    # --- queries ------------------------------------------------------------------------------------------

    @takes(
        file=TEXT,
        line=INTEGER,
        function=TEXT,
        op=TEXT,
        node=TEXT_OR_ID,
        guard=TEXT_OR_ID,
        break_=BREAK,
        text=TEXT,
        attempts=TEXT,
    )
    def find(
        self,
        *,
        file: str | None = None,
        line: int | None = None,
        function: str | None = None,
        op: str | None = None,
        node: str | int | None = None,
        guard: str | int | None = None,
        break_: bool | int | None = None,
        text: str | None = None,
        attempts: str = "all",
    ) -> list[Step]:
        """Return the steps that meet all the given conditions, in order.

        Args:
            file: their file's path, or its end.
            line: their source line.
            function: their function's name or qualified name.
            op: their instruction, by CPython's name or the canonical one.
            node: they added the node with this name or id.
            guard: they installed the guard with this id, or one whose text or source contains this.
            break_: the graph broke there (True), or with this break (its id).
            text: their operand, source line, or the text of one of their nodes, guards or breaks contains this.
            attempts: "all", or "last" to leave out attempts that were restarted.

        Raises:
            ValueError: no condition is given, or `attempts` is neither of the two.
        """
        return find_steps(self.index, file, line, function, op, node, guard, break_, text, attempts)

    @takes(condition=TEXT)
    def stops(self, condition: str) -> Stops:
        """Return where the explorer stops because of a condition (see `steps.where`): at each step that meets it, or
        that begins to where it is about what holds for a while."""
        return stops(self.index, condition)

    @takes(line=INTEGER)
    def at_line(self, file: str | None, line: int) -> list[Step]:
        """Return the steps of a source line, in all files or in the one whose path ends with `file`."""
        return self.find(file=file, line=line)

    @takes(what=TEXT)
    def to_dataframe(self, what: str = "steps") -> pandas.DataFrame:
        """Return a table of `steps`, `calls`, `checks`, `guards`, `breaks`, `notices`, `nodes`, `frames`, `attempts`,
        `compilations`, `symbols`, `bodies` or `side_effects`. Needs pandas.

        Raises:
            ImportError: pandas is not installed.
            ValueError: there is no such table.
        """
        table = rows(self, what)
        try:
            import pandas
        except ImportError:
            raise ImportError("to_dataframe needs pandas; run `pip install pandas` and try again.") from None
        return pandas.DataFrame(table)

    def story(self) -> Story:
        """Tell the recording as some ten stations, from the first call to the outcome. `print` shows them."""
        return story(self)

    @takes(other=RECORDING)
    def diff(self, other: Trace) -> Comparison:
        """Compare this recording, as the one before, with `other`, as the one after a change. `print` shows the
        differences: breaks, graphs, guards, compilations, time, and the first line that only one of them runs."""
        return compare(self, other)

    @takes(path=PATH)
    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the recording to a file that `load` reads. Raises TraceFileError."""
        file.write(self.data, path)

    def __str__(self) -> str:
        return summary(self.overview())

    def __repr__(self) -> str:
        if self._data is None:
            return "<Trace, still recording>"
        name = f" {self.label!r}" if self.label else ""
        counted = ((len(self), "step"), (len(self.graphs), "graph"), (len(self.breaks), "break"))
        return f"<Trace{name}: {', '.join(count(number, noun) for number, noun in counted)}>"

    def __getstate__(self) -> Any:
        raise TypeError("A trace cannot be pickled; use save(path), and load(path) to read it back.")


@takes(trace=_RECORDED, path=PATH)
def save(trace: Trace | schema.Recording, path: str | os.PathLike[str]) -> None:
    """Write a trace to a file that `load` reads. Raises TraceFileError."""
    file.write(trace if isinstance(trace, schema.Recording) else trace.data, path)


@takes(path=PATH)
def load(path: str | os.PathLike[str]) -> Trace:
    """Read a trace that `save` wrote.

    Raises:
        TraceFileError: there is no such file, it is not a trace, it is damaged, or a newer version wrote it.
    """
    return Trace(file.read(path))
