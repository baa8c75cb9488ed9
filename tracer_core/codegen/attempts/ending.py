"""End an attempt that reached the frame's end or a break: new code under guards, or run the frame as plain Python."""

from __future__ import annotations

import weakref

from tracer_core import observer as observers
from tracer_core.codegen.attempts.distinct import guard_distinct
from tracer_core.codegen.attempts.marks import report_notices, report_untagged_operators
from tracer_core.codegen.frame.end import FrameEnd, own_new_cells
from tracer_core.codegen.frame.new_code import NewCode, breaking, returning
from tracer_core.codegen.graph_call.graph import GraphCall, finish_graph
from tracer_core.codegen.resume.alive import (
    alive_at,
    changed_locals,
    looks_at_stack,
    stack_for_break,
    watches_lifetimes,
)
from tracer_core.codegen.resume.boxes import boxed_locals, delete_dropped, leave_boxes
from tracer_core.codegen.resume.functions import resume_of, starts_at
from tracer_core.errors import Unsupported
from tracer_core.frame_input import CompiledFrame, FrameInput, SkippedFrame
from tracer_core.graph.cleanup import is_empty
from tracer_core.guards import Guard, make
from tracer_core.interpreter.machine import Interpreter, MustRestart
from tracer_core.names.code import code_name
from tracer_core.names.symbols import explained
from tracer_core.reachable_tensors import may_reach_tensors, reaches_tensors
from tracer_core.variables.core.base import VariableTracker

LEAVES = "exception-leaves"


def skip_frame(unsupported: Unsupported) -> SkippedFrame:
    """Run the whole frame as plain Python, for this reason."""
    return SkippedFrame(unsupported.reason_id, unsupported.message)


def end_before(step: int, reason: Unsupported) -> MustRestart:
    """Trace once more, and end the graph before the root frame's instruction number `step`."""
    return MustRestart(step, reason)


