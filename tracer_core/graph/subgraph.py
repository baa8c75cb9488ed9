"""`SubgraphTracer`: build one graph, which may be inside another one that is being built.

A value of an outer graph is *lifted* where an inner one uses it: it becomes a placeholder of the inner graph, and of
each graph between the two. A graph's placeholders are, in this order:

1. its arguments, in the order in which they were added: what the operator that runs the graph passes by itself;
2. lifted values, in the order of first use, each value once. Symbols that describe how a tensor lies in memory come
   before the first tensor that needs them.

`lifted` keeps for each of the latter which node of the graph around it stands for, so that whoever emits the call
passes these nodes (`operands`).
"""

from __future__ import annotations

import contextlib
import operator
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from types import CodeType
from typing import Any

import torch
import torch.fx
from torch.fx import Node, map_arg, traceback
from torch.fx.experimental.symbolic_shapes import ShapeEnv

from tracer_core.errors import Unsupported
from tracer_core.graph.fakes import Fakes
from tracer_core.graph.marks import Lengths, Table, cut_back, lengths_of
from tracer_core.graph.memory import symbols_of
from tracer_core.graph.number_errors import may_raise
from tracer_core.names.where import Where
from tracer_core.observer import Observer

SYMBOLIC = (torch.SymInt, torch.SymFloat, torch.SymBool)
NUMBERS = (*SYMBOLIC, bool, int, float)

Calls = tuple[tuple[CodeType, int], ...]
"""The calls of the program that are running, each as its code and line, the innermost first."""


