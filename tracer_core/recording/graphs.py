"""Record graphs and nodes as data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tracer_core.recording import schema
from tracer_core.recording.facts import (
    FakeMetas,
    TargetTexts,
    args_text,
    clean,
    clean_lines,
    fake_meta,
    fakes_in,
    is_fake_tensor,
    target_text,
)
from tracer_core.recording.fake_text import fake_text
from tracer_core.recording.source_names import Named

if TYPE_CHECKING:
    import torch.fx


class GraphTable:
    """All graphs and nodes of a recording. Live nodes are kept until `release`, since they are told apart by
    identity."""

    def __init__(self, metas: FakeMetas) -> None:
        self._metas = metas
        self.graphs: list[schema.Graph] = []
        self.nodes: list[schema.Node] = []
        self._numbers: dict[int, tuple[Any, int]] = {}
        self._targets = TargetTexts()
        self._graph_of: dict[int, tuple[Any, int]] = {}

    def number(self, node: Any, source: Named | None) -> int:
        """Return the node's number, or -1 if it was never reported. A placeholder is recorded with `source`."""
        known = self._numbers.get(id(node))
        if known is None:
            return -1
        if source is not None:
            record = self.nodes[known[1]]
            if record.source is None and record.op == "placeholder":
                record.source, record.label = source
        return known[1]

    def graph(self, graph: Any, attempt: int) -> schema.Graph:
        """Return the record of the live `graph`, created on first use."""
        found = self.known(graph)
        if found is not None:
            return found
        record = schema.Graph(id=len(self.graphs), attempt=attempt, name="", nodes=[], code="")
        self.graphs.append(record)
        self._graph_of[id(graph)] = (graph, record.id)
        return record

    def known(self, graph: Any) -> schema.Graph | None:
        """Return the record of a live graph, if there is one."""
        known = self._graph_of.get(id(graph))
        return None if known is None else self.graphs[known[1]]

    def first_of(self, attempt: int) -> schema.Graph | None:
        """Return the attempt's own graph (its other ones are bodies of higher-order operators)."""
        return next((graph for graph in self.graphs if graph.attempt == attempt and graph.body is None), None)

    def add(self, node: Any, fake: Any, attempt: int, step: int | None, after: int) -> schema.Node:
        """Record that `step` added a node, when `after` was the last step that had started."""
        graph = self.graph(node.graph, attempt)
        record = schema.Node(
            id=len(self.nodes),
            graph=graph.id,
            name=clean(node.name),
            op=node.op,
            target=self._targets.of(node.target),
            args=args_text(node),
            inputs=self._inputs(node),
            step=step,
            after=after,
            source=None,
            fakes=self._fakes(fake),
        )
        self.nodes.append(record)
        graph.nodes.append(record.id)
        self._numbers[id(node)] = (node, record.id)
        return record

    def complete(self, graph: Any, code: str, name: str, attempt: int, after: int) -> schema.Graph:
        """Complete the record of a live graph, the attempt's own or a body's: its text and order, and the nodes that
        were removed."""
        record = self.known(graph) or self.first_of(attempt) or self.graph(graph, attempt)
        record.name = clean(name)
        record.code = clean_lines(code)
        by_name = {self.nodes[number].name: number for number in record.nodes}
        kept: list[int] = []
        for node in graph.nodes:
            known = self._numbers.get(id(node))
            number = known[1] if known is not None else by_name.get(node.name)
            if number is None:
                self._graph_of[id(node.graph)] = (node.graph, record.id)
                number = self.add(node, None, attempt, None, after).id
                record.nodes.pop()
            self._numbers[id(node)] = (node, number)
            kept.append(number)
        if record.body is not None:
            self._rename(graph)
        alive = set(kept)
        dropped = [number for number in record.nodes if number not in alive]
        for number in dropped:
            self.nodes[number].live = False
        record.nodes = kept + dropped
        return record

    def _rename(self, graph: Any) -> None:
        """Record the final names: some inputs are named anew where several bodies get the same ones."""
        for node in graph.nodes:
            record = self.nodes[self._numbers[id(node)][1]]
            record.name, record.args = clean(node.name), args_text(node)

    def abandon(self, first: int, attempt: int) -> None:
        """Record that the nodes from number `first` on were removed from the attempt's graphs."""
        for record in self.nodes[first:]:
            if self.graphs[record.graph].attempt == attempt:
                record.live = False

    def release(self) -> None:
        """Release the engine's objects."""
        self._numbers.clear()
        self._targets.release()
        self._graph_of.clear()

    def _fakes(self, fake: Any) -> list[schema.FakeMeta]:
        if is_fake_tensor(fake):  # (as most are)
            meta = self._metas.of(fake)
            return [] if meta is None else [meta]
        return [meta for one in fakes_in(fake) if (meta := self._metas.of(one)) is not None]

    def _inputs(self, node: Any) -> list[int]:
        known = self._numbers
        return [known[id(one)][1] for one in node.all_input_nodes if id(one) in known]


def operators_text(graph: torch.fx.GraphModule) -> str:
    """Return a graph of operators as text: a line for each node, with the metadata of its result."""
    lines = []
    for node in graph.graph.nodes:
        fakes = [meta for meta in map(fake_meta, fakes_in(node.meta.get("val"))) if meta is not None]
        result = f"  # {', '.join(map(fake_text, fakes))}" if fakes else ""
        call = f"return {args_text(node)}" if node.op == "output" else f"{clean(node.name)} = {_call_text(node)}"
        lines.append(f"{call}{result}")
    return "\n".join(lines)


def _call_text(node: torch.fx.Node) -> str:
    target = target_text(node.target)
    if node.op == "placeholder":
        return "input"
    return f"self.{target}" if node.op == "get_attr" else f"{target}({args_text(node)})"
