"""`OutputGraph`: the graph of one attempt, with its inputs, guards and side effects."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import CodeType
from typing import TYPE_CHECKING, Any

import torch
import torch.fx

from tracer_core.errors import Unsupported
from tracer_core.frame_input import FrameInput
from tracer_core.graph.draws import Draw
from tracer_core.graph.fakes import Fakes
from tracer_core.graph.memory import symbols_of
from tracer_core.graph.number_errors import conditions
from tracer_core.graph.shapes import ShapeGuards
from tracer_core.graph.side_effects import ReplayedCall, SideEffects
from tracer_core.graph.state import TracedState
from tracer_core.guards import Guard, make
from tracer_core.guards.kinds.libraries import LibraryReads
from tracer_core.observer import Observer
from tracer_core.sources import (
    ConstSource,
    DrawnSource,
    FloatTensorSource,
    FrameGlobalsSource,
    IntTensorSource,
    Scope,
    Source,
)
from tracer_core.symbol_names import SYMBOL, of_node
from tracer_core.warned import WarningAlways
from tracer_core.where import Where

if TYPE_CHECKING:
    from tracer_core.variables.base import VariableTracker


SYMBOLIC = (torch.SymInt, torch.SymFloat, torch.SymBool)
NUMBERS = (*SYMBOLIC, bool, int, float)


@dataclass(slots=True)
class GraphArg:
    """One input of the graph: its placeholder, and the source codegen loads it from."""

    node: torch.fx.Node
    source: Source
    fake: Any


Calls = tuple[tuple[CodeType, int], ...]
"""Calls of the program that are running, each as its code and line, the innermost first."""


class OutputGraph:
    """Everything one attempt builds.

    Args:
        frame: the frame being traced.
        observer: told of nodes, guards, symbols and side effects, or None.
        where: says what is running.
        calls: says what calls of the program are.
    """

    def __init__(
        self, frame: FrameInput, observer: Observer | None, where: Callable[[], Where], calls: Callable[[], Calls]
    ) -> None:
        self.frame = frame
        self.observer = observer
        self.where = where
        self._calls = calls
        # Where in the program each operation comes from.
        self.places: dict[torch.fx.Node, Calls] = {}
        self.graph = torch.fx.Graph()
        self.fakes = Fakes(frame.history, frame.config.dynamic, where, lays_out=not self.runs_as_it_is)
        self.inputs: list[GraphArg] = []
        self.guards: dict[Any, Guard] = {}
        self.side_effects = SideEffects(self._on_side_effect, where)
        self.shapes = ShapeGuards(self.fakes, where)
        self.trackers_by_object: dict[int, VariableTracker] = {}
        # What was written to classes; how lookups find it; and which tracker each placeholder there stands for.
        self.class_writes: dict[type, Any] = {}
        self.overlay: dict[type, dict[str, Any]] = {}
        self.placeholders: dict[int, tuple[Any, VariableTracker]] = {}
        # Whose `__dict__` each dict is, by their ids.
        self.dict_owners: dict[int, int] = {}
        # An operation that gives back its argument, as those in place do, gives back the argument's tracker, whose
        # node is the memory, not the values that were in it when the node was added.
        self.tensors_by_fake: dict[int, VariableTracker] = {}
        self.kept_alive: list[Any] = []
        self.libraries = LibraryReads()
        # Generators that the trace started.
        self.generators: list[Any] = []
        # Calls of random generators, which the generated code makes in this order before it calls the graph.
        self.draws: list[Draw] = []
        # The root frame's instructions, by number, at which the graph checks on data which way the program goes.
        self.check_steps: list[int] = []
        self.state = TracedState()
        # Whether the program is told that it is not being compiled; the last question that it was told otherwise on.
        self.told_plainly = False
        self.told: str | None = None
        self.grad_mode_at_start = torch.is_grad_enabled()
        self._last_placeholder: torch.fx.Node | None = None
        # A symbol, like a source, stands for what was there when the frame started, whatever the trace has changed
        # since (what it writes has no source): one node serves every read.
        self._symbol_nodes: dict[str, torch.fx.Node] = {}
        self._unknown_numbers: dict[tuple[Source, type], tuple[torch.fx.Node, Any]] = {}
        # How many of the operations that may draw belong to nodes already.
        self._draws_noted = 0
        # Nodes that only take a number out of the tensor that carries it into the graph.
        self._carried = 0

    # --- guards -----------------------------------------------------------------------------------------

    def guard(self, guard: Guard) -> None:
        """Note that the code made here is right only while `guard` holds."""
        key = guard.key
        if key in self.guards:
            return
        self.guards[key] = guard.asked_at(guard.where or self.where())
        if self.observer is not None:
            self.observer.on_guard(guard)

    def note_no_global(self, globals_: dict[str, Any], name: str) -> None:
        """There is no global of that name, which would hide a builtin."""
        module = str(globals_.get("__name__", ""))
        if module.startswith("torch."):
            self.libraries.name(globals_, name)
        elif not module.startswith("tracer_core."):
            own = globals_ is self.frame.globals
            label = f"globals of {module}"
            self.guard(
                make.lacks(FrameGlobalsSource(module) if own else ConstSource.of_object(globals_, label), name)
            )

    def real_value(self, tracker: VariableTracker) -> Any:
        """The real object that a tracker from outside stands for."""
        assert tracker.source is not None
        return self.value_at(tracker.source)

    def value_at(self, source: Source) -> Any:
        """What is found at `source` in the frame being traced."""
        frame = self.frame
        cells = dict(zip(frame.code.co_freevars, frame.closure, strict=True))
        return source.find(Scope(frame.locals, frame.globals, frame.builtins, cells))

    def is_of_module(self, source: Source) -> bool:
        """Whether what is found at `source` is reached through a module."""
        return any(isinstance(self.value_at(step), torch.nn.Module) for step in source.path()[:-1])

    # --- inputs -----------------------------------------------------------------------------------------

    def add_tensor(self, source: Source, name: str, real: torch.Tensor) -> tuple[torch.fx.Node, torch.Tensor]:
        """A placeholder and a fake for the tensor at `source`, guarded to be as it is now but for its values."""
        settled = bool(self.fakes.dynamic) and (isinstance(real, torch.nn.Parameter) or self.is_of_module(source))
        tracked = self.fakes.tensor(real, source, settled=settled)
        sizes = tuple(n if isinstance(n, int) else None for n in tracked.sizes)
        strides = tuple(
            n if isinstance(n, int) and dim not in tracked.idle else None for dim, n in enumerate(tracked.strides)
        )
        self.guard(make.tensor(source, real, sizes, strides, tracked.special))
        return self.add_input(source, name, tracked.fake), tracked.fake

    def add_input(self, source: Source, name: str, fake: Any) -> torch.fx.Node:
        """A placeholder for the value at `source`; symbols that say how it lies in memory come first."""
        if isinstance(fake, torch.Tensor):
            for symbol in symbols_of(fake):
                self._symbol_input(symbol)
        return self._placeholder(source, name, fake)

    def ask_strides(self) -> None:
        """The program looks at strides: also those that say nothing of where elements lie are guarded."""
        if not self.fakes.needs_all_strides:
            for guard in self.fakes.all_strides():
                self.guard(guard)

    def symbol_node(self, value: torch.SymInt | torch.SymFloat) -> torch.fx.Node:
        """The node for a symbolic number: an input for a plain symbol, else its arithmetic as nodes."""
        node: torch.fx.Node = self._expr_node(value.node.expr)
        return node

    def float_node(self, value: torch.SymFloat, name: str) -> torch.fx.Node:
        """The node for the float symbol `value`: the item of an input tensor that carries it."""
        symbol = str(value.node.expr)
        binding = self.fakes.symbols[symbol]
        node = self._symbol_nodes[symbol] = self._carry(FloatTensorSource(binding.sources[0]), name, value)
        if self.observer is not None:
            self.observer.on_symbol(symbol, binding.hint, binding.sources[0].name)
        return node

    def symbol_meanings(self) -> dict[str, str]:
        """What the symbols stand for that there are so far, in words."""
        meanings = {name: binding.sources[0].name for name, binding in self.fakes.symbols.items()}
        for node in self.graph.nodes:
            value = node.meta.get("example_value")
            if isinstance(value, NUMBERS) and SYMBOL.fullmatch(str(value)):
                meanings.setdefault(str(value), of_node(node.name))
        return meanings

    def draw(self, draw: Draw) -> DrawnSource:
        """Have the generated code make this call after those drawn before; the source of its result."""
        self.draws.append(draw)
        return DrawnSource(len(self.draws) - 1, draw.label)

    def unknown_number(self, source: Source, cls: type) -> tuple[torch.fx.Node, torch.SymInt | torch.SymFloat]:
        """The node and the symbol of an int or float of which nothing is known but its type, and nothing guarded."""
        known = self._unknown_numbers.get((source, cls))
        if known is not None:
            return known
        value = self.fakes.unknown(cls)
        carrier = FloatTensorSource(source) if cls is float else IntTensorSource(source)
        made = self._carry(carrier, f"number_{self._carried}", value), value
        self._unknown_numbers[source, cls] = made
        return made

    def _carry(self, source: FloatTensorSource | IntTensorSource, name: str, value: Any) -> torch.fx.Node:
        """The node of a number that enters in a tensor: an input and the reading of its item."""
        with self.fakes.mode:
            dtype = torch.float64 if isinstance(source, FloatTensorSource) else torch.int64
            carrier = torch.empty((), dtype=dtype, device="cpu")
        if isinstance(value, torch.SymFloat):
            carrier.item_memo = value  # type: ignore[attr-defined]  # back ends ask the fake again, and shall find this
        placeholder = self._placeholder(source, name, carrier)
        self._carried += 1
        return self.add_node("call_method", "item", (placeholder,), {}, value)

    def _symbol_input(self, name: str) -> torch.fx.Node:
        node = self._symbol_nodes.get(name)
        if node is None:
            binding = self.fakes.symbols[name]
            node = self._symbol_nodes[name] = self._placeholder(binding.sources[0], name, binding.value)
            if self.observer is not None:
                self.observer.on_symbol(name, binding.hint, binding.sources[0].name)
        return node

    def _expr_node(self, expr: Any) -> Any:
        if expr.is_Symbol:
            return self._symbol_input(str(expr))
        if expr.is_Integer:
            return int(expr)
        parts = [self._expr_node(arg) for arg in expr.args]
        function = _EXPRESSION_OPS.get(type(expr).__name__)
        if function is None:
            raise Unsupported("needs-constant", what=f"the size expression {expr}")
        result = parts[0]
        for i, part in enumerate(parts[1:], 2):
            number = self._number_of(expr if i == len(parts) else expr.func(*expr.args[:i]))
            result = self.add_node("call_function", function, (result, part), {}, number)
        return result

    def _number_of(self, expr: Any) -> Any:
        """The symbolic int that `expr` says, with what it is in this call."""
        env = self.fakes.shape_env
        hint = expr.xreplace(env.backed_var_to_val)
        return env.create_symintnode(expr, hint=int(hint) if hint.is_Integer else None)

    def _placeholder(self, source: Source, name: str, fake: Any) -> torch.fx.Node:
        if self._last_placeholder is None:
            with self.graph.inserting_before(next(iter(self.graph.nodes), None)):
                node = self.graph.placeholder(name)
        else:
            with self.graph.inserting_after(self._last_placeholder):
                node = self.graph.placeholder(name)
        # The graph's function calls its parameters by their targets.
        node.target = node.name
        self._last_placeholder = node
        node.meta["example_value"] = fake
        node.meta["source"] = source
        self.inputs.append(GraphArg(node, source, fake))
        if self.observer is not None:
            self.observer.on_node(node, fake)
        return node

    # --- operations -------------------------------------------------------------------------------------

    @property
    def runs_as_it_is(self) -> bool:
        """Whether the back end runs the operations as they stand, so that what others lose can be in the graph."""
        return self.frame.config.is_on("graph_runs_as_it_is")

    def run_fake(self, function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
        """`function` on fake values. Raises what the operation raises."""
        # Symbols that an operation makes for itself must not wait for someone to bind them: back ends would ask.
        with self.fakes.mode, WarningAlways(), self.fakes.shape_env.ignore_fresh_unbacked_symbols():
            return function(*args, **kwargs)

    def add_settings_node(self, settings: Sequence[str], target: Any, args: Any, kwargs: Any = None) -> torch.fx.Node:
        """A node for a call that changes these of torch's settings."""
        node = self.add_node("call_function", target, args, kwargs or {}, None)
        node.meta["settings"] = settings
        return node

    def add_node(self, op: str, target: Any, args: Any, kwargs: Any, fake: Any) -> torch.fx.Node:
        if target is operator.pow and isinstance(args[0], (int, float)) and args[0] < 0:
            # A graph writes `operator.pow` as `**`, and a number's sign before it comes last.
            target = pow
        node = self.graph.create_node(op, target, args, kwargs)
        node.meta["example_value"] = fake
        if self.fakes.operations.draws != self._draws_noted:
            node.meta["draws"] = True
            self._draws_noted = self.fakes.operations.draws
        self.places[node] = self._calls()
        if isinstance(fake, NUMBERS) and not self._guards_against_raising(node):
            node.meta["may_raise"] = True
        if self.observer is not None:
            self.observer.on_node(node, fake)
        return node

    def _guards_against_raising(self, node: torch.fx.Node) -> bool:
        """Guard that `node`, which computes a number, does not raise on other numbers. False where none can."""
        from torch.fx.experimental.symbolic_shapes import statically_known_true

        asked = conditions(node)
        if asked is None or any(self._is_of_unknown(each) for each in asked):
            return False
        return all(statically_known_true(each) or bool(each) for each in asked)

    def _is_of_unknown(self, condition: Any) -> bool:
        """Whether it is of a number of which nothing can be guarded."""
        return isinstance(condition, torch.SymBool) and bool(condition.node.expr.free_symbols & self.fakes.unknowns)

    @property
    def operations(self) -> int:
        """How many nodes there are besides the inputs and what reads numbers out of them."""
        return len(self.graph.nodes) - len(self.inputs) - self._carried

    @property
    def works_on_tensors(self) -> bool:
        """Whether there are operations on more than numbers."""
        return any(
            node.op != "placeholder" and not isinstance(node.meta.get("example_value"), NUMBERS)
            for node in self.graph.nodes
        )

    def shows_other_data(self, call: ReplayedCall) -> bool:
        """Whether a tensor that `call` shows was written to after it was put off, or might have been."""
        fakes = [tracker.fake for tracker in (*call.args, *call.kwargs.values())]
        return any(isinstance(f, torch.Tensor) and self.fakes.written_since(f, call.moment) for f in fakes)

    def _on_side_effect(self, kind: str, tracker: VariableTracker, message: str) -> None:
        if self.observer is not None:
            if tracker.source is not None or kind == "global":
                self.observer.on_side_effect(kind, tracker, message)
            self.observer.on_change(tracker)


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
