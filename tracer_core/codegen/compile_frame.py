"""`trace_frame`: from a frame that starts to the code that replaces it, in as many attempts as it takes."""

from __future__ import annotations

import contextlib
import itertools
import weakref
from types import CodeType

from tracer_core import observer as observers
from tracer_core.code_names import code_name
from tracer_core.codegen.alive import alive_at, changed_locals, looks_at_stack, stack_for_break, watches_lifetimes
from tracer_core.codegen.boxes import boxed_locals, boxes_of, leave_boxes, let_go
from tracer_core.codegen.distinct import guard_distinct, history_that_spreads
from tracer_core.codegen.emitter import CannotRebuild, ClassLeaves
from tracer_core.codegen.finish import NewCode, breaking, returning
from tracer_core.codegen.frame_end import FrameEnd, own_new_cells
from tracer_core.codegen.graph_call import GraphCall, finish_graph
from tracer_core.codegen.listing import python_listing
from tracer_core.codegen.marks import tell_fixed
from tracer_core.codegen.rebuild_keys import MustAskAgain
from tracer_core.codegen.recovery import undo_of
from tracer_core.codegen.resume import resume_of, starts_at
from tracer_core.codegen.surroundings import collected, collector_paused, turn_torchs_logs_off, without_traces
from tracer_core.codegen.unseen import hide_fakes
from tracer_core.errors import TraceAgain, Unsupported
from tracer_core.frame_input import CompiledFrame, FrameInput, SkippedFrame
from tracer_core.global_state import ALWAYS
from tracer_core.graph.cleanup import is_empty
from tracer_core.guards import Guard, make
from tracer_core.in_sight import holds_tensors, tensors_in_sight
from tracer_core.interpreter.depth import make_room_to_recurse
from tracer_core.interpreter.load import load_handlers
from tracer_core.interpreter.machine import GraphEnds, Interpreter, MustRestart
from tracer_core.interpreter.with_blocks import leave_blocks
from tracer_core.symbol_names import explained
from tracer_core.variables import overlay
from tracer_core.variables.base import VariableTracker
from tracer_core.variables.generators import GeneratorVariable
from tracer_core.warned import Noticing

load_handlers()

_graph_names = itertools.count()
MAX_ATTEMPTS = 64
LEAVES = "exception-leaves"


def trace_frame(input: FrameInput) -> CompiledFrame | SkippedFrame:
    """Trace the frame and make its new code.

    Raises:
        Unsupported: the graph would end and the config asks for a full graph.
        BackendError: the back end failed.
    """
    # Attempts look at what is in boxes: they must let go of that before the program does.
    let_go = collected() if boxes_of(input.code) else contextlib.nullcontext()
    make_room_to_recurse()
    turn_torchs_logs_off()
    hide_fakes()
    with let_go:
        outcome = _in_attempts(input)
    overlay.collect()
    return outcome


def _in_attempts(input: FrameInput) -> CompiledFrame | SkippedFrame:
    failure: MustRestart | None = None
    # How the walk ended that was told that it is being compiled, once others are told what plain Python is told.
    as_compiled: MustRestart | None = None
    plainly = _was_told_plainly(input.code)
    for number in range(1, MAX_ATTEMPTS + 1):
        attempt = _Attempt(input, number, failure, plainly)
        try:
            outcome = attempt.run()
        except TraceAgain:
            attempt.let_go()
            continue
        attempt.let_go()
        if not isinstance(outcome, MustRestart):
            return outcome
        if as_compiled is None and outcome.told is not None:
            as_compiled, failure, plainly = outcome, None, True
            continue
        failure = outcome
        if as_compiled is not None and plainly and not _comes_as_far(outcome, as_compiled):
            failure, plainly = as_compiled, False
        # (A failure found at the end has its place once a walk has stopped there.)
        if input.config.fullgraph and failure.unsupported.where is not None:
            raise failure.unsupported.placed()
    raise RuntimeError(f"{input.name} was walked {MAX_ATTEMPTS} times and failed at a new place each time")


def _was_told_plainly(code: CodeType) -> bool:
    """Whether `code` goes on with a function that was told, before a break, that it is not being compiled."""
    resume = resume_of(code)
    return resume is not None and resume.point.told_plainly


