"""`FrameEnd`: the state in which a frame leaves its graph, and the code that restores it."""

from __future__ import annotations

from functools import partial

import torch

from tracer_core.bytecode import CodeBuilder, Handler, Instruction
from tracer_core.codegen import effects
from tracer_core.codegen.emit.emitter import Emitter, refuse_created_classes
from tracer_core.codegen.emit.names import OUTPUTS, manager_of
from tracer_core.codegen.graph_call.draws import draw_all, giving_back, keep_states, temporaries
from tracer_core.codegen.graph_call.graph import GraphCall
from tracer_core.codegen.graph_call.places import pointing_code
from tracer_core.codegen.graph_call.recovery import Undo, recovery_code, undo_of
from tracer_core.codegen.rebuild import rebuild
from tracer_core.codegen.rebuild.managers import load_manager
from tracer_core.codegen.rebuild.needs import reachable
from tracer_core.codegen.resume.alive import as_it_came
from tracer_core.codegen.resume.blocks import enter_block, make_and_enter_block, raise_and_catch
from tracer_core.interpreter.ops.exceptions import HandledMark
from tracer_core.interpreter.ops.with_blocks import ReenteredMark
from tracer_core.runtime.tracebacks import drop_outermost
from tracer_core.sources import LocalSource
from tracer_core.variables.core.base import VariableTracker
from tracer_core.variables.core.constant import ConstantVariable
from tracer_core.variables.core.lazy import LazyVariableTracker
from tracer_core.variables.core.tensors import InGraphVariable
from tracer_core.variables.core.trace_state import TraceState
from tracer_core.variables.functions.cells import CellVariable
from tracer_core.variables.functions.frames import Frame
from tracer_core.variables.iterators.dropping import found_through_box


