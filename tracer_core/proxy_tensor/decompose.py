"""Tracing a graph again, with decompositions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch.utils._pytree as pytree
from torch import Tensor
from torch._ops import HigherOrderOperator
from torch.fx import Graph, GraphModule, Interpreter, Node, Proxy

from tracer_core.proxy_tensor.entry import make_fx
from tracer_core.proxy_tensor.modes import ProxyTorchDispatchMode, Table, decompose
from tracer_core.proxy_tensor.tracers import AppendingTracer
from tracer_core.proxy_tensor.tracking import track_tensor_tree


class DecompositionInterpreter(Interpreter):
    """Run a graph, and append the operators that it calls to `new_graph`, decomposed by the table."""

    def __init__(
        self, module: GraphModule, new_graph: Graph, decomposition_table: Table | None = None, **kwargs: Any
    ) -> None:
        super().__init__(module, **kwargs)
        self.new_graph = new_graph
        self.tracer = AppendingTracer(new_graph)
        self.decomposition_table = decomposition_table or {}
        self.mode = ProxyTorchDispatchMode(
            self.tracer, tracing_mode="real", decomposition_table=self.decomposition_table
        )

    def placeholder(self, target: Any, args: Any, kwargs: Any) -> Any:
        value = super().placeholder(target, args, kwargs)
        return self._track(value, self.new_graph.placeholder(target))

    def get_attr(self, target: Any, args: Any, kwargs: Any) -> Any:
        value = super().get_attr(target, args, kwargs)
        return self._track(value, self.new_graph.get_attr(target))

    def _track(self, value: Any, node: Node) -> Any:
        return track_tensor_tree(value, Proxy(node, self.tracer), constant=None, tracer=self.tracer)

    def output(self, target: Any, args: Any, kwargs: Any) -> Any:
        value = super().output(target, args, kwargs)

        def node_of(part: Any) -> Any:
            slot = self.tracer.tensor_tracker.get(part) if isinstance(part, Tensor) else None  # type: ignore[attr-defined]
            return part if slot is None else slot.proxy.node

        self.new_graph.output(pytree.tree_map(node_of, value))
        return value

    def run(self, *args: Any, **kwargs: Any) -> Any:
        with self.mode:
            return super().run(*args, **kwargs)


class _SelectiveInterpreter(Interpreter):
    """Run a graph, and decompose by the table at the nodes for which `chosen` is true."""

    def __init__(self, module: GraphModule, chosen: Callable[[Node], bool], table: Table | None) -> None:
        super().__init__(module)
        self.chosen, self.table = chosen, table

    def run_node(self, n: Node) -> Any:
        if not self.chosen(n):
            return super().run_node(n)
        with decompose(self.table):
            return super().run_node(n)


def _selective(module: GraphModule, chosen: Callable[[Node], bool], table: Table | None) -> _SelectiveInterpreter:
    """Return an interpreter of the graph, in which bodies of higher-order operators are chosen node by node too."""
    for node in module.graph.nodes:
        if node.op == "call_function" and isinstance(node.target, HigherOrderOperator):
            node.args = tuple(
                _selective(arg, chosen, table) if isinstance(arg, GraphModule) else arg for arg in node.args
            )
    return _SelectiveInterpreter(module, chosen, table)


def selective_decompose(
    joint_gm: GraphModule,
    *args: Any,
    decomposition: Table | None,
    should_decompose: Callable[[Node], bool],
    trace_joint_graph: bool,
) -> GraphModule:
    """Trace a graph again, decomposed at the nodes for which `should_decompose` is true.

    A joint graph has the inputs `primals` and `tangents`, by whose names torch's partitioner knows them.
    """

    def run() -> Any:
        return _selective(joint_gm, should_decompose, decomposition).run(*args)

    if trace_joint_graph:

        def joint(primals: list[Any], tangents: list[Any]) -> Any:
            return run()

        joint.__name__ = "wrap_fn"  # the graph has the class name that torch's has
        return make_fx(joint, decomposition_table={})(*args)

    def inference(*args: Any) -> Any:
        return run()

    return make_fx(inference, decomposition_table={})(*args)