def _comes_as_far(plain: MustRestart, as_compiled: MustRestart) -> bool:
    """Whether a walk with plain Python's answers is to be preferred to the one that was told that it is compiled.

    It is where it loses nothing, as plain Python and code that goes on after a break give the same answers then, and
    where one of them ends in an exception of the program, as what plain Python raises is what counts.
    """
    ends = (plain.unsupported.reason_id, as_compiled.unsupported.reason_id)
    return plain.position == as_compiled.position or LEAVES in ends


def _left(unsupported: Unsupported) -> SkippedFrame:
    """The whole frame is left to Python, for this reason."""
    return SkippedFrame(unsupported.reason_id, unsupported.message)


def _listing(code: CodeType, replaced: CodeType) -> str:
    """The code as text. It is for an observer alone, so no fault in writing it stops the compilation."""
    try:
        return python_listing(code, replaced)
    except Exception as error:  # noqa: BLE001
        return f"# This code cannot be listed: {observers.said(error)}\n"


class _Attempt:
    """One walk through the frame. `failure` is why the last one stopped, if there was one; `told_plainly` says that
    the program is told, where it asks, that it is not being compiled."""

    def __init__(self, input: FrameInput, number: int, failure: MustRestart | None, told_plainly: bool) -> None:
        self.input = input
        self.number = number
        self.failure = failure
        self.told_plainly = told_plainly
        self.observer = observers.current()
        self.settings = [make.global_state(setting) for setting in ALWAYS]

    def let_go(self) -> None:
        """Drop what the walk has seen. Its trackers and frames know each other in circles, and would hold the
        program's objects until Python's collector comes by: longer than the program does."""
        interpreter = self.interpreter
        interpreter.output.shapes.close()
        for each in (interpreter.output, interpreter.build_value, interpreter):
            vars(each).clear()
        if self.failure is not None:
            without_traces(self.failure, self.failure.unsupported)

    def run(self) -> CompiledFrame | SkippedFrame | MustRestart:
        outcome, message = "fault", "our own code failed"
        self.interpreter = Interpreter(self.input, None if self.failure is None else self.failure.at)
        self.interpreter.output.told_plainly = self.told_plainly
        try:
            if self.observer is not None:
                self.observer.on_attempt_start(self.interpreter.root, self.number)
            output = self.interpreter.output
            with output.libraries.noting(), overlay.active(output.overlay, output.placeholders):
                result = self._walk()
            if isinstance(result, MustRestart):
                outcome, message = "restarted", self._why_restarted(result, output.told)
            elif isinstance(result, SkippedFrame):
                outcome, message = "skipped", result.message
            else:
                outcome, message = "compiled", ""
            return result
        except Unsupported as error:
            outcome, message = "skipped", error.message
            raise
        except BaseException as error:
            if isinstance(error, TraceAgain):
                outcome = "restarted"
            message = observers.said(error)
            raise
        finally:
            try:
                self.interpreter.output.state.restore()
            finally:
                self.interpreter.output.state.restore()  # Ctrl-C may have come in the midst of that.
                if self.observer is not None:
                    self.observer.on_attempt_end(outcome, message)

    def _why_restarted(self, failure: MustRestart, told: str | None) -> str:
        """Why the walk that ended with `failure` is not the last one, which it is told along with it."""
        failure.position, failure.told = self.interpreter.root.pc, told
        message = failure.unsupported.message
        if told is None or self.failure is not None:
            return message
        return Unsupported("told-otherwise", question=told, failure=message).message

    def _end_before(self, step: int, reason: Unsupported) -> MustRestart:
        """Walk once more, with the end of the graph before the root frame's instruction number `step`."""
        return MustRestart(step, reason)

    def _left_to_python(self, unsupported: Unsupported) -> SkippedFrame | None:
        """The whole frame, where it has `except*` of its own: CPython matches groups by the traceback, which holds
        only in the function as it is."""
        instructions = self.interpreter.root.decoded.instructions
        if unsupported.reason_id != "except-star" or self.input.config.fullgraph:
            return None
        if not any(instruction.op == "CHECK_EG_MATCH" for instruction in instructions):
            return None
        return _left(unsupported)

    def _walk(self) -> CompiledFrame | SkippedFrame | MustRestart:
        interpreter = self.interpreter
        root = interpreter.root
        if self.observer is not None:
            self.observer.on_frame_enter(root)
        value: VariableTracker | None = None
        try:
            with collector_paused(), Noticing(str(self.input.globals.get("__name__", ""))):
                value = interpreter.run(root)
        except MustRestart as failure:
            return self._left_to_python(failure.unsupported) or failure
        except GraphEnds:
            self._stopped()
            leave_blocks(interpreter, root, root.pc)
        finally:
            if self.observer is not None:
                self.observer.on_frame_exit(root, value)
        output = interpreter.output
        stale = next((call for call in output.side_effects.calls if output.shows_other_data(call)), None)
        if stale is not None:
            # What it would show later is not what it shows now: end the graph there after all.
            return self._end_before(stale.root_step, Unsupported("print"))
        shared = history_that_spreads(output)
        if shared is not None:
            return _left(shared)
        state = interpreter.output.state
        left_open = next((entered for entered in state.entered if not entered.may_stay), None)
        if left_open is not None:
            reason = Unsupported("left-open", type=left_open.manager.python_type_name())
            return self._end_before(left_open.root_step, reason)
        state.finish()
        unchecked = self._cannot_check()
        if unchecked is not None:
            return unchecked
        try:
            return self._at_break() if value is None else self._at_return(value)
        except ClassLeaves as leaves:
            what = f"{leaves.made.cls.__qualname__}, which is used after the graph"
            reason = Unsupported("class-created", what=what)
            return self._end_before(leaves.made.root_step, reason)
        except MustAskAgain as again:
            return self._end_before(again.root_step, again.unsupported)
        except CannotRebuild as error:
            unsupported = Unsupported("cannot-rebuild", what=str(error))
            if isinstance(error.tracker, GeneratorVariable) and error.tracker.made_at >= starts_at(root.code):
                # Python can make it: end the graph before that. (A context manager's lives as long as its block;
                # others are dropped once nobody holds them any more, and codes that hand them on hold them longer.)
                return self._end_before(error.tracker.made_at, unsupported)
            interpreter.breaks(unsupported, root, root.pc if value is None else root.pc - 1)
            return _left(unsupported)

    def _stopped(self) -> None:
        """Tell the observer, while the root frame is there, that this walk ends for what an earlier one found."""
        assert self.failure is not None
        root = self.interpreter.root
        if self.observer is not None:
            self.observer.on_step_start(root, root.decoded.instructions[root.pc])
        self.interpreter.breaks(self.failure.unsupported, root, root.pc)
        if self.input.config.fullgraph:
            raise self.failure.unsupported.placed()

    def _cannot_check(self) -> MustRestart | None:
        """What to do where a check on data could not be undone should it fail: end the graph before it."""
        output = self.interpreter.output
        if not output.check_steps or undo_of(output) is not None:
            return None
        return self._end_before(output.check_steps[0], Unsupported("tensor-branch", what="bool[]"))

    def _at_return(self, value: VariableTracker) -> CompiledFrame | SkippedFrame | MustRestart:
        output, root = self.interpreter.output, self.interpreter.root
        if not output.side_effects.calls and (not output.operations or self._is_idle()):
            return self._without_tensors()
        leave_boxes(output)
        end = FrameEnd(output, root, [value], {}, {})
        refused = self._dropped_unseen(end)
        if refused is not None:
            return refused
        graph = self._graph(end)
        return self._finished(end, returning(end, graph), graph)

    def _without_tensors(self) -> SkippedFrame:
        """For ever only where what might have changed it, a tensor among its values, is there already."""
        given = self.input
        forever = not self._leaves_by_exception() and holds_tensors(given.code, given.locals, given.globals)
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
        return Unsupported("no-tensor-work-in-rest", function=code_name(resumed.original), line=resumed.line)

    def _leaves_by_exception(self) -> bool:
        """Whether nothing comes after the break."""
        return self.failure is not None and self.failure.unsupported.reason_id == LEAVES

    def _is_idle(self) -> bool:
        """Whether there is nothing, or arithmetic on numbers alone, and no tensor about."""
        return not self.interpreter.output.works_on_tensors and not self._in_sight()

    def _in_sight(self) -> bool:
        return tensors_in_sight(self.input.code, self.input.locals, self.input.globals)

    def _at_break(self) -> CompiledFrame | SkippedFrame | MustRestart:
        output, root = self.interpreter.output, self.interpreter.root
        position = root.pc
        if starts_at(root.code) > position:
            # A resume function that cannot put back the state it was given, in traced form: only Python can.
            assert self.failure is not None
            return _left(self.failure.unsupported)
        if self._is_idle() or (self._leaves_by_exception() and not output.works_on_tensors):
            return self._without_tensors()
        if looks_at_stack(root.code):
            return _left(Unsupported("frame-looks-at-stack", function=self.input.name))
        if starts_at(root.code) == 0 and self._sees_what_goes():
            return _left(Unsupported("frame-watches-lifetimes", function=self.input.name))
        alive = alive_at(root, position) | boxed_locals(root)
        locals = changed_locals(root, alive)
        end = FrameEnd(output, root, stack_for_break(root, position), locals, own_new_cells(root))
        refused = self._dropped_unseen(end)
        if refused is not None:
            return refused
        graph = self._graph(end)
        return self._finished(end, breaking(end, graph, position), graph)

    def _dropped_unseen(self, end: FrameEnd) -> SkippedFrame | MustRestart | None:
        """What to do where the program let go of a generator in a block while it was traced: nobody ran the block."""
        root, alive = self.interpreter.root, set(end.alive)
        dropped = next((g for g in end.output.generators if g.waits_in_a_block and g not in alive), None)
        if dropped is not None:
            reason = Unsupported("generator-dropped", name=dropped.name)
            return self._end_before(dropped.root_step, reason)
        moved = next((g for g in end.output.generators if g.source is not None and not g.finished), None)
        if moved is not None:
            reason = Unsupported("outside-iterator", type="generator")
            return self._end_before(moved.root_step, reason)
        if let_go(end.output, root, alive):
            return _left(Unsupported("generator-dropped", name="A generator"))
        return None

    def _sees_what_goes(self) -> bool:
        """Whether the program sees when the frame drops an object: after a break, that is when the frame returns."""
        root = self.interpreter.root
        if self.failure is not None:
            unsupported = self.failure.unsupported
            makes_weak = unsupported.frame is not None and unsupported.frame.globals is vars(weakref)
            if makes_weak or unsupported.reason_id in ("weak-reference", "finalizer"):
                return True
        return watches_lifetimes(root.code, root.globals)

    def _graph(self, end: FrameEnd) -> GraphCall | None:
        """The finished graph, or None where it would do nothing."""
        output = end.output
        if not output.operations and not end.output_nodes:
            return None
        module = finish_graph(output, end.output_nodes)
        if not end.output_nodes and is_empty(module.graph):
            return None
        return GraphCall(output, module, f"graph_{next(_graph_names)}")

    def _finished(self, end: FrameEnd, new: NewCode, graph: GraphCall | None) -> CompiledFrame:
        if graph is not None:
            if self.observer is not None:
                self.observer.on_graph(graph.module, graph.name)
            # Back ends fix numbers, too, and count on it that these are guarded.
            graph.compile()
        tell_fixed(end.output)
        if self.observer is not None:
            resumes = [resume.code for resume in new.resumes]
            self.observer.on_generated(self.input.code, new.code, _listing(new.code, self.input.code), resumes)
        return CompiledFrame(new.code, self._guards(end))

    def _guards(self, end: FrameEnd) -> list[Guard]:
        guard_distinct(end.output)
        for tracked in end.output.fakes.inputs.values():
            for guard in tracked.history_guards():
                end.output.guard(guard)
        found = list(end.output.guards.values())
        settings = [guard.asked_at(self.interpreter.start) for guard in self.settings]
        shapes = end.output.shapes.finish()
        libraries = [make.libraries(end.output.libraries.as_read()).asked_at(self.interpreter.start)]
        if self.observer is not None:
            for guard in (*settings, *shapes, *libraries):
                self.observer.on_guard(guard)
        return [*settings, *found, *shapes, *libraries]
