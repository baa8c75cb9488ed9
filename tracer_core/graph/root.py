"""`RootTracer`: build the outermost graph, whose inputs the generated code loads from the frame."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import torch
from torch.fx import Node

from tracer_core.graph.marks import Table
from tracer_core.graph.subgraph import NUMBERS, GraphContext, SubgraphTracer
from tracer_core.sources import FloatTensorSource, IntTensorSource, Source


@dataclass(slots=True)
class GraphArg:
    """One input of the graph: its placeholder, and the source that the generated code loads it from."""

    node: Node
    source: Source
    fake: Any


class RootTracer(SubgraphTracer):
    """Build the outermost graph. `inputs` are its placeholders, symbols before the tensors that need them."""

    def __init__(self, context: GraphContext) -> None:
        super().__init__(context)
        self.inputs: list[GraphArg] = []
        self._unknown_numbers: dict[tuple[Source, type], tuple[Node, Any]] = {}
        # Nodes that only read a number from the tensor that passes it to the graph.
        self._carried: list[Node] = []

    # --- inputs -------------------------------------------------------------------------------------------

    def add_input(self, source: Source, name: str, fake: Any) -> Node:
        """Add a placeholder for the value at `source`; symbols that describe its memory layout come first."""
        self._lift_symbols(fake)
        node = self._placeholder(name, fake, self._last_placeholder(), source=source)
        self.inputs.append(GraphArg(node, source, fake))
        return node

    def float_node(self, value: torch.SymFloat, name: str) -> Node:
        """Return the node for the float symbol `value`: the item of an input tensor that holds it."""
        symbol = str(value.node.expr)
        source = self.context.fakes.symbols[symbol].sources[0]
        node = self.symbols[symbol] = self._carry(FloatTensorSource(source), name, value)
        self._tell(symbol)
        return node

    def unknown_number(self, source: Source, cls: type) -> tuple[Node, torch.SymInt | torch.SymFloat]:
        """Return the node and the symbol of an int or float of which only the type is known, and nothing is
        guarded."""
        known = self._unknown_numbers.get((source, cls))
        if known is not None:
            return known
        value = self.context.fakes.unknown(cls)
        carrier = FloatTensorSource(source) if cls is float else IntTensorSource(source)
        made = self._carry(carrier, f"number_{len(self._carried)}", value), value
        self._unknown_numbers[source, cls] = made
        return made

    def _carry(self, source: FloatTensorSource | IntTensorSource, name: str, value: Any) -> Node:
        """Return the node of a number that enters in a tensor: an input and a read of its item."""
        with self.context.fakes.mode:
            dtype = torch.float64 if isinstance(source, FloatTensorSource) else torch.int64
            carrier = torch.empty((), dtype=dtype, device="cpu")
        if isinstance(value, torch.SymFloat):
            carrier.item_memo = value  # type: ignore[attr-defined]  # back ends ask the fake again, and shall find this
        placeholder = self.add_input(source, name, carrier)
        node = self.add_node("call_method", "item", (placeholder,), {}, value)
        self._carried.append(node)
        return node

    def _find_symbol(self, name: str) -> Node:
        binding = self.context.fakes.symbols[name]
        node = self.add_input(binding.sources[0], name, binding.value)
        self._tell(name)
        return node

    def _tell(self, symbol: str) -> None:
        if self.context.observer is not None:
            binding = self.context.fakes.symbols[symbol]
            self.context.observer.on_symbol(symbol, binding.hint, binding.sources[0].name)

    def _last_placeholder(self) -> Node | None:
        return self.inputs[-1].node if self.inputs else None

    def inputs_to_spare(self) -> list[Node]:
        return [argument.node for argument in self.inputs]

    def drop_inputs(self, unread: Collection[Node]) -> None:
        self.inputs[:] = [argument for argument in self.inputs if argument.node not in unread]
        super().drop_inputs(unread)

    # --- what there is ------------------------------------------------------------------------------------

    @property
    def operations(self) -> int:
        """Return the number of nodes besides the inputs and those that read numbers from them."""
        return len(self.graph.nodes) - len(self.inputs) - len(self._carried)

    @property
    def works_on_tensors(self) -> bool:
        """Return whether there are operations on more than numbers."""
        return any(
            node.op != "placeholder" and not isinstance(node.meta.get("example_value"), NUMBERS)
            for node in self.graph.nodes
        )

    def _tables(self) -> tuple[Table, ...]:
        return *super()._tables(), self.inputs, self._unknown_numbers, self._carried
