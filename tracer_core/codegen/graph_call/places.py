"""Record the user's line for each operation of a graph, for the traceback of its exception to point there."""

from __future__ import annotations

import torch.fx

from tracer_core.bytecode import CodeBuilder, Instruction
from tracer_core.graph.output import OutputGraph
from tracer_core.runtime.graphs import Places


def places_of(output: OutputGraph, module: torch.fx.GraphModule) -> Places:
    """Return the places of the finished graph's operations."""
    nodes = list(module.graph.nodes)
    start, lines = module._prologue_start, module._lineno_map or {}
    calls = {
        line + start: output.root.places[nodes[index]]
        for line, index in lines.items()
        if index is not None and index < len(nodes) and nodes[index] in output.root.places
    }
    return Places(type(module).forward.__code__, calls)


def pointing_code(places: Places) -> list[Instruction]:
    """Return code that lets the exception of a graph that is not undone leave the frame, at the operation's line."""
    code = CodeBuilder()
    code.call_with_top(places.point)
    code.pop()
    code.emit("RERAISE", 0)
    return code.instructions
