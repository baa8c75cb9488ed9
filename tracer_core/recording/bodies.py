"""Record the bodies of higher-order operators: their graphs, the values lifted into them, and what became of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from tracer_core.errors import Unsupported
from tracer_core.observer import said
from tracer_core.recording import schema
from tracer_core.recording.facts import clean
from tracer_core.recording.graphs import GraphTable


class BodyTable:
    """All bodies of a recording.

    The engine's objects are kept until `release`, since they are told apart by identity.
    """

    def __init__(self, graphs: GraphTable) -> None:
        self.records: list[schema.Body] = []
        self._graphs = graphs
        # By the tracer that builds the graph: the tracer, and its body. A tracer that is entered again builds another
        # part of the same graph: the first entry is the body.
        self._known: dict[int, tuple[Any, schema.Body]] = {}
        self._by_graph: dict[int, schema.Body] = {}
        self._active: list[Any] = []
        self._first_nodes: dict[int, int] = {}
        self._held: dict[int, schema.Body] = {}
        # The values that placeholders stand for, in the graph where each was computed.
        self._origins: dict[Any, Any] = {}

    # --- events -------------------------------------------------------------------------------------------

    def enter(self, tracer: Any, attempt: int, step: int | None, first: int) -> None:
        """Record that nodes go into the tracer's graph from now on; `first` will be the next step."""
        self._active.append(tracer)
        if id(tracer) in self._known:
            return
        graph = self._graphs.graph(tracer.graph, attempt)
        around = self._known.get(id(tracer.parent))
        body = schema.Body(
            id=len(self.records),
            attempt=attempt,
            operator=clean(tracer.operator),
            function=clean(tracer.function),
            parent=None if around is None else around[1].id,
            graph=graph.id,
            step=step,
            first_step=first,
            last_step=first - 1,
            outcome="unused",
            message="",
            lifted=[],
            holders=[],
            calls=[],
            text="",
        )
        graph.body = body.id
        self.records.append(body)
        self._known[id(tracer)] = tracer, body
        self._by_graph[id(tracer.graph)] = body
        self._first_nodes[body.id] = len(self._graphs.nodes)

    def exit(self, tracer: Any, error: BaseException | None, last: int) -> None:
        """Record that the body was left after step `last`, by `error` if that is not None."""
        while self._active and self._active.pop() is not tracer:
            pass
        known = self._known.get(id(tracer))
        if known is None:
            return
        _, body = known
        body.last_step = max(body.last_step, last)
        if error is not None:
            self._abandon(body, error)

    def _abandon(self, body: schema.Body, error: BaseException) -> None:
        self._graphs.abandon(self._first_nodes[body.id], body.attempt)
        for inner in self.records[body.id :]:
            if inner.attempt == body.attempt:
                inner.outcome = "abandoned"
        body.message = clean(_why(error), 1000)

    def lift(self, tracer: Any, outer: Any, inner: Any, step: int | None, name_of: Callable[[Any], str]) -> None:
        """Record that `outer` became the input `inner` of the tracer's graph; `name_of` returns the program's name
        for the value of a node."""
        known = self._known.get(id(tracer))
        if known is None:
            return
        if tracer not in self._active:
            reason = "returned"
        else:
            reason = "used" if self._active[-1] is tracer else "inside"
        self._add_lift(known[1], outer, inner, step, reason, name_of)

    def _add_lift(
        self, body: schema.Body, outer: Any, inner: Any, step: int | None, reason: str, name_of: Callable[[Any], str]
    ) -> None:
        origin = self._origins[inner] = self._origins.get(outer, outer)
        numbers = self._graphs.number(outer, None), self._graphs.number(inner, None)
        if min(numbers) >= 0:
            body.lifted.append(schema.Lift(*numbers, clean(name_of(origin)), step, reason, ""))

    def close(self, tracer: Any, step: int | None, after: int, name_of: Callable[[Any], str]) -> None:
        """Record the complete graph of a body, and the inputs that it has because another body has them."""
        known = self._known.get(id(tracer))
        if known is None:
            return
        _, body = known
        lifted = {lift.inner for lift in body.lifted}
        for outer, inner in tracer.lifted.items():
            if self._graphs.number(inner, None) not in lifted:
                self._add_lift(body, outer, inner, step, "shared", name_of)
        record = self._graphs.complete(
            tracer.graph, tracer.graph.python_code("self").src, body.function, body.attempt, after
        )
        places = {number: place for place, number in enumerate(record.nodes)}
        body.lifted.sort(key=lambda lift: places.get(lift.inner, len(places)))

    def add_node(self, record: schema.Node, fake: Any) -> None:
        """Record a node that holds a body's graph, or that runs one."""
        if record.op == "get_attr":
            body = self._by_graph.get(id(getattr(fake, "graph", None)))
            if body is not None:
                body.holders.append(record.id)
                self._held[record.id] = body
            return
        for body in {id(body): body for body in map(self._held.get, record.inputs) if body is not None}.values():
            body.calls.append(record.id)
            if body.outcome == "unused":
                body.outcome = "kept"

    # --- the end ------------------------------------------------------------------------------------------

    def release(self, attempt: int) -> None:
        """Release the engine's objects of an attempt."""
        if not self._known:
            return
        ended = [tracer for tracer, body in self._known.values() if body.attempt == attempt]
        for tracer in ended:
            del self._known[id(tracer)], self._by_graph[id(tracer.graph)]
        if not self._known:
            self._active.clear()
            self._origins.clear()


def _why(error: BaseException) -> str:
    if isinstance(error, Unsupported):
        return error.message
    raised = getattr(error, "tracker", None)  # an exception of the program
    return said(error) if raised is None else f"It raises {raised.describe()}."


def bindings(frame: Any) -> Iterator[tuple[str, Any]]:
    """Yield the variables of a live frame and their values, those in cells too."""
    yield from frame.locals.items()
    for name, cell in frame.cells.items():
        contents = getattr(cell, "contents", None)
        if contents is not None:
            yield name, contents
