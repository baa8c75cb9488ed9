"""Where in the program an operation of a graph comes from: the traceback of what it raises points there."""

from __future__ import annotations

from collections.abc import Mapping
from types import CodeType, TracebackType

import torch.fx

from tracer_core.bytecode import CallShape, Instruction, make
from tracer_core.codegen.tracebacks import traceback_of
from tracer_core.graph.subgraph import Calls
from tracer_core.signals import handlers_part, is_from_outside


class Places:
    """For each line of a graph's own code, the calls of the program that it comes from."""

    def __init__(self, calls: Mapping[torch.fx.Node, Calls], module: torch.fx.GraphModule) -> None:
        self._code: CodeType = type(module).forward.__code__
        nodes = list(module.graph.nodes)
        start, lines = module._prologue_start, module._lineno_map or {}
        self._calls: dict[int, Calls] = {
            line + start: calls[nodes[index]]
            for line, index in lines.items()
            if index is not None and index < len(nodes) and nodes[index] in calls
        }

    def point(self, error: BaseException) -> None:
        """Have the traceback of `error`, which the graph raised in the calling frame, end where plain Python's would.
        A back end's own code says nothing of where it comes from: then the traceback stays."""
        outermost = error.__traceback__
        if outermost is None:
            return
        if is_from_outside(error):
            outermost.tb_next = handlers_part(error)
            return
        calls = self._calls_of(outermost.tb_next)
        if calls:
            error.__traceback__ = traceback_of(calls, outermost.tb_frame)

    def _calls_of(self, trace: TracebackType | None) -> Calls:
        while trace is not None and trace.tb_frame.f_code is not self._code:
            trace = trace.tb_next
        return () if trace is None else self._calls.get(trace.tb_lineno, ())


def pointing_code(places: Places) -> list[Instruction]:
    """Where the exception of a graph goes that is not undone: out of the frame, from the line of the operation."""
    point = [make("PUSH_NULL"), make("LOAD_CONST", places.point), make("COPY", 3), make("CALL", CallShape(1))]
    return [*point, make("POP_TOP"), make("RERAISE", 0)]
