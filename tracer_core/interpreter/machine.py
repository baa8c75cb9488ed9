"""`Interpreter`: executes frames symbolically, inlines calls, unwinds exceptions, and stops where the graph must
end."""

from __future__ import annotations

import contextlib
import weakref
from collections.abc import Sequence
from types import FunctionType
from typing import Any, NoReturn

from tracer_core import observer as observers
from tracer_core.bytecode import Instruction, decoded, first_line, iterable_label
from tracer_core.errors import Unsupported
from tracer_core.frame_input import FrameInput
from tracer_core.graph.output import OutputGraph
from tracer_core.graph.subgraph import Calls
from tracer_core.guards import Guard, make
from tracer_core.host.noticed_warnings import noticed, take
from tracer_core.interpreter.binding import bind
from tracer_core.interpreter.depth import MAX_DEPTH, levels_left
from tracer_core.interpreter.operations import Operations
from tracer_core.interpreter.ops.table import handlers_of
from tracer_core.names.code import argument_labels, code_name, passed_by
from tracer_core.names.owners import Owner, owner_of
from tracer_core.names.symbols import explained
from tracer_core.names.where import Where
from tracer_core.sources import CellSource, FrameLocalsSource, LocalSource, Source
from tracer_core.variables.builders.builder import VariableBuilder
from tracer_core.variables.builders.sourceless import SourcelessBuilder
from tracer_core.variables.core.base import NotConstant, VariableTracker
from tracer_core.variables.core.constant import ConstantVariable
from tracer_core.variables.core.trace_state import TraceState
from tracer_core.variables.core.tracing import ObservedException, Tracing
from tracer_core.variables.exceptions.exceptions import ExceptionVariable
from tracer_core.variables.functions.cells import CellVariable
from tracer_core.variables.functions.frames import Frame
from tracer_core.variables.functions.functions import BaseUserFunctionVariable, UserFunctionVariable
from tracer_core.variables.functions.methods import UserMethodVariable
from tracer_core.variables.iterators.generators import LocalGeneratorObjectVariable
from tracer_core.variables.library.weak_references import refuse_after_changes
from tracer_core.variables.operations.calling import call

CO_GENERATOR, CO_COROUTINE, CO_ASYNC_GENERATOR = 0x20, 0x80, 0x200


class GraphEnds(Exception):
    """The attempt has reached the instruction of the root frame at which an earlier one failed."""


class MustRestart(Exception):
    """The root instruction number `at` cannot be traced; trace again and end the graph before it.

    `position` is how far the attempt came in the root's code, and `compiling_check` the last of
    `tracer_core.compiling.CHECKS` that returned True; both are filled in when the attempt has ended.
    """

    position = -1
    compiling_check: str | None = None

    def __init__(self, at: int, unsupported: Unsupported) -> None:
        super().__init__(str(unsupported))
        self.at = at
        self.unsupported = unsupported


