"""Keep the calls of captured graphs while their kernel runs, so that what is under them can be traced later."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any

from tracer_core.observer import observing
from tracer_core.recording import schema
from tracer_core.recording.dispatching import DispatchSteps

if TYPE_CHECKING:
    import torch.fx

    from tracer_core.proxy_tensor.under_node import CapturedCall


class LiveGraphs:
    """The calls of a recording's complete graphs, with fakes of their inputs."""

    def __init__(self) -> None:
        self.calls: dict[int, CapturedCall] = {}
        """By the number of their node."""
        self._settings: dict[torch.fx.Node, tuple[Any, ...]] = {}

    def note(self, node: torch.fx.Node) -> None:
        """Note torch's settings where `node` was added."""
        if node.op in ("call_function", "call_method"):
            self._settings[node] = _under_node().settings_now()

    def complete(self, graph: torch.fx.Graph, owner: Any, number_of: Callable[[torch.fx.Node], int]) -> None:
        """Keep the calls of a complete graph. `owner` has its attributes; None for a body that is called by name."""
        from tracer_core.proxy_tensor.under_node import CapturedCall

        values: dict[torch.fx.Node, Any] = {}
        for node in graph.nodes:
            if "example_value" in node.meta:
                values[node] = node.meta["example_value"]
            elif node.op == "get_attr" and owner is not None:
                values[node] = _attribute(owner, str(node.target))
            settings, inputs = self._settings.pop(node, None), node.all_input_nodes
            if settings is not None and all(one in values for one in inputs):
                known = {one: values[one] for one in inputs}
                result = values.get(node)
                call = CapturedCall(node, node.target, node.args, node.kwargs, known, result, settings)
                self.calls[number_of(node)] = call

    def trace(self, number: int, steps: DispatchSteps) -> None:
        """Record the steps under a call, forward and backward; `steps` is the present observer."""
        from tracer_core.proxy_tensor.under_node import trace_call

        trace_call(self.calls[number], lambda label, direction: steps.dispatching(label, number, direction))

    def trace_into(self, number: int, data: schema.Dispatcher) -> None:
        """Add the steps under a call to `data`: all of them, or none if Ctrl-C comes."""
        tables: list[list[Any]] = [data.runs, data.steps, data.nodes, data.stacks, data.fakes]
        before = [len(table) for table in tables]
        steps = DispatchSteps(data)
        try:
            with observing(steps):
                self.trace(number, steps)
        except BaseException:
            for table, length in zip(tables, before, strict=True):
                del table[length:]
            raise

    def release(self) -> None:
        """Release what graphs that were not completed hold."""
        self._settings.clear()


@cache
def _under_node() -> Any:
    """Return the module, which imports torch. (A node has been created, so torch is imported.)"""
    from tracer_core.proxy_tensor import under_node

    return under_node


def _attribute(owner: Any, path: str) -> Any:
    for name in path.split("."):
        owner = getattr(owner, name)
    return owner
