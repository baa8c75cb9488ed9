"""Provide a graph of a recording as people use it: what is under its nodes, and its text in Graphviz's language."""

from __future__ import annotations

import textwrap

import msgspec

from tracer_core.recording import schema
from tracer_core.recording.dispatch import Dispatch, DispatchedRun
from tracer_core.recording.sentence_parts import node_text


class LoweredGraphs(schema.Lowered, gc=False):
    """What the back end `tracer_aot` made of a graph. `print` shows the graphs that run."""

    def __str__(self) -> str:
        graphs = {"forward": self.forward, "backward": self.backward}
        texts = [f"{name}:\n{textwrap.indent(text, '  ')}" for name, text in graphs.items() if text]
        return "\n".join(texts) or f"It runs eagerly: {self.reason}."


class RecordedGraph(schema.Graph, gc=False, kw_only=True):
    """A graph with the recording's nodes at hand."""

    all_nodes: list[schema.Node]
    dispatch: Dispatch
    lowered: LoweredGraphs | None
    """What the back end `tracer_aot` made of it."""

    @staticmethod
    def of(graph: schema.Graph, data: schema.Recording, dispatch: Dispatch) -> RecordedGraph:
        found = (one for one in data.lowered if one.graph == graph.id)
        lowered = next((LoweredGraphs(**msgspec.structs.asdict(one)) for one in found), None)
        return RecordedGraph(
            **msgspec.structs.asdict(graph), all_nodes=data.nodes, dispatch=dispatch, lowered=lowered
        )

    def under(self, name: str) -> list[DispatchedRun]:
        """Return what the node of this name reaches at the dispatcher, forward and backward: see `Dispatch.under`.

        Raises:
            LookupError: the graph has no such node, or that cannot be traced.
        """
        found = next((node for node in map(self.all_nodes.__getitem__, self.nodes) if node.name == name), None)
        if found is None:
            names = ", ".join(self.all_nodes[number].name for number in self.nodes)
            raise LookupError(f"{self.name} has no node {name!r}. It has: {names}.")
        return self.dispatch.under(found)

    def to_dot(self) -> str:
        """Return the graph in Graphviz's language: a box for each node, an edge from each node to those that use it.

        Nodes that were dropped before the graph was complete are left out. Boxes are named by the nodes' ids.
        """
        nodes = [node for node in map(self.all_nodes.__getitem__, self.nodes) if node.live]
        boxes = [f"  {node.id} [label={_quoted(_label(node))}];" for node in nodes]
        shown = {node.id for node in nodes}
        edges = [f"  {used} -> {node.id};" for node in nodes for used in node.inputs if used in shown]
        return "\n".join([f"digraph {_quoted(self.name)} {{", "  node [shape=box];", *boxes, *edges, "}", ""])

    def __repr__(self) -> str:
        return f"<graph {self.name!r}: {len(self.nodes)} nodes>"


def _label(node: schema.Node) -> str:
    """Return the label of a node: what it computes, and below it the metadata of its result."""
    return "\n".join([node_text(node), *(_fake_text(fake) for fake in node.fakes)])


def _fake_text(fake: schema.FakeMeta) -> str:
    return f"{fake.dtype}[{', '.join(fake.shape)}]" if fake.dtype else fake.type


def _quoted(text: str) -> str:
    """Return `text` as a string of Graphviz's, in which a backslash begins an escape."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'
