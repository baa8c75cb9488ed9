"""`OutputGraph`: the graphs of one attempt, one inside the other, with the fakes, symbols and guards they share."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch
import torch.fx
from torch._dispatch.python import enable_python_dispatcher
from torch.fx import Node

from tracer_core.errors import Unsupported
from tracer_core.frame_input import FrameInput
from tracer_core.graph.fakes import Fakes
from tracer_core.graph.marks import FakesMark, Lengths, Table, cut_back, lengths_of, mark_fakes, roll_back_fakes
from tracer_core.graph.repeated_calls import RepeatedCalls
from tracer_core.graph.root import RootTracer
from tracer_core.graph.settings import SettingsMark, TracedSettings
from tracer_core.graph.shapes import ShapeGuards
from tracer_core.graph.subgraph import NUMBERS, Calls, GraphContext, SubgraphTracer, TracerMark
from tracer_core.guards import Guard, make
from tracer_core.host.noticed_warnings import WarningAlways
from tracer_core.host.signals import call_waiting, waiting
from tracer_core.names.symbols import SYMBOL, of_node
from tracer_core.names.where import Where
from tracer_core.observer import Observer
from tracer_core.sources import Scope, Source


@dataclass(frozen=True, slots=True)
class OutputMark:
    """A mark of an `OutputGraph`: which graph was being built, and the marks of it and of those around it."""

    current: SubgraphTracer
    graphs: list[tuple[SubgraphTracer, TracerMark]]
    fakes: FakesMark
    settings: SettingsMark
    lengths: Lengths
    noted: tuple[int, int, int]
    nested: bool
    stride_questions: int


class OutputGraph:
    """The graphs that one attempt builds: `root`, and `current`, the innermost, to which nodes are added.

    Args:
        frame: the frame being traced.
        observer: receives nodes, guards and symbols, or None.
        where: returns the running code.
        calls: returns the running calls of the program.
    """

    def __init__(
        self, frame: FrameInput, observer: Observer | None, where: Callable[[], Where], calls: Callable[[], Calls]
    ) -> None:
        self.frame = frame
        self.observer = observer
        self.where = where
        self.fakes = Fakes(frame.history, frame.config.dynamic, where, lays_out=not self.runs_as_it_is)
        self.shapes = ShapeGuards(self.fakes, where)
        self.settings = TracedSettings()
        self.repeated_calls = RepeatedCalls(self.fakes.mode, self.settings)
        self.guards: dict[Any, Guard] = {}
        # What to tell the user once the frame is compiled, though nothing breaks.
        self.notices: list[Unsupported] = []
        # Operators in the graphs without torch's tag for compilers, and where each was called first.
        self.untagged: dict[str, Where] = {}
        self._context = GraphContext(self.fakes, observer, calls)
        self.root = RootTracer(self._context)
        self.current: SubgraphTracer = self.root
        # How often the program has asked for strides, directly or by a memory format.
        self.stride_questions = 0

    # --- the stack of graphs ------------------------------------------------------------------------------

    def subtracer(self, operator: str = "", function: str = "") -> contextlib.AbstractContextManager[SubgraphTracer]:
        """Add nodes to a new graph, inside the one that is being built, in the block: for a function that an operator
        calls."""
        self._context.nested = True
        return self.inside(SubgraphTracer(self._context, self.current, operator, function))

    @contextlib.contextmanager
    def inside(self, inner: SubgraphTracer) -> Iterator[SubgraphTracer]:
        """Add nodes to the graph of `inner`, whose parent is the present tracer, in the block."""
        outer = self.current
        assert inner.parent is outer
        self.current = inner
        if self.observer is not None:
            self.observer.on_body_enter(inner)
        try:
            yield inner
        except BaseException as error:
            self._leave(inner, outer, error)
            raise
        self._leave(inner, outer, None)

    def _leave(self, inner: SubgraphTracer, outer: SubgraphTracer, error: BaseException | None) -> None:
        self.current = outer
        if self.observer is not None:
            self.observer.on_body_exit(inner, error)

    def stack(self) -> Iterator[SubgraphTracer]:
        """Return the tracers of the graphs that are being built, the innermost first."""
        tracer: SubgraphTracer | None = self.current
        while tracer is not None:
            yield tracer
            tracer = tracer.parent

    @property
    def layouts_vary(self) -> bool:
        """Whether tensors may lie in memory otherwise than their fakes do."""
        return any(tracer.layouts_vary for tracer in self.stack())

    def leads_to(self, inner: Node, outer: Node) -> None:
        """Note that the node `outer` gives what `inner` gives in a graph that is closed."""
        self._context.exits[inner] = outer

    def last_written_at(self, fake: torch.Tensor) -> Where | None:
        """Return where the program last writes to the memory of `fake`, if it does so in an inner graph."""
        last = self.fakes.operations.last_write(fake)
        return next((where for clock, where in self._context.writes if clock >= last), None)

    # --- marks --------------------------------------------------------------------------------------------

    def _tables(self) -> tuple[Table, ...]:
        return (
            self.guards,
            self.notices,
            self.shapes.needed_by,
            self._context.exits,
            self._context.writes,
            self.untagged,
        )

    def mark(self) -> OutputMark:
        return OutputMark(
            self.current,
            [(tracer, tracer.mark()) for tracer in self.stack()],
            mark_fakes(self.fakes),
            self.settings.mark(),
            lengths_of(self._tables()),
            self._context.noted,
            self._context.nested,
            self.stride_questions,
        )

    def roll_back(self, mark: OutputMark) -> None:
        """Return to the state at the mark: forget the graphs begun since, and what was added to the others; their
        nodes, inputs, symbols and names, what is known of symbols, guards, and torch's settings."""
        self.current = mark.current
        for tracer, of_tracer in mark.graphs:
            tracer.roll_back(of_tracer)
        self.settings.roll_back(mark.settings)
        roll_back_fakes(self.fakes, mark.fakes)
        cut_back(self._tables(), mark.lengths)
        self._context.noted, self._context.nested = mark.noted, mark.nested
        self.stride_questions = mark.stride_questions

    def keep(self, mark: OutputMark) -> None:
        """Discard the mark: the trace does not roll back to it."""
        self.settings.keep(mark.settings)

    def notice(self, notice: Unsupported) -> None:
        """Have the user told of this once the frame is compiled. The graph does not break."""
        notice.where = self.where()
        self.notices.append(notice)

    # --- guards -------------------------------------------------------------------------------------------

    def guard(self, guard: Guard) -> None:
        """Add `guard`: the code generated here is right only while it holds."""
        key = guard.key
        if key in self.guards:
            return
        self.guards[key] = guard.installed_at(guard.where or self.where())
        if self.observer is not None:
            self.observer.on_guard(guard)

    def value_at(self, source: Source) -> Any:
        """Return the value at `source` in the frame being traced."""
        frame = self.frame
        cells = dict(zip(frame.code.co_freevars, frame.closure, strict=True))
        return source.find(Scope(frame.locals, frame.globals, frame.builtins, cells))

    def is_of_module(self, source: Source) -> bool:
        """Return whether the value at `source` is reached through a module."""
        return any(isinstance(self.value_at(step), torch.nn.Module) for step in source.path()[:-1])

    # --- inputs and symbols -------------------------------------------------------------------------------

    def add_tensor(self, source: Source, name: str, real: torch.Tensor) -> tuple[Node, torch.Tensor]:
        """Add a placeholder and a fake for the tensor at `source`, with a guard on all its properties except its
        values."""
        static = bool(self.fakes.dynamic) and (isinstance(real, torch.nn.Parameter) or self.is_of_module(source))
        tracked = self.fakes.tensor(real, source, static=static)
        sizes = tuple(n if isinstance(n, int) else None for n in tracked.sizes)
        strides = tuple(
            n if isinstance(n, int) and dim not in tracked.idle else None for dim, n in enumerate(tracked.strides)
        )
        self.guard(make.tensor(source, real, sizes, strides, tracked.special))
        return self.root.add_input(source, name, tracked.fake), tracked.fake

    def note_strides_read(self) -> None:
        """Note that the program reads strides: from now on, strides that do not affect where elements lie are
        guarded, too."""
        self.stride_questions += 1
        if not self.fakes.needs_all_strides:
            for guard in self.fakes.all_strides():
                self.guard(guard)

    def symbol_node(self, value: torch.SymInt | torch.SymFloat) -> Node:
        """Return the node for a symbolic number: an input for a symbol of the frame's, else its arithmetic as
        nodes."""
        expr = value.node.expr
        tracer = self.root if expr.is_Symbol and str(expr) in self.fakes.symbols else self.current
        node: Node = tracer.number(expr)
        return node

    def symbol_meanings(self) -> dict[str, str]:
        """Describe the sources of the symbols so far."""
        meanings = {name: binding.sources[0].name for name, binding in self.fakes.symbols.items()}
        for tracer in self.stack():
            for node in tracer.graph.nodes:
                value = node.meta.get("example_value")
                if isinstance(value, NUMBERS) and SYMBOL.fullmatch(str(value)):
                    meanings.setdefault(str(value), of_node(node.name))
        return meanings

    # --- operations ---------------------------------------------------------------------------------------

    @property
    def runs_as_it_is(self) -> bool:
        """Return whether the back end runs the operations unchanged, so that the graph may contain what other back
        ends lose."""
        return self.frame.config.is_on("graph_runs_as_it_is")

    def run_fake(self, function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
        """Return the result of `function` on fake values. Raises the error of the operation."""
        key = self.repeated_calls.key(function, args, kwargs)
        known = self.repeated_calls.result(key)
        if known is not None:
            return known
        before = self.fakes.operations.counts
        # Symbols that an operation creates for itself must not stay unbound: back ends would fail on them. Some
        # kernels in C++ read symbolic sizes as numbers; torch has them in Python too, under this dispatcher.
        fresh_symbols = self.fakes.shape_env.ignore_fresh_unbacked_symbols()
        with self.fakes.mode, enable_python_dispatcher(), WarningAlways(), fresh_symbols:
            result = function(*args, **kwargs)
        if waiting:
            call_waiting()
        self.repeated_calls.remember(key, args, result, before)
        return result

    def add_node(self, op: str, target: Any, args: Any, kwargs: Any, fake: Any) -> Node:
        """Add a node to the innermost graph. Arguments may be nodes of any graph that is being built."""
        return self.current.add_node(op, target, args, kwargs, fake)

    def add_settings_node(self, settings: Sequence[str], target: Any, args: Any, kwargs: Any = None) -> Node:
        """Add a node for a call that changes these of torch's settings."""
        node = self.add_node("call_function", target, args, kwargs or {}, None)
        node.meta["settings"] = settings
        return node