class Ending:
    """The state in which an attempt ended. `failure` is why the last one stopped, if there was one, and `settings`
    are the guards that each code has."""

    def __init__(
        self, interpreter: Interpreter, input: FrameInput, failure: MustRestart | None, settings: list[Guard]
    ) -> None:
        self.interpreter = interpreter
        self.input = input
        self.failure = failure
        self.settings = settings
        self.observer = observers.current()

    def at_return(self, value: VariableTracker) -> CompiledFrame | SkippedFrame | MustRestart:
        trace, root = self.interpreter.trace, self.interpreter.root
        if not trace.side_effects.calls and (not trace.output.root.operations or self._is_idle()):
            return self._without_tensors()
        leave_boxes(trace)
        end = FrameEnd(trace, root, [value], {}, {})
        refused = self._dropped_unseen(end)
        if refused is not None:
            return refused
        graph = self._graph(end)
        return self._finished(end, returning(end, graph), graph)

    def _without_tensors(self) -> SkippedFrame:
        """Skip the frame; for ever only if a tensor, which might have changed the decision, is among its values."""
        given = self.input
        forever = not self._leaves_by_exception() and reaches_tensors(given.code, given.locals, given.globals)
        why = self._why_without_tensors()
        why.say(explained(why.message, self.interpreter.output.symbol_meanings()))
        return SkippedFrame(why.reason_id, why.message, forever=forever, idle=True)

    def _why_without_tensors(self) -> Unsupported:
        given, failure = self.input, self.failure
        if self._leaves_by_exception():
            assert failure is not None
            return Unsupported("no-tensor-work-before-exception", name=given.name, **failure.unsupported.details)
        if failure is not None:
            return Unsupported(
                "no-tensor-work-before-break", name=given.name, why=failure.unsupported.message.removesuffix(".")
            )
        resumed = resume_of(given.code)
        if resumed is None:
            return Unsupported("no-tensor-work", name=given.name)
        return Unsupported("no-tensor-work-in-rest", function=code_name(resumed.original), line=resumed.broken.line)

    def _leaves_by_exception(self) -> bool:
        """Return whether no code runs after the break."""
        return self.failure is not None and self.failure.unsupported.reason_id == LEAVES

    def _is_idle(self) -> bool:
        """Return whether the graph is empty, or holds only arithmetic on numbers, and the frame has no tensor."""
        return not self.interpreter.output.root.works_on_tensors and not self._reaches_tensors()

    def _reaches_tensors(self) -> bool:
        return may_reach_tensors(self.input.code, self.input.locals, self.input.globals)

    def at_break(self) -> CompiledFrame | SkippedFrame | MustRestart:
        trace, root = self.interpreter.trace, self.interpreter.root
        position = root.pc
        if starts_at(root.code) > position:
            # A resume function cannot restore, in traced form, the state that it was called with: only Python can.
            assert self.failure is not None
            return skip_frame(self.failure.unsupported)
        if self._is_idle() or (self._leaves_by_exception() and not trace.output.root.works_on_tensors):
            return self._without_tensors()
        if looks_at_stack(root.code):
            return skip_frame(Unsupported("frame-looks-at-stack", function=self.input.name))
        if starts_at(root.code) == 0 and self._observes_lifetimes():
            return skip_frame(Unsupported("frame-watches-lifetimes", function=self.input.name))
        alive = alive_at(root, position) | boxed_locals(root)
        locals = changed_locals(root, alive)
        end = FrameEnd(trace, root, stack_for_break(root, position), locals, own_new_cells(root))
        refused = self._dropped_unseen(end)
        if refused is not None:
            return refused
        graph = self._graph(end)
        return self._finished(end, breaking(end, graph, position), graph)

    def _dropped_unseen(self, end: FrameEnd) -> SkippedFrame | MustRestart | None:
        """Break where the program dropped a suspended generator during the trace: the generator's `finally` blocks
        have not run."""
        root, alive = self.interpreter.root, set(end.alive)
        dropped = next((g for g in end.trace.generators if g.waits_in_a_block and g not in alive), None)
        if dropped is not None:
            reason = Unsupported("generator-dropped", name=dropped.name)
            return end_before(dropped.root_step, reason)
        moved = next((g for g in end.trace.generators if g.source is not None and not g.finished), None)
        if moved is not None:
            reason = Unsupported("outside-iterator", type="generator")
            return end_before(moved.root_step, reason)
        if delete_dropped(end.trace, root, alive):
            return skip_frame(Unsupported("generator-dropped", name="A generator"))
        return None

    def _observes_lifetimes(self) -> bool:
        """Return whether the program can observe when the frame drops an object: after a break, that is when the
        frame returns."""
        root = self.interpreter.root
        if self.failure is not None:
            unsupported = self.failure.unsupported
            makes_weak = unsupported.frame is not None and unsupported.frame.globals is vars(weakref)
            if makes_weak or unsupported.reason_id in ("weak-reference", "finalizer"):
                return True
        return watches_lifetimes(root.code, root.globals)

    def _graph(self, end: FrameEnd) -> GraphCall | None:
        """Return the finished graph, or None where it would do nothing."""
        output = end.output
        if not output.root.operations and not end.output_nodes:
            return None
        module = finish_graph(output, end.output_nodes)
        if not end.output_nodes and is_empty(module.graph):
            return None
        numbers = (self.observer or observers.Observer).graph_numbers
        return GraphCall(output, module, f"graph_{next(numbers)}")

    def _finished(self, end: FrameEnd, new: NewCode, graph: GraphCall | None) -> CompiledFrame:
        if graph is not None:
            if self.observer is not None:
                self.observer.on_graph(graph.module, graph.name)
            # Back ends specialize numbers, too, and rely on guards for these.
            graph.compile()
        report_notices(end.output)
        report_untagged_operators(end.output)
        resumes = [resume.code for resume in new.resumes]
        return CompiledFrame(new.code, self._guards(end), resumes, new.written)

    def _guards(self, end: FrameEnd) -> list[Guard]:
        guard_distinct(end.trace)
        for tracked in end.output.fakes.inputs.values():
            for guard in tracked.history_guards():
                end.output.guard(guard)
        found = list(end.output.guards.values())
        settings = [guard.installed_at(self.interpreter.start) for guard in self.settings]
        shapes = end.output.shapes.finish()
        read = end.trace.libraries.as_read()
        libraries = [make.libraries(read).installed_at(self.interpreter.start)] if read.labels else []
        if self.observer is not None:
            for guard in (*settings, *shapes, *libraries):
                self.observer.on_guard(guard)
        return [*settings, *found, *shapes, *libraries]