@dataclass(slots=True)
class GraphContext:
    """State that the graphs of one attempt share. `calls` returns the calls of the program that are running; `noted`
    is how many of the operations that may draw, that may raise because of the values of their arguments, and that
    write to memory, belong to nodes already; `nested` whether there was ever an inner graph; `exits` has, for results
    of closed inner graphs, the node in the surrounding graph that gives them; `writes` the clock after each node that
    writes to memory, from the first inner graph on, and where the program has it."""

    fakes: Fakes
    observer: Observer | None
    calls: Callable[[], Calls]
    noted: tuple[int, int, int] = (0, 0, 0)
    nested: bool = False
    exits: dict[Node, Node] = field(default_factory=dict)
    writes: list[tuple[int, Where]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class TracerMark:
    """A mark of a graph: the lengths of its tables, and how often each name was used."""

    lengths: Lengths
    name_counts: dict[str, int]


class SubgraphTracer:
    """Build one graph.

    Args:
        parent: builds the graph around it, if there is one.
        operator: the operator that runs the graph, as people write it; empty for a frame's own graph.
        function: the function that is traced into the graph, as people know it.
    """

    def __init__(
        self, context: GraphContext, parent: SubgraphTracer | None = None, operator: str = "", function: str = ""
    ) -> None:
        self.context = context
        self.parent = parent
        self.operator = operator
        self.function = function
        self.graph = torch.fx.Graph()
        self.grad_mode_at_start = torch.is_grad_enabled()
        # Whether tensors may lie in memory otherwise than their fakes do, as gradients may.
        self.layouts_vary = False
        self.arguments: list[Node] = []
        # The placeholder of each node of the parent's graph that was lifted.
        self.lifted: dict[Node, Node] = {}
        # The node of each symbol. A symbol has the value from when the frame started, or the value of the node bound
        # to it, whatever the trace has changed since: one node serves every read.
        self.symbols: dict[str, Node] = {}
        # The values that `get_attr` nodes read: by name, the value and its node.
        self.attributes: dict[str, tuple[Any, Node]] = {}
        # Where in the program each operation comes from.
        self.places: dict[Node, Calls] = {}
        self._created: list[Node] = []

    # --- inputs -------------------------------------------------------------------------------------------

    def add_argument(self, name: str, fake: Any) -> Node:
        """Add a placeholder for an argument that the operator passes to this graph, before all lifted values; the
        symbols of its sizes are lifted."""
        self._lift_symbols(fake)
        node = self._placeholder(name, fake, self.arguments[-1] if self.arguments else None)
        self.arguments.append(node)
        self._bind(node, fake)
        return node

    def lift(self, node: Node) -> Node:
        """Return the node of this graph for `node`, which belongs to this graph, to one around it, or is a result of
        a closed one inside it.

        Raises:
            Unsupported: `node` is of a graph that is closed, and not among its results.
        """
        if node.graph is self.graph:
            return node
        outside = self.context.exits.get(node)
        if outside is not None:
            return self.lift(outside)
        if self.parent is None:
            raise Unsupported("leaves-its-body", name=node.meta.get("local", node.name))
        outer = self.parent.lift(node)
        known = self.lifted.get(outer)
        return self._lift(outer) if known is None else known

    def _lift(self, outer: Node) -> Node:
        assert self.parent is not None
        fake = outer.meta["example_value"]
        if outer.op == "get_attr" and not isinstance(fake, torch.Tensor):
            # No operator takes a module as an input: the inner graph has it as an attribute of its own.
            return self.add_attribute(outer.name, self.parent.attributes[str(outer.target)][0], fake)
        symbol = _plain_symbol(fake)
        if symbol in self.symbols and isinstance(fake, torch.SymInt):
            return self.symbols[symbol]
        self._lift_symbols(fake)
        named_by = {each: outer.meta[each] for each in ("source", "local") if each in outer.meta}
        node = self._placeholder(outer.name, fake, self._last_placeholder(), **named_by)
        self.lifted[outer] = node
        self._bind(node, fake)
        if self.context.observer is not None:
            self.context.observer.on_lift(self, outer, node)
        return node

    def set_inputs(self, order: Sequence[tuple[Node, str]]) -> None:
        """Have these nodes of the parent's graph as lifted inputs, in this order, used or not. Each comes with the
        ending of its placeholder's name."""
        before = self.lifted
        self.lifted = {}
        for outer, ending in order:
            last, node = self._last_placeholder(), before.pop(outer, None)
            if node is None:
                node = self._placeholder(outer.name + ending, outer.meta["example_value"], last)
            else:
                if ending:
                    node._rename(outer.name + ending)
                    node.target = node.name
                _move_after(node, last, self.graph)
            self.lifted[outer] = node
        assert not before, "an input that is used has no place"

    @property
    def operands(self) -> list[Node]:
        """Return the nodes of the parent's graph to call this graph with, after its arguments."""
        return list(self.lifted)

    def symbol(self, name: str) -> Node:
        """Return the node of this graph for a plain symbol."""
        node = self.symbols.get(name)
        if node is None:
            node = self.symbols[name] = self._find_symbol(name)
        return node

    def _find_symbol(self, name: str) -> Node:
        assert self.parent is not None
        return self.lift(self.parent.symbol(name))

    def _lift_symbols(self, fake: Any) -> None:
        """Lift the symbols that describe a tensor's memory layout: they are inputs wherever the tensor is one."""
        if isinstance(fake, torch.Tensor):
            for name in symbols_of(fake):
                self.symbol(name)

    def _bind(self, node: Node, fake: Any) -> None:
        """Note that `node` gives the value of a symbol that no input of the frame has."""
        name = _plain_symbol(fake)
        if name is not None and (self.parent is not None or name not in self.context.fakes.symbols):
            self.symbols.setdefault(name, node)

    def _last_placeholder(self) -> Node | None:
        """Return the placeholder after which the next lifted value is inserted."""
        if self.lifted:
            return next(reversed(self.lifted.values()))
        return self.arguments[-1] if self.arguments else None

    def _placeholder(self, name: str, fake: Any, after: Node | None, **meta: Any) -> Node:
        with self._inserting(after):
            node = self.graph.placeholder(name)
        # The graph's function calls its parameters by their targets.
        node.target = node.name
        node.meta |= meta
        return self._note(node, fake)

    def inputs_to_spare(self) -> list[Node]:
        """Return the placeholders that may be erased if no node reads them."""
        return list(self.lifted.values())

    def drop_inputs(self, unread: Collection[Node]) -> None:
        """Erase placeholders that no node reads."""
        self.lifted = {outer: inner for outer, inner in self.lifted.items() if inner not in unread}
        for node in unread:
            self.graph.erase_node(node)

    # --- nodes --------------------------------------------------------------------------------------------

    def add_node(self, op: str, target: Any, args: Any, kwargs: Any, fake: Any) -> Node:
        """Add a node whose result has the fake value `fake`. Arguments that belong to graphs around this one are
        lifted."""
        if self.context.nested:
            args, kwargs = map_arg(args, self.lift), map_arg(kwargs, self.lift)
        if target is operator.pow and isinstance(args[0], (int, float)) and args[0] < 0:
            # A graph writes `operator.pow` as `**`, which binds more tightly than the sign of a number.
            target = pow
        node = self.graph.create_node(op, target, args, kwargs)
        node.meta["example_value"] = fake
        custom = traceback.current_meta.get("custom")
        if custom:
            node.meta["custom"] = dict(custom)
        context, operations = self.context, self.context.fakes.operations
        drawn, raising, written = context.noted
        if operations.draws != drawn:
            node.meta["draws"] = True
        if operations.may_raise != raising:
            node.meta["may_raise_on_data"] = True
        if operations.clock != written and context.nested:
            context.writes.append((operations.clock, context.fakes.where()))
        context.noted = operations.draws, operations.may_raise, operations.clock
        self.places[node] = context.calls()
        if isinstance(fake, NUMBERS):
            if may_raise(node, context.fakes.unknowns):
                node.meta["may_raise"] = True
            self._bind(node, fake)
        return self._note(node, fake)

    def add_attribute(self, name: str, value: Any, fake: Any = None) -> Node:
        """Add a node that reads `value`, which the graph's module holds as an attribute, called `name` if
        possible."""
        for known, node in self.attributes.values():
            if known is value:
                return node
        # Inputs, then attributes: both exist wherever the graph uses them.
        last = next(reversed(self.attributes.values()))[1] if self.attributes else self._last_placeholder()
        with self._inserting(last):
            node = self.graph.create_node("get_attr", name, name=name)
        node.target = node.name
        self.attributes[node.name] = value, node
        return self._note(node, fake)

    def replace_number(self, node: Node, number: Any) -> None:
        """Record that `node` gives this symbolic number, instead of the one that its operation gave for symbols."""
        node.meta["example_value"] = number
        self._bind(node, number)

    def number(self, expr: Any) -> Any:
        """Return a number from symbols: the node of a plain symbol, an int, or its arithmetic as nodes of this
        graph."""
        if expr.is_Symbol:
            return self.symbol(str(expr))
        if expr.is_Integer:
            return int(expr)
        parts = [self.number(arg) for arg in expr.args]
        function = _EXPRESSION_OPS.get(type(expr).__name__)
        if function is None:
            raise Unsupported("needs-constant", what=f"the size expression {expr}")
        result = parts[0]
        for i, part in enumerate(parts[1:], 2):
            partial = expr if i == len(parts) else expr.func(*expr.args[:i])
            number = _number_of(partial, self.context.fakes.shape_env)
            result = self.add_node("call_function", function, (result, part), {}, number)
        return result

    def _inserting(self, after: Node | None) -> contextlib.AbstractContextManager[Any]:
        """Insert nodes after that one, or at the beginning, in the block."""
        return self.graph.inserting_before() if after is None else self.graph.inserting_after(after)

    def _note(self, node: Node, fake: Any) -> Node:
        node.meta["example_value"] = fake
        self._created.append(node)
        if self.context.observer is not None:
            self.context.observer.on_node(node, fake)
        return node

    # --- the end ------------------------------------------------------------------------------------------

    def close(self, results: Sequence[Any] | Node | None) -> None:
        """Add the output: nodes of this graph or of graphs around it, constants, or nested containers of these."""
        returned = results if results is None or isinstance(results, Node) else tuple(results)
        self._created.append(self.graph.output(map_arg(returned, self.lift)))
        if self.parent is not None and self.context.observer is not None:
            self.context.observer.on_body_close(self)

    def module(self) -> torch.fx.GraphModule:
        """Return the closed graph as a module that holds the attributes it uses."""
        return torch.fx.GraphModule({name: value for name, (value, _) in self.attributes.items()}, self.graph)

    # --- marks --------------------------------------------------------------------------------------------

    def _tables(self) -> tuple[Table, ...]:
        return self._created, self.arguments, self.lifted, self.symbols, self.attributes

    def mark(self) -> TracerMark:
        return TracerMark(lengths_of(self._tables()), dict(self.graph._graph_namespace._base_count))

    def roll_back(self, mark: TracerMark) -> None:
        """Remove the nodes added since the mark; their names are free again."""
        names = self.graph._graph_namespace
        for node in reversed(self._created[mark.lengths[0] :]):
            self.places.pop(node, None)
            if not node._erased:
                self.graph.erase_node(node)
            names._used_names.discard(node.name)
            names._obj_to_name.pop(node, None)
        names._base_count = dict(mark.name_counts)
        cut_back(self._tables(), mark.lengths)


def _move_after(node: Node, last: Node | None, graph: torch.fx.Graph) -> None:
    """Move a node behind another one of its graph, or to the beginning."""
    if last is not None:
        last.append(node)
    elif (first := next(iter(graph.nodes))) is not node:
        first.prepend(node)


def _plain_symbol(fake: Any) -> str | None:
    """Return the symbol of a symbolic int or float that consists of one symbol alone."""
    if isinstance(fake, (torch.SymInt, torch.SymFloat)) and fake.node.expr.is_Symbol:
        return str(fake.node.expr)
    return None


def _number_of(expr: Any, env: ShapeEnv) -> Any:
    """Return the symbolic int for `expr`, with its value in this call as hint."""
    hint = expr.xreplace(env.backed_var_to_val)
    return env.create_symintnode(expr, hint=int(hint) if hint.is_Integer else None)


_EXPRESSION_OPS: dict[str, Callable[..., Any]] = {
    "Add": operator.add,
    "Mul": operator.mul,
    "Pow": operator.pow,
    "FloorDiv": operator.floordiv,
    "CleanDiv": operator.floordiv,
    "Mod": operator.mod,
    "PythonMod": operator.mod,
    "Max": torch.sym_max,
    "Min": torch.sym_min,
}