class Interpreter(Operations):
    """One attempt at one root frame.

    Args:
        input: the frame that starts.
        stop_at: the number of the root instruction (counted as they run, from 0) before which the graph ends; None
            to go to the end.
    """

    def __init__(self, input: FrameInput, stop_at: int | None = None) -> None:
        self.input = input
        self.stop_at = stop_at
        self.max_depth = min(levels_left(), input.config.options.get("inline_depth_limit", MAX_DEPTH))
        self.observer = observers.current()
        self.start = Where.of(0, [(input.code, first_line(input.code)), *input.callers])
        self.output = OutputGraph(input, self.observer, self.where, self._calls)
        self.trace = TraceState(self.output)
        self.build_value = VariableBuilder(self)
        self.constant_of = SourcelessBuilder(self)
        self.steps = 0
        self.root_steps = 0
        # The frame of the user's code that ended last, by a `return` or a `yield`.
        self.returned: Frame | None = None
        self.instruction: Instruction | None = None
        self.root = self.frame = self._root_frame()

    # --- what trackers call -----------------------------------------------------------------------------

    def guard(self, guard: Guard) -> None:
        self.output.guard(guard)

    def build(self, value: Any, source: Source) -> VariableTracker:
        return self.build_value(value, source)

    def lazy(self, value: Any, source: Source) -> VariableTracker:
        return self.build_value.lazy(value, source)

    def constant(self, value: Any) -> VariableTracker:
        return self.constant_of(value)

    def raise_(self, cls: type[BaseException], *args: Any) -> NoReturn:
        """Raise `cls(*args)` in the traced program; arguments may be trackers."""
        trackers = [arg if isinstance(arg, VariableTracker) else self.constant(arg) for arg in args]
        exception = ExceptionVariable(cls, trackers)
        if cls is NameError and isinstance(args[0], str):
            # Only the interpreter itself raises it in this way: the name is in quotes.
            exception.attributes["name"] = self.constant(args[0].split("'")[1])
        self.raise_tracker(exception)

    def raise_tracker(self, exception: ExceptionVariable) -> NoReturn:
        """Raise the exception in the traced program, in the context of the one being handled."""
        context = self.handled()
        if context is not None and context is not exception:
            exception.set_context(self, context)
        self.trace.journal.save(exception)
        exception.raised_alone = context is None
        raise ObservedException(exception)

    def call_python(self, function: Any, *args: VariableTracker, **kwargs: VariableTracker) -> VariableTracker:
        """Call a Python function of ours on trackers, by inlining its code."""
        return self.call(UserFunctionVariable(function, None), args, kwargs)

    def call(
        self,
        function: VariableTracker,
        args: Sequence[VariableTracker],
        kwargs: dict[str, VariableTracker] | None = None,
    ) -> VariableTracker:
        """Return `function(*args, **kwargs)`: inlined if it has Python code, else by protocol."""
        function = function.realize()
        args = list(args)
        while isinstance(function, UserMethodVariable):
            args.insert(0, function.self_)
            function = function.function.realize()
        if isinstance(function, BaseUserFunctionVariable):
            return self.inline(function, args, kwargs or {})
        return call(self, function, args, kwargs or {})

    def call_through(
        self,
        between: Sequence[tuple[FunctionType, int]],
        function: VariableTracker,
        args: list[VariableTracker],
        kwargs: dict[str, VariableTracker],
    ) -> VariableTracker:
        """Call `function` from the last of the functions `between`, each at the instruction that calls the next."""
        caller, caller_instruction = self.frame, self.instruction
        frames: list[Frame] = []
        try:
            for outer, position in between:
                self.frame = Frame(outer.__code__, outer.__globals__, {}, {}, self.frame)
                self.frame.pc = position + 1
                self.instruction = self.frame.decoded.instructions[position]
                frames.append(self.frame)
            return self.call(function, args, kwargs)
        except ObservedException as raised:
            for frame in reversed(frames):
                _note_passing(self, raised.tracker, frame, frame.decoded.instructions[frame.pc - 1])
            raise
        finally:
            self.frame, self.instruction = caller, caller_instruction

    # --- frames -----------------------------------------------------------------------------------------

    @property
    def root_step(self) -> int:
        """Return the number of the root frame's instruction that is being traced."""
        return self.root_steps - 1

    @property
    def line(self) -> int | None:
        """Return the line of the instruction that is being traced."""
        span = None if self.instruction is None else self.instruction.span
        return None if span is None else span.line

    def inline(
        self, function: BaseUserFunctionVariable, args: list[VariableTracker], kwargs: dict[str, VariableTracker]
    ) -> VariableTracker:
        """Trace the function's code in a frame of its own; a generator's frame is suspended at its start."""
        target = function.target(self)
        if self.frame.depth >= self.max_depth:
            raise Unsupported("too-deep", depth=self.max_depth, name=target.name)
        if target.code.co_flags & (CO_COROUTINE | CO_ASYNC_GENERATOR):
            raise Unsupported("coroutine", name=target.name)
        if target.globals is vars(weakref) and self.frame.globals is not target.globals:
            refuse_after_changes(self)
        locals = bind(self, target, args, kwargs)
        cells = dict(zip(target.code.co_freevars, target.closure, strict=True))
        frame = Frame(target.code, target.globals, locals, cells, self.frame)
        if target.code.co_flags & CO_GENERATOR:
            of_manager = self.frame.globals is vars(contextlib)
            created_at = self.root_steps - 1 if of_manager else -1
            return LocalGeneratorObjectVariable(frame, target.name, created_at, function.names(self))
        return self.run_frame(frame)

    def run_frame(self, frame: Frame) -> VariableTracker:
        """Run `frame` until it returns (or, a generator's, yields), then return to the present one."""
        caller = self.frame
        caller_instruction = self.instruction
        self.frame = frame
        observer = self.observer
        if observer is not None:
            observer.on_frame_enter(frame)
        result: VariableTracker | None = None
        try:
            result = self.run(frame)
            if not frame.is_ours and owner_of(frame.code.co_filename) is Owner.USER:
                self.returned = frame
            return result
        finally:
            if observer is not None:
                observer.on_frame_exit(frame, result)
            self.frame = caller
            self.instruction = caller_instruction

    def run(self, frame: Frame) -> VariableTracker:
        """Execute instructions of `frame` until one ends it."""
        instructions, handlers = frame.decoded.instructions, handlers_of(frame.decoded)
        observer = self.observer
        is_root = frame.parent is None
        while True:
            position = frame.pc
            instruction = instructions[position]
            if is_root:
                if self.root_steps == self.stop_at:
                    raise GraphEnds
                self.root_steps += 1
            frame.pc = position + 1
            self.instruction = instruction
            self.steps += 1
            try:
                if observer is None:
                    result = handlers[position](self, frame, instruction)
                else:
                    observer.on_step_start(frame, instruction)
                    result = handlers[position](self, frame, instruction)
                    self.instruction = instruction
                    observer.on_step_end(frame, instruction)
            except ObservedException as raised:
                self.unwind(frame, instruction, raised)
                continue
            except (Unsupported, NotConstant, RecursionError) as error:
                self._give_up(frame, instruction, error)
            if noticed:
                self._give_up(frame, instruction, _gives_warning())
            if result is not None:
                return result

    def _give_up(self, frame: Frame, instruction: Instruction, error: Exception) -> None:
        """Turn an `Unsupported` into a restart at the root instruction, remembering the innermost place."""
        if noticed:
            error = _gives_warning()
        unsupported = error if isinstance(error, Unsupported) else _as_unsupported(error, frame)
        if unsupported.frame is None:
            self.breaks(unsupported, frame, frame.decoded.index[instruction])
        if frame.parent is None or frame is self.root:
            raise MustRestart(self.root_steps - 1, unsupported)
        raise unsupported

    def breaks(self, unsupported: Unsupported, frame: Frame, position: int) -> None:
        """Note that this instruction of the running frame breaks the graph, if that is new, and report it to the
        observer."""
        self.instruction = instruction = frame.decoded.instructions[position]
        if unsupported.frame is None:
            unsupported.frame, unsupported.where = frame, unsupported.where or self.where()
            unsupported.say(explained(unsupported.message, self.output.symbol_meanings()))
        if self.observer is not None:
            self.observer.on_break(unsupported, frame, instruction)

    def unwind(self, frame: Frame, instruction: Instruction, raised: ObservedException) -> None:
        """Jump to the handler of a raised exception in this frame, or leave the frame."""
        if noticed:
            self._give_up(frame, instruction, raised)
        if self.observer is not None:
            self.observer.on_raise(frame, instruction, raised.tracker)
        _note_passing(self, raised.tracker, frame, instruction)
        handler = instruction.handler
        if handler is None:
            if frame.parent is None:
                self._give_up(frame, instruction, Unsupported("exception-leaves", what=raised.tracker.describe()))
            raise raised
        del frame.stack[handler.depth :]
        if handler.push_lasti:
            assert instruction.origin is not None
            frame.stack.append(ConstantVariable(instruction.origin.offset))
        frame.stack.append(raised.tracker)
        frame.pc = frame.decoded.index[handler.target]

    def handled(self) -> ExceptionVariable | None:
        """Return the exception being handled, here or in a caller."""
        frame: Frame | None = self.frame
        while frame is not None:
            if frame.caught:
                return frame.caught[-1]
            frame = frame.parent
        return None

    def _root_frame(self) -> Frame:
        code, values = self.input.code, self.input.locals
        labels = argument_labels(code)
        if ".0" in code.co_varnames:
            labels = {**labels, ".0": iterable_label(decoded(code).program, code.co_filename)}
        closure = dict(zip(code.co_freevars, self.input.closure, strict=True))
        cells = {
            name: CellVariable(
                self.lazy(values[name], LocalSource(name, free=True)) if name in values else None,
                CellSource(name),
                cell,
            )
            for name, cell in closure.items()
        }
        for name, cell in closure.items():
            if name not in values:
                self.guard(make.lacks(FrameLocalsSource(), name))
            self.trace.trackers_by_object[id(cell)] = cells[name]
            self.trace.kept_alive.append(cell)

        def local(name: str) -> LocalSource:
            return LocalSource(name, name in code.co_cellvars, labels.get(name), passed_by(code, name))

        locals = {
            name: self.lazy(values[name], local(name))
            for name in code.co_varnames
            if name in values and name not in closure
        }
        return Frame(code, self.input.globals, locals, cells, None)

    def _calls(self) -> Calls:
        """Return the program's calls that are running."""
        frame = self.frame
        at = None if self.instruction is None else frame.decoded.index.get(self.instruction)
        return frame.running(frame.pc - 1 if at is None else at)

    def where(self) -> Where:
        """Return a description of the code that is running now."""
        if self.steps == 0:
            return self.start
        return self._at(self._calls())

    def where_returned(self) -> Where:
        """Return the line of the last `return`, if the user's code has returned since `returned` was set to None."""
        frame = self.returned
        return self.where() if frame is None else self._at(frame.running(frame.pc - 1))

    def where_raised(self, exception: ExceptionVariable) -> Where:
        """Return the line at which the program raised an exception."""
        passed = [(code, line) for code, line in exception.trace if line is not None]
        return self._at((*passed, *self._calls()))

    def _at(self, calls: Calls) -> Where:
        return Where.of(self.steps - 1, (*calls, *self.input.callers))


def _note_passing(tx: Tracing, exception: ExceptionVariable, frame: Frame, instruction: Instruction) -> None:
    """Add the frame to the exception's traceback, where Python does."""
    again = instruction.op == "RERAISE" or (instruction.op == "RAISE_VARARGS" and instruction.arg == 0)
    if not again and not frame.is_ours:
        exception.passes(tx, frame.code, None if instruction.span is None else instruction.span.line)


def _gives_warning() -> Unsupported:
    """Return the break for the warning just noticed."""
    return Unsupported("gives-warning", warning=take())


def _as_unsupported(error: Exception, frame: Frame) -> Unsupported:
    if isinstance(error, RecursionError):
        return Unsupported("recursion-limit", function=code_name(frame.code))
    return Unsupported("needs-constant", what=str(error))
