"""Builds nested graphs by hand through `OutputGraph`, and runs them on the values their inputs come from."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import torch
from torch.fx import Node, map_arg

from tracer_core.frame_input import Config, FrameInput
from tracer_core.graph.output import OutputGraph
from tracer_core.graph.subgraph import SubgraphTracer
from tracer_core.names.where import Where
from tracer_core.observer import Observer
from tracer_core.sources import LocalSource


def run_body(body: Any, *operands: Any) -> Any:
    """What stands in an outer graph for an operator that runs a function."""
    return body(*operands)


def output_for(locals: dict[str, Any], dynamic: bool | None = None, observer: Observer | None = None) -> OutputGraph:
    code = output_for.__code__
    config = Config(lambda graph, examples: graph.forward, dynamic)
    frame = FrameInput(code, locals, {}, {}, (), 1, {}, config)
    where = Where.of(0, [(code, code.co_firstlineno)])
    return OutputGraph(frame, observer, lambda: where, tuple)


def tensor(output: OutputGraph, name: str) -> Node:
    """The input for the tensor that is the local `name`."""
    node, _ = output.add_tensor(LocalSource(name), name, output.frame.locals[name])
    return node


def size(output: OutputGraph, node: Node, dim: int) -> Node:
    return output.symbol_node(fake_of(node).shape[dim])


def op(output: OutputGraph, function: Any, *args: Any) -> Node:
    """A node for `function(*args)`, computed on the fakes of the nodes in `args`."""
    fakes = map_arg(args, fake_of)
    return output.add_node("call_function", function, args, {}, output.run_fake(function, fakes, {}))


def fake_of(node: Node) -> Any:
    return node.meta["example_value"]


def call(output: OutputGraph, inner: SubgraphTracer, results: Sequence[Node], *arguments: Node) -> list[Node]:
    """Close the inner graph, and call it in the one around it, on `arguments` and on what was lifted."""
    inner.close(results)
    module = inner.module()
    module.graph.lint()
    body = output.current.add_attribute("body", module)
    fakes = tuple(map(fake_of, results))
    node = output.add_node("call_function", run_body, (body, *arguments, *inner.operands), {}, fakes)
    return [_item(output, node, place, fake) for place, fake in enumerate(fakes)]


def _item(output: OutputGraph, node: Node, place: int, fake: Any) -> Node:
    return output.add_node("call_function", operator.getitem, (node, place), {}, fake)


def finish(output: OutputGraph, results: Sequence[Any]) -> torch.fx.GraphModule:
    output.root.close(results)
    module = output.root.module()
    module.graph.lint()
    return module


def run(output: OutputGraph, module: torch.fx.GraphModule) -> Any:
    """Call a finished graph on what its inputs are read from."""
    return module(*[output.value_at(argument.source) for argument in output.root.inputs])


def placeholders(tracer: SubgraphTracer) -> list[str]:
    return [node.name for node in tracer.graph.find_nodes(op="placeholder")]


def names(nodes: Sequence[Node]) -> list[str]:
    return [node.name for node in nodes]
