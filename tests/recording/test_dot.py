"""Graphs as Graphviz text: a box for each node of the graph that the back end was given, an edge for each use."""

from __future__ import annotations

import json
import re
from typing import Any

import torch

import tracer_core
from tests.recording.synthetic import example
from tracer_core.observer import observing
from tracer_core.recording import Recorder, Trace
from tracer_core.recording.dot import RecordedGraph

BOX = re.compile(r'  (\d+) \[label=("(?:[^"\\]|\\.)*")\];')
EDGE = re.compile(r"  (\d+) -> (\d+);")


def read(text: str) -> tuple[dict[str, list[str]], list[tuple[str, str]]]:
    """Lines of each box, by its id, and the edges. Every line of the text is one of the two, but the frame around."""
    opening, setting, *lines, closing = text.splitlines()
    assert re.fullmatch(r'digraph "[^"\\]*" \{', opening) and setting == "  node [shape=box];" and closing == "}"
    boxes: dict[str, list[str]] = {}
    edges: list[tuple[str, str]] = []
    for line in lines:
        box, edge = BOX.fullmatch(line), EDGE.fullmatch(line)
        assert (box is None) != (edge is None), line
        if box is not None:
            boxes[box[1]] = json.loads(box[2]).split("\n")  # (Its escapes are those of JSON.)
        elif edge is not None:
            edges.append((edge[1], edge[2]))
    return boxes, edges


def name_of(box: list[str]) -> str:
    return "output" if box[0].startswith("return ") else box[0].partition(" = ")[0]


def test_boxes_and_edges_are_the_nodes_and_uses_of_the_graph() -> None:
    given: list[torch.fx.GraphModule] = []

    def backend(graph: torch.fx.GraphModule, inputs: Any) -> Any:
        given.append(graph)
        return graph

    def program(x: Any, y: Any) -> Any:
        both = x @ y
        return both.relu() + both * both, torch.cat([x, y], dim=1)

    recorder = Recorder()
    with observing(recorder):
        tracer_core.compile(program, backend=backend)(torch.ones(2, 2), torch.ones(2, 2))
    (graph,) = Trace(recorder.finish()).graphs
    boxes, edges = read(graph.to_dot())
    names = {box: name_of(lines) for box, lines in boxes.items()}
    nodes = list(given[0].graph.nodes)
    assert list(names.values()) == [node.name for node in nodes]
    assert {(names[a], names[b]) for a, b in edges} == {(u.name, n.name) for n in nodes for u in n.all_input_nodes}
    assert ["matmul = x @ y", "float32[2, 2]"] in boxes.values()


def test_text_is_quoted_for_graphviz() -> None:
    trace = Trace(example())
    trace.nodes[trace.graphs[0].nodes[0]].label = 'x["a\\n"]'
    assert 'input x[\\"a\\\\n\\"]' in trace.graphs[0].to_dot()


def test_dropped_nodes_are_left_out() -> None:
    trace = Trace(example())
    graph = trace.graphs[0]
    before, _ = read(graph.to_dot())
    used = next(node for node in graph.nodes if any(node in trace.nodes[other].inputs for other in graph.nodes))
    trace.nodes[used].live = False
    boxes, edges = read(graph.to_dot())
    assert before.keys() - boxes.keys() == {str(used)}
    assert str(used) not in {end for edge in edges for end in edge}


def test_a_loaded_recording_has_the_same_text(tmp_path: Any) -> None:
    trace = Trace(example())
    trace.save(tmp_path / "x.trace")
    loaded = tracer_core.recording.load(tmp_path / "x.trace")
    assert [graph.to_dot() for graph in loaded.all_graphs] == [graph.to_dot() for graph in trace.all_graphs]
    assert all(isinstance(graph, RecordedGraph) for graph in trace.graphs)
    assert repr(trace.graphs[0]).startswith("<graph ")