class FrameEnd:
    """The state in which the root frame leaves the graph, ready for code generation.

    Args:
        stack: the values that the new code must push: those it returns, or the stack at the break.
        locals: names and values of the locals to set (only those that changed).
        cells: the frame's own cells that the resume function reads; others matter if a live value holds them.
    """

    def __init__(
        self,
        trace: TraceState,
        root: Frame,
        stack: list[VariableTracker],
        locals: dict[str, VariableTracker],
        cells: dict[str, CellVariable],
    ) -> None:
        self.trace = trace
        self.output = trace.output
        self.root = root
        self.stack = stack
        self.locals = locals
        self.emitter = Emitter(root, {}, rebuild)
        contents = [cell.contents for cell in cells.values() if cell.contents is not None]
        handled = [item.exception for item in stack if isinstance(item, HandledMark)]
        managers = [item.manager for item in stack if isinstance(item, ReenteredMark)]
        changed = effects.needs(trace.side_effects, self.emitter)
        roots = [*stack, *handled, *managers, *locals.values(), *contents, *changed]
        alive = reachable(roots)
        self.alive = alive
        held = {each for each in alive if isinstance(each, CellVariable)}
        own = own_new_cells(root)
        self.cells = {name: cell for name, cell in own.items() if name in cells or cell in held}
        # The variables for the state before the graph, and for the draws.
        self.kept: list[str] = []
        refuse_created_classes(alive)
        outputs = [tracker for tracker in alive if isinstance(tracker, InGraphVariable) and tracker.source is None]
        by_node: dict[torch.fx.Node, int] = {}
        for tracker in outputs:
            self.emitter.outputs[tracker] = by_node.setdefault(tracker.node, len(by_node))
        self.output_nodes = list(by_node)

    def call_graph(self, graph: GraphCall | None, otherwise: Instruction) -> list[Instruction]:
        """Call the compiled graph, if there is one, and set torch's settings as the trace left them.

        Returns:
            Instructions to stand at the end of the code. They continue at `otherwise`, the beginning of the original
            code, when the graph raises: then plain Python raises the same at its place, where it may be caught.
        """
        emitter, draws = self.emitter, self.trace.draws
        pointing: list[Instruction] = []
        undone = undo_of(self.output) if graph is not None else None
        undo = undone or Undo()
        kept = self.kept = temporaries(draws, undo)
        if kept:
            # If the original code runs after all, it must not find them among its locals: all must be bound.
            for name in kept:
                emitter.const(None)
                emitter.store_local(name)
        keep_states(emitter, draws, undo)
        recovered = draw_all(emitter, draws)
        if graph is not None:
            arguments = [partial(emitter.load_source, each.source) for each in self.output.root.inputs]
            call = emitter.call(partial(emitter.const, graph.function), arguments)
            emitter.store_local(OUTPUTS)
            if undone is not None:
                recovered.append(call)
            else:
                pointing = pointing_code(graph.places)
                call.handler = Handler(pointing[0], 0, False)
        recovery = self._recovery(otherwise, kept, graph) if recovered else []
        for instruction in recovered:
            instruction.handler = Handler(recovery[0], 0, False)
        for change in self.output.settings.left:
            emitter.run_const(change.write, partial(emitter.const, change.value))
        return [*recovery, *pointing]

    def _recovery(self, otherwise: Instruction, kept: list[str], graph: GraphCall | None) -> list[Instruction]:
        """Emit the handler of an exception of the graph or of a draw: an ordinary one is dropped and plain Python
        runs. `kept` are the variables for the state before the graph."""

        def put_back(code: CodeBuilder) -> None:
            if kept:
                giving_back(code)
            for name in kept:
                code.delete_local(name)

        return recovery_code(otherwise, put_back, None if graph is None else graph.blame.report)

    def restore(self) -> None:
        """Write back side effects, set cells, push the stack, set locals."""
        emitter = self.emitter
        effects_log = self.trace.side_effects
        cells = {name: cell for name, cell in self.cells.items() if _is_set(name, cell)}
        if effects_log.changed or effects_log.globals_ or effects_log.calls or cells:
            self._load_before_changes()
        effects.write_back(self.trace.side_effects, emitter)
        for name, cell in cells.items():
            assert cell.contents is not None
            emitter.load(cell.contents)
            emitter.emit("STORE_DEREF", name)
        for depth, item in enumerate(self.stack):
            self._push(depth, item)
        for value in self.locals.values():
            emitter.load(value)
        for name in reversed(self.locals):
            emitter.store_local(name)

    def _load_before_changes(self) -> None:
        """Load values whose sources the side effects may change. (The graph changes none: it writes
        into tensors, and which tensor is found where stays as it was.)"""
        emitter = self.emitter
        for tracker in self.alive:
            source = tracker.source
            if source is None or isinstance(tracker, ConstantVariable) or tracker in emitter.where:
                continue
            if isinstance(tracker, CellVariable) and not found_through_box(tracker):
                continue
            if isinstance(source, LocalSource) and not source.free:
                continue
            if isinstance(tracker, LazyVariableTracker) and tracker.realized is not None:
                continue
            emitter.load(tracker)
            emitter.where[tracker] = emitter.store_new()

    def _push(self, depth: int, item: VariableTracker) -> None:
        if isinstance(item, HandledMark):
            self.emitter.load(item.exception)
            raise_and_catch(self.emitter, depth)
            self.emitter.run_const(drop_outermost, lambda: self.emitter.load(item.exception))
        elif isinstance(item, ReenteredMark):
            load_manager(self.emitter, item.manager)
            self.emitter.store_local(manager_of(depth))
            enter = make_and_enter_block if item.remade else enter_block
            enter(self.emitter, manager_of(depth))
        else:
            self.emitter.load(item)


def own_new_cells(root: Frame) -> dict[str, CellVariable]:
    """Return the cells that the root frame itself created."""
    return {name: cell for name, cell in root.cells.items() if cell.source is None}


def _is_set(name: str, cell: CellVariable) -> bool:
    """Return whether a cell of the frame holds something other than the argument it was created with."""
    return cell.contents is not None and not as_it_came(name, cell.contents)
