"""A recording as people use it: its steps, what they did, and questions about them."""

from __future__ import annotations

import os
from functools import cached_property
from typing import TYPE_CHECKING, Any

from tracer_core.recording import file, schema
from tracer_core.recording.find import find_steps
from tracer_core.recording.index import Index
from tracer_core.recording.steps import Step, Steps
from tracer_core.recording.summary import summary
from tracer_core.recording.tables import rows

if TYPE_CHECKING:
    import pandas

_BreakPlace = tuple[str, int, int | None]


class Trace:
    """A recording. `steps[i]` is a step with all it shows; the lists below hold plain records (`schema.py`).

    A trace made without data stands for a recording still going on; `fill` completes it.
    """

    def __init__(self, data: schema.Trace | None = None) -> None:
        self._data = data

    def fill(self, data: schema.Trace) -> None:
        """The recording that this object was waiting for has ended."""
        if self._data is not None:
            raise ValueError("This trace is complete already; make another one.")
        self._data = data

    @property
    def data(self) -> schema.Trace:
        """Everything, as it is stored."""
        if self._data is None:
            raise RuntimeError("The recording is still going on; leave its `with` block before you read it.")
        return self._data

    @cached_property
    def index(self) -> Index:
        """Lookups that the parts of this package share."""
        return Index(self.data)

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
    def graphs(self) -> list[schema.Graph]:
        """The graphs that were completed, in order; `all_graphs` has those of failed attempts too."""
        completed = {compilation.graph for compilation in self.compilations}
        return [graph for graph in self.data.graphs if graph.id in completed]

    @property
    def all_graphs(self) -> list[schema.Graph]:
        return self.data.graphs

    @property
    def nodes(self) -> list[schema.Node]:
        return self.data.nodes

    @property
    def guards(self) -> list[schema.Guard]:
        return self.data.guards

    @property
    def breaks(self) -> list[schema.Break]:
        return self.data.breaks

    @property
    def notices(self) -> list[schema.Notice]:
        return self.data.notices

    def function_of(self, code: int) -> schema.Code:
        """The code with this id; for a resume function, that of the function it goes on with."""
        found = self.codes[code]
        return found if found.resumes is None else self.codes[found.resumes]

    @property
    def break_places(self) -> list[schema.Break]:
        """One break for each place in the program that causes any, and each reason. A break in an inlined function
        breaks each of its callers, too; this has the one of the function that holds the line, if that was traced on
        its own. A break of a library's function on its own counts to the first line of the program that leads there,
        if there is one."""
        above = {self._place(one, one.library): self._place(one) for one in reversed(self.breaks) if one.library}
        places: dict[_BreakPlace, list[schema.Break]] = {}
        for one in self.breaks:
            place = self._place(one)
            places.setdefault(above.get(place, place), []).append(one)
        mains = []
        for place, found in places.items():
            own = [one for one in found if self._place(one) == place]
            mains.append(next((one for one in own if one.root_code == one.code), own[0]))
        return mains

    def _place(self, one: schema.Break, at: schema.Place | None = None) -> _BreakPlace:
        """What tells places of breaks apart, of the break's own line or another. (The message may name what differs
        from call to call, such as a dtype.)"""
        code, line = (one.code, one.line) if at is None else (at.code, at.line)
        return one.reason_id, self.function_of(code).id, line

    @property
    def calls(self) -> list[schema.Call]:
        return self.data.calls

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
        """What is missing from the recording, because what was to record it failed."""
        return self.data.lost

    # --- questions ----------------------------------------------------------------------------------------

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
        """The steps that meet all the given conditions, in order.

        Args:
            file: their file's path, or its end.
            line: their source line.
            function: their function's name or qualified name.
            op: their instruction, by CPython's name or the canonical one.
            node: they added the node with this name or id.
            guard: they asked for the guard with this id, or one whose text or source contains this.
            break_: the graph broke there (True), or this break did (its id).
            text: their operand, source line, or the text of a node, guard or break of theirs contains this.
            attempts: "all", or "last" to leave out walks that were restarted.

        Raises:
            ValueError: no condition is given, or `attempts` is neither of the two.
        """
        return find_steps(self.index, file, line, function, op, node, guard, break_, text, attempts)

    def at_line(self, file: str | None, line: int) -> list[Step]:
        """The steps of a source line, in all files or in the one whose path ends with `file`."""
        return self.find(file=file, line=line)

    def to_dataframe(self, what: str = "steps") -> pandas.DataFrame:
        """A table of `steps`, `calls`, `checks`, `guards`, `breaks`, `notices`, `nodes`, `frames`, `attempts`,
        `compilations`, `symbols` or `side_effects`. Needs pandas.

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

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write it to a file that `load` reads. Raises TraceFileError."""
        file.write(self.data, path)

    def __str__(self) -> str:
        return summary(self)

    def __repr__(self) -> str:
        if self._data is None:
            return "<Trace, still recording>"
        name = f" {self.label!r}" if self.label else ""
        return f"<Trace{name}: {len(self)} steps, {len(self.graphs)} graphs, {len(self.breaks)} breaks>"

    def __getstate__(self) -> Any:
        raise TypeError("A trace cannot be pickled; use save(path), and load(path) to read it back.")


def save(trace: Trace | schema.Trace, path: str | os.PathLike[str]) -> None:
    """Write a trace to a file that `load` reads. Raises TraceFileError."""
    file.write(trace if isinstance(trace, schema.Trace) else trace.data, path)


def load(path: str | os.PathLike[str]) -> Trace:
    """Read a trace that `save` wrote.

    Raises:
        TraceFileError: there is no such file, it is no trace, it is damaged, or a newer version wrote it.
    """
    return Trace(file.read(path))
