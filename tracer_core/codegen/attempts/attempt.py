"""`Attempt`: trace a frame once, and act on the outcome."""

from __future__ import annotations

from tracer_core import observer as observers
from tracer_core.codegen.attempts.distinct import history_that_spreads
from tracer_core.codegen.attempts.ending import Ending, end_before, skip_frame
from tracer_core.codegen.attempts.surroundings import collector_paused, without_traces
from tracer_core.codegen.emit.emitter import CannotRebuild, ClassLeaves
from tracer_core.codegen.graph_call.recovery import undo_of
from tracer_core.codegen.rebuild.keys import KeysRunCode
from tracer_core.codegen.resume.functions import starts_at
from tracer_core.errors import TraceAgain, Unsupported
from tracer_core.frame_input import CompiledFrame, FrameInput, SkippedFrame
from tracer_core.guards import make
from tracer_core.host.global_state import ALWAYS
from tracer_core.host.noticed_warnings import Noticing
from tracer_core.interpreter.machine import GraphEnds, Interpreter, MustRestart
from tracer_core.interpreter.ops.with_blocks import leave_blocks
from tracer_core.variables.core.base import VariableTracker
from tracer_core.variables.iterators.generators import LocalGeneratorObjectVariable
from tracer_core.variables.objects import overlay
from tracer_core.variables.torch.hook_handles import HookHandleVariable

# What no code can rebuild, but Python can create: the graph ends before that. (A context manager's generator lives as
# long as its block; others are freed once they are unreachable, and resume functions that pass them on keep them
# alive longer.)
_CREATED_BY_PYTHON = (LocalGeneratorObjectVariable, HookHandleVariable)


class Attempt:
    """One attempt to trace the frame. `failure` is why the last one stopped, if there was one; with `reports_eager`,
    checks such as `is_compiling()` return False."""

    def __init__(self, input: FrameInput, number: int, failure: MustRestart | None, reports_eager: bool) -> None:
        self.input = input
        self.number = number
        self.failure = failure
        self.reports_eager = reports_eager
        self.observer = observers.current()
        self.settings = [make.global_state(setting) for setting in ALWAYS]

    def release(self) -> None:
        """Drop the state of the attempt. Its trackers and frames form reference cycles, and would keep the program's
        objects alive until Python's collector runs: longer than the program does."""
        interpreter = self.interpreter
        interpreter.output.shapes.close()
        for each in (interpreter.trace, interpreter.output, interpreter.build_value, interpreter):
            vars(each).clear()
        if self.failure is not None:
            without_traces(self.failure, self.failure.unsupported)

    def run(self) -> CompiledFrame | SkippedFrame | MustRestart:
        outcome, message = "fault", "our own code failed"
        self.interpreter = Interpreter(self.input, None if self.failure is None else self.failure.at)
        self.interpreter.trace.reports_eager = self.reports_eager
        try:
            if self.observer is not None:
                self.observer.on_attempt_start(self.interpreter.root, self.number)
            trace = self.interpreter.trace
            with trace.libraries.noting(), overlay.active(trace.overlay, trace.placeholders):
                result = self._trace()
            if isinstance(result, MustRestart):
                outcome, message = "restarted", self._why_restarted(result, trace.compiling_check)
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
                self.interpreter.output.settings.restore()
            finally:
                self.interpreter.output.settings.restore()  # Ctrl-C may have come in the midst of that.
                if self.observer is not None:
                    self.observer.on_attempt_end(outcome, message)

    def _why_restarted(self, failure: MustRestart, compiling_check: str | None) -> str:
        """Return why the attempt that ended with `failure` is not the last one; the next attempt is given both."""
        failure.position, failure.compiling_check = self.interpreter.root.pc, compiling_check
        message = failure.unsupported.message
        if compiling_check is None or self.failure is not None:
            return message
        return Unsupported("told-otherwise", question=compiling_check, failure=message).message

    def _skip_except_star(self, unsupported: Unsupported) -> SkippedFrame | None:
        """Skip the whole frame if it has an `except*` of its own: CPython splits exception groups by the traceback,
        which is right only in the original function."""
        instructions = self.interpreter.root.decoded.instructions
        if unsupported.reason_id != "except-star" or self.input.config.fullgraph:
            return None
        if not any(instruction.op == "CHECK_EG_MATCH" for instruction in instructions):
            return None
        return skip_frame(unsupported)

    def _trace(self) -> CompiledFrame | SkippedFrame | MustRestart:
        interpreter = self.interpreter
        root = interpreter.root
        if self.observer is not None:
            self.observer.on_frame_enter(root)
        value: VariableTracker | None = None
        try:
            with collector_paused(), Noticing(str(self.input.globals.get("__name__", ""))):
                value = interpreter.run(root)
        except MustRestart as failure:
            return self._skip_except_star(failure.unsupported) or failure
        except GraphEnds:
            self._stopped()
            leave_blocks(interpreter, root, root.pc)
        finally:
            if self.observer is not None:
                self.observer.on_frame_exit(root, value)
        output, trace = interpreter.output, interpreter.trace
        stale = next((call for call in trace.side_effects.calls if trace.shows_other_data(call)), None)
        if stale is not None:
            # It would not do then what it does now (print other values): end the graph there after all.
            return end_before(stale.root_step, stale.reason)
        shared = history_that_spreads(output)
        if shared is not None:
            return skip_frame(shared)
        settings = output.settings
        left_open = next((entered for entered in settings.entered if not entered.may_stay), None)
        if left_open is not None:
            reason = Unsupported("left-open", type=left_open.name or left_open.manager.python_type_name())
            return end_before(left_open.root_step, reason)
        settings.finish()
        unchecked = self._cannot_check()
        if unchecked is not None:
            return unchecked
        try:
            ending = Ending(interpreter, self.input, self.failure, self.settings)
            return ending.at_break() if value is None else ending.at_return(value)
        except ClassLeaves as leaves:
            what = f"{leaves.made.cls.__qualname__}, which is used after the graph"
            reason = Unsupported("class-created", what=what)
            return end_before(leaves.made.root_step, reason)
        except KeysRunCode as again:
            return end_before(again.root_step, again.unsupported)
        except CannotRebuild as error:
            held = error.tracker
            unsupported = Unsupported("cannot-rebuild", what=str(error))
            if isinstance(held, HookHandleVariable):
                unsupported = Unsupported("hook-handle")
            if isinstance(held, _CREATED_BY_PYTHON) and held.created_at >= starts_at(root.code):
                return end_before(held.created_at, unsupported)
            interpreter.breaks(unsupported, root, root.pc if value is None else root.pc - 1)
            return skip_frame(unsupported)

    def _stopped(self) -> None:
        """Report to the observer, while the root frame exists, that this attempt ends for a reason that an earlier
        one found."""
        assert self.failure is not None
        root = self.interpreter.root
        if self.observer is not None:
            self.observer.on_step_start(root, root.decoded.instructions[root.pc])
        self.interpreter.breaks(self.failure.unsupported, root, root.pc)
        if self.input.config.fullgraph:
            raise self.failure.unsupported.placed()

    def _cannot_check(self) -> MustRestart | None:
        """Handle a check on data whose failure could not be undone: end the graph before it."""
        steps = self.interpreter.trace.check_steps
        if not steps or undo_of(self.interpreter.output) is not None:
            return None
        return end_before(steps[0], Unsupported("tensor-branch", what="bool[]"))
