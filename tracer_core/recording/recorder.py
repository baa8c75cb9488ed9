"""Fill a recording, as an observer of the engine.

Steps are recorded in `stepping.py`, breaks and the lines of the program in `breaking.py`, calls and compilations in
`compiling.py`; the rest is here: the effects of steps outside their frame, and results. A tracker is described when
it is first seen and when the engine reports that it changed. No `repr` of the user's objects is called.
"""

from __future__ import annotations

import datetime
import platform
import sys
import time
from array import array
from types import CodeType
from typing import TYPE_CHECKING, Any

from tracer_core.observer import EVENTS
from tracer_core.recording import body_words, schema
from tracer_core.recording.bodies import bindings
from tracer_core.recording.calls import guard_text
from tracer_core.recording.codes import CodeEntry
from tracer_core.recording.collecting import no_collection
from tracer_core.recording.columns import u32_bytes
from tracer_core.recording.compiling import Compiling
from tracer_core.recording.facts import clean, clean_lines
from tracer_core.recording.graphs import operators_text
from tracer_core.recording.live import LiveGraphs

if TYPE_CHECKING:
    import torch.fx

    from tracer_core.aot.lowered import Lowered
    from tracer_core.guards import Guard


class Recorder(Compiling):
    """Record what the engine does while this is the observer; `finish()` returns the data.

    Args:
        label: the name of the recording, for people.
    """

    def __init__(self, label: str = "") -> None:
        super().__init__()
        self.label = clean(label)
        self._created = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
        self._guards: list[schema.Guard] = []
        self._symbols: list[schema.Symbol] = []
        self._effects: list[schema.SideEffect] = []
        self._generated: list[schema.Generated] = []
        self._to_decode: list[CodeEntry] = []
        self._faults: list[schema.Fault] = []
        self._lowered: list[schema.Lowered] = []
        self.live = LiveGraphs()

    def so_far(self) -> str:
        """Return how much is recorded, for people; another thread may ask while this one records."""
        current = self._current
        where = "" if current is None else f", in {self._codes.records[current.record.code].qualname}"
        return f"{len(self._ended):,} steps{where}"

    # --- what a step does ---------------------------------------------------------------------------------

    def on_node(self, node: torch.fx.Node, fake: Any) -> None:
        record = self._graphs.add(node, fake, self._attempt_id(), self._step(), len(self._ended) - 1)
        if self._current is not None:
            record.modules, record.module_frames = self._current.modules, self._current.module_frames
        self.live.note(node)
        if self._bodies.records:
            self._bodies.add_node(record, fake)

    def on_body_enter(self, tracer: Any) -> None:
        self._bodies.enter(tracer, self._attempt_id(), self._step(), len(self._ended))

    def on_body_exit(self, tracer: Any, error: BaseException | None) -> None:
        self._bodies.exit(tracer, error, len(self._ended) - 1)

    def on_body_close(self, tracer: Any) -> None:
        self._bodies.close(tracer, self._step(), len(self._ended) - 1, self._variable)
        self.live.complete(tracer.graph, None, self._number)

    def on_lift(self, tracer: Any, outer: torch.fx.Node, inner: torch.fx.Node) -> None:
        self._bodies.lift(tracer, outer, inner, self._step(), self._variable)

    def _variable(self, node: torch.fx.Node) -> str:
        """Return the outermost variable of the program that is bound to the value of a node; empty if none is."""
        found, watched = "", self._current
        while watched is not None:
            found = next((name for name, value in bindings(watched.frame) if value.node is node), found)
            watched = watched.parent
        return found

    def on_guard(self, guard: Guard) -> None:
        where, source = guard.where, guard.source
        step = self._step_of(where)
        code, line, library = self._user_line(where, step) or (*self._place(), None)
        path = self._trackers.sources.path(source) if source is not None else []
        record = schema.Guard(
            id=len(self._guards),
            attempt=self._attempt_id(),
            kind=clean(guard.kind),
            source=path[-1].exact if path else "",
            path=[one.exact for one in path],
            text=guard_text(self._losses, guard),
            step=step,
            code=code,
            line=line,
            library=library,
            names=[one.name for one in path],
        )
        self._guards.append(record)
        self._calls.know_guard(guard, record)

    def on_symbol(self, name: str, hint: float, meaning: str) -> None:
        self._symbols.append(
            schema.Symbol(clean(name), clean(str(hint)), clean(meaning), self._step(), self._attempt_id())
        )

    def on_side_effect(self, kind: str, tracker: Any, message: str) -> None:
        self._effects.append(
            schema.SideEffect(
                id=len(self._effects),
                attempt=self._attempt_id(),
                kind=clean(kind),
                tracker=self._trackers.number(tracker, len(self._ended) - 1),
                message=clean(message),
                step=self._step(),
            )
        )

    # --- results ------------------------------------------------------------------------------------------

    def on_graph(self, graph: torch.fx.GraphModule, name: str) -> None:
        record = self._graphs.complete(graph.graph, graph.code, name, self._attempt_id(), len(self._ended) - 1)
        if self._work is not None:
            self._work.record.graph = record.id
        self.live.complete(graph.graph, graph, self._number)

    def on_lowered(self, lowered: Lowered) -> None:
        record = self._graphs.known(lowered.captured.graph)
        if record is not None:
            parts = (lowered.forward, lowered.backward, lowered.joint)
            forward, backward, joint = ("" if part is None else operators_text(part) for part in parts)
            self._lowered.append(schema.Lowered(record.id, forward, backward, joint, clean(lowered.reason, 500)))

    def _number(self, node: torch.fx.Node) -> int:
        return self._graphs.number(node, None)

    def on_generated(self, code: CodeType, new_code: CodeType, listing: str, resumes: list[CodeType]) -> None:
        work = self._work
        if work is None:
            return
        module = self._modules.get(id(code))
        entries = [
            self._codes.entry(code, module=module),
            self._codes.entry(new_code, "generated", module),
            *(self._codes.entry(resume, "resume", module) for resume in resumes),
        ]
        entries[1].record.qualname = entries[0].record.qualname
        self._originals[entries[1].record.id] = entries[0].record
        self._modules.update(dict.fromkeys(map(id, (new_code, *resumes)), module))
        original, new, *rests = (entry.record.id for entry in entries)
        record = schema.Generated(
            id=len(self._generated),
            compilation=work.record.id,
            original=original,
            code=new,
            listing=clean_lines(listing),
            resumes=rests,
        )
        self._to_decode += entries
        self._generated.append(record)
        work.record.generated = record.id
        for broken in work.breaks:
            broken.resumes = list(record.resumes)

    def on_fault(self, text: str) -> None:
        attempt = self._work.attempt if self._work is not None else None
        self._faults.append(
            schema.Fault(attempt.id if attempt is not None else None, self._step(), clean_lines(text))
        )

    # --- what is lost -------------------------------------------------------------------------------------

    def on_lost(self, event: str, error: BaseException) -> None:
        try:
            if event in _IN_ORDER:
                self._columns.repair()
            self._losses.note(EVENTS[event], error)
        finally:
            if event in _IN_ORDER:
                self._cut_short()

    def losses(self) -> dict[str, str]:
        return {lost.what: lost.error for lost in self._losses.records}

    # --- the end ------------------------------------------------------------------------------------------

    def finish(self) -> schema.Recording:
        """Return everything recorded. Unfinished work counts as failed; record nothing more with this object."""
        with no_collection():
            return self._finish()

    def _finish(self) -> schema.Recording:
        attempt = self._losses.attempt
        for work in self._stack[::-1]:
            since = None if work is None else work.tracing_since
            seconds = 0.0 if since is None else time.perf_counter() - since
            attempt(EVENTS["on_compile_end"], lambda: self.on_compile_end("fault", seconds), None)  # noqa: B023
        for entry in self._to_decode:
            attempt("the instructions of generated code", entry.decode, None)
        attempt(EVENTS["on_change"], lambda: self._trackers.flush(len(self._ended) - 1), None)
        self._trackers.release()
        self._graphs.release()
        self.live.release()
        self._calls.release()
        return self._data()

    def _data(self) -> schema.Recording:
        self._dispatched.sort(key=lambda pair: pair[0])
        self._raised.sort(key=lambda raised: raised.step)
        self._losses.attempt("the words about bodies", self._describe_bodies, None)
        torch = sys.modules.get("torch")
        return schema.Recording(
            version=schema.SCHEMA_VERSION,
            created=self._created,
            producer="tracewalk",
            python=platform.python_version(),
            torch=str(getattr(torch, "__version__", "")),
            label=self.label,
            steps=len(self._ended),
            columns=self._columns.columns(len(self._frames)),
            codes=self._codes.records,
            frames=self._frames,
            attempts=self._attempts,
            compilations=self._compilations,
            graphs=self._graphs.graphs,
            nodes=self._graphs.nodes,
            guards=self._guards,
            breaks=self._breaks,
            notices=self._notices,
            calls=self._calls.records,
            symbols=self._symbols,
            side_effects=self._effects,
            generated=self._generated,
            faults=self._faults,
            raised=self._raised,
            snapshots=self._trackers.snapshots(),
            dispatches=schema.Dispatches(
                names=self._handlers.texts,
                step=u32_bytes(array("I", [step for step, _ in self._dispatched])),
                name=u32_bytes(array("I", [name for _, name in self._dispatched])),
            ),
            timings=[schema.Stage(name, seconds) for name, seconds in self._seconds.items()],
            lost=self._losses.records,
            bodies=self._bodies.records,
            dispatcher=self._dispatcher(),
            lowered=self._lowered,
        )

    def _dispatcher(self) -> schema.Dispatcher:
        """Return what was recorded at the dispatcher: by this class, nothing."""
        return schema.Dispatcher()

    def _describe_bodies(self) -> None:
        graphs, symbols = self._graphs, {(one.attempt, one.name): one.meaning for one in self._symbols}
        body_words.describe(self._bodies.records, graphs.nodes, graphs.graphs, symbols, self._line_near)


_IN_ORDER = frozenset(("on_attempt_start", "on_attempt_end", "on_frame_enter", "on_frame_exit", "on_step_start"))
"""Events that later events of the attempt depend on."""
