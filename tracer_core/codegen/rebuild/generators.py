"""Rebuild a generator that the trace started: a real one, suspended where the trace left it."""

from __future__ import annotations

import weakref
from types import CodeType
from typing import Any

from tracer_core.bytecode import CodeBuilder, Decoded, Instruction, Program, assemble, body_of, decode, make, prologue
from tracer_core.codegen.emit.emitter import CannotRebuild, Emitter
from tracer_core.codegen.emit.names import stack_parameter
from tracer_core.codegen.rebuild.registry import rebuilds
from tracer_core.interpreter.ops.exceptions import HandledMark
from tracer_core.runtime.generators import END, create_generator, exhausted_generator, start_generator
from tracer_core.variables.core.base import VariableTracker
from tracer_core.variables.core.constant import NONE, NULL
from tracer_core.variables.functions.frames import Frame
from tracer_core.variables.iterators.generators import LocalGeneratorObjectVariable
from tracer_core.variables.iterators.suspended_generators import CELLS, Waits, remember

_CO_VARARGS_OR_KEYWORDS = 0x0C


@rebuilds(LocalGeneratorObjectVariable)
def _generator(emitter: Emitter, tracker: LocalGeneratorObjectVariable) -> None:
    frame: Frame = tracker.frame
    if tracker.finished:
        emitter.call_const(
            exhausted_generator, lambda: emitter.const(frame.code), lambda: _load_names(emitter, tracker)
        )
        emitter.keep(tracker)
        return
    if tracker.running or any(isinstance(item, HandledMark) for item in frame.stack):
        raise CannotRebuild(tracker)
    if tracker.started:
        _suspended(emitter, tracker)
    else:
        _unstarted(emitter, tracker)
    emitter.keep(tracker)


def _unstarted(emitter: Emitter, tracker: LocalGeneratorObjectVariable) -> None:
    """Call the generator's code with all arguments by position."""
    frame: Frame = tracker.frame
    code = frame.code
    count = code.co_argcount + code.co_kwonlyargcount + (code.co_flags & _CO_VARARGS_OR_KEYWORDS).bit_count()
    called = code.replace(
        co_argcount=count,
        co_posonlyargcount=0,
        co_kwonlyargcount=0,
        co_flags=code.co_flags & ~_CO_VARARGS_OR_KEYWORDS,
    )
    arguments = [frame.locals[name] for name in code.co_varnames[:count]]
    _call(emitter, tracker, called, code.co_freevars, arguments, create_generator)


def _suspended(emitter: Emitter, tracker: LocalGeneratorObjectVariable) -> None:
    """Start a generator that runs straight to a `yield` with the same stack, variables and cells."""
    frame: Frame = tracker.frame
    cells = (*frame.program.freevars, *frame.program.cellvars)
    bound = tuple(name for name in frame.program.varnames if name in frame.locals and name not in cells)
    passed = [(stack_parameter(d), item) for d, item in enumerate(frame.stack) if item is not NULL]
    code = _cached_resuming_code(frame, tuple(name for name, _ in passed), bound, cells)
    arguments = [*(item for _, item in passed), *(frame.locals[name] for name in bound)]
    _call(emitter, tracker, code, cells, arguments, start_generator)


def _call(
    emitter: Emitter,
    tracker: LocalGeneratorObjectVariable,
    code: CodeType,
    cells: tuple[str, ...],
    arguments: list[VariableTracker],
    create: Any,
) -> None:
    frame: Frame = tracker.frame
    emitter.call_const(
        create,
        lambda: emitter.const(code),
        lambda: emitter.globals_of(frame.globals),
        lambda: emitter.tuple_of(emitter.loading(frame.cells[name] for name in cells)),
        lambda: emitter.tuple_of(emitter.loading(arguments)),
        lambda: _load_names(emitter, tracker),
    )


def _load_names(emitter: Emitter, tracker: LocalGeneratorObjectVariable) -> None:
    emitter.tuple_of(emitter.loading(name or NONE for name in tracker.names))


# Generated code by decoded code, so that codes that resume the same way are one object.
_resuming_codes: weakref.WeakKeyDictionary[Decoded, dict[Any, CodeType]] = weakref.WeakKeyDictionary()


def _cached_resuming_code(
    frame: Frame, stack: tuple[str, ...], bound: tuple[str, ...], cells: tuple[str, ...]
) -> CodeType:
    known = _resuming_codes.setdefault(frame.decoded, {})
    key = (frame.pc, len(frame.stack), stack, bound)
    if key not in known:
        known[key] = _resuming_code(frame, stack, bound, cells)
    return known[key]


def _resuming_code(frame: Frame, stack: tuple[str, ...], bound: tuple[str, ...], cells: tuple[str, ...]) -> CodeType:
    """Return the generator's code with another beginning: it restores the stack, yields inside the same blocks as the
    `yield` that it waits at, and continues after that one."""
    original, program = frame.code, frame.program
    body, moved = body_of(program)
    position = frame.pc - 1
    parameters = [*stack, *bound, CELLS]
    template = original.replace(
        co_argcount=len(parameters),
        co_posonlyargcount=0,
        co_kwonlyargcount=0,
        co_flags=original.co_flags & ~_CO_VARARGS_OR_KEYWORDS,
        co_varnames=tuple(parameters),
        co_nlocals=len(parameters),
        co_cellvars=(),
        co_freevars=cells,
    )
    others = [name for name in program.varnames if name not in parameters and name not in cells]
    waits, resumed = (moved[i] for i in frame.decoded.instructions[position : position + 2])
    after = moved[frame.decoded.instructions[position + 2]]
    ending = [*(make("POP_TOP") for _ in range(len(frame.stack) + 1)), make("LOAD_CONST", None), make("RETURN_VALUE")]
    beginning = _beginning(frame, waits, resumed, cells)
    choice = [make("POP_JUMP_IF_TRUE", target=ending[0]), make("JUMP", target=after)]
    for instruction in choice:
        instruction.span = waits.span
    instructions = [*beginning, *choice, *body.instructions, *ending]
    code = assemble(Program(template, instructions, [*parameters, *others], [], list(cells)))
    places = tuple(None if item is NULL else stack_parameter(d) for d, item in enumerate(frame.stack))
    remember(code, Waits(weakref.ref(original), position, places, bound, cells, _first_yield(code)))
    return code


def _first_yield(code: CodeType) -> int:
    yields = next(each for each in decode(code).instructions if each.op == "YIELD_VALUE")
    assert yields.origin is not None
    return yields.origin.offset


def _beginning(frame: Frame, waits: Instruction, resumed: Instruction, cells: tuple[str, ...]) -> list[Instruction]:
    """Emit the beginning, which leaves on top of the stack whether the generator is to end at once."""
    code = CodeBuilder()
    for depth, item in enumerate(frame.stack):
        code.null() if item is NULL else code.load_local(stack_parameter(depth))
    code.const(None)
    for copied in (waits, resumed):
        code.emit(copied.op, copied.arg).handler = copied.handler
    code.emit("COPY", 1)
    code.const(END)
    code.emit("IS_OP", "is")
    made = [*prologue(free=cells, generator=True), *code.instructions]
    for instruction in made:
        instruction.span = waits.span
    return made
