"""How a generator that the trace started is made again: as a real one that waits where the trace left it."""

from __future__ import annotations

import contextlib
import dis
import types
import weakref
from collections.abc import Iterator
from types import CodeType
from typing import Any

from tracer_core.bytecode import Instruction, Program, assemble, copy_program_with_map, make
from tracer_core.bytecode.decoded import Decoded
from tracer_core.codegen.effects import writes_back
from tracer_core.codegen.emitter import CannotRebuild, Emitter
from tracer_core.codegen.rebuild_registry import rebuilds
from tracer_core.codegen.resume import stack_parameter
from tracer_core.interpreter.ops.exceptions import HandledMark
from tracer_core.variables.base import VariableTracker
from tracer_core.variables.constant import NONE, NULL
from tracer_core.variables.frames import Frame
from tracer_core.variables.generators import GeneratorVariable
from tracer_core.variables.waiting_generators import CELLS, Waits, remember

_CO_VARARGS_OR_KEYWORDS = 0x0C


@rebuilds(GeneratorVariable)
def _generator(emitter: Emitter, tracker: GeneratorVariable) -> None:
    frame: Frame = tracker.frame
    if tracker.finished:
        emitter.call_const(_exhausted, lambda: emitter.const(frame.code), lambda: _load_names(emitter, tracker))
        emitter.keep(tracker)
        return
    if tracker.running or any(isinstance(item, HandledMark) for item in frame.stack):
        raise CannotRebuild(tracker)
    if tracker.started:
        _waiting(emitter, tracker)
    else:
        _unstarted(emitter, tracker)
    emitter.keep(tracker)


def _unstarted(emitter: Emitter, tracker: GeneratorVariable) -> None:
    """Call its code with the arguments, all by position."""
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
    _call(emitter, tracker, called, code.co_freevars, arguments, _made)


def _waiting(emitter: Emitter, tracker: GeneratorVariable) -> None:
    """Start a generator that goes to a `yield` at once with the same stack, variables and cells."""
    frame: Frame = tracker.frame
    cells = (*frame.program.freevars, *frame.program.cellvars)
    bound = tuple(name for name in frame.program.varnames if name in frame.locals and name not in cells)
    passed = [(stack_parameter(d), item) for d, item in enumerate(frame.stack) if item is not NULL]
    code = _going_on_known(frame, tuple(name for name, _ in passed), bound, cells)
    arguments = [*(item for _, item in passed), *(frame.locals[name] for name in bound)]
    _call(emitter, tracker, code, cells, arguments, _started)


def _call(
    emitter: Emitter,
    tracker: GeneratorVariable,
    code: CodeType,
    cells: tuple[str, ...],
    arguments: list[VariableTracker],
    make_it: Any,
) -> None:
    frame: Frame = tracker.frame

    def closure() -> None:
        for name in cells:
            emitter.load(frame.cells[name])
        emitter.emit("BUILD_TUPLE", len(cells))

    def values() -> None:
        for argument in arguments:
            emitter.load(argument)
        emitter.emit("BUILD_TUPLE", len(arguments))

    emitter.call_const(
        make_it,
        lambda: emitter.const(code),
        lambda: emitter.globals_of(frame.globals),
        closure,
        values,
        lambda: _load_names(emitter, tracker),
    )


def _load_names(emitter: Emitter, tracker: GeneratorVariable) -> None:
    for name in tracker.names:
        emitter.load(name or NONE)
    emitter.emit("BUILD_TUPLE", len(tracker.names))


def _made(
    code: CodeType,
    globals_: dict[str, Any],
    closure: tuple[Any, ...],
    args: tuple[Any, ...],
    names: tuple[str | None, str | None],
) -> Any:
    function = types.FunctionType(code, globals_, code.co_name, None, closure)
    function.__name__, function.__qualname__ = names[0] or code.co_name, names[1] or code.co_qualname
    return function(*args)


def _started(
    code: CodeType,
    globals_: dict[str, Any],
    closure: tuple[Any, ...],
    args: tuple[Any, ...],
    names: tuple[str | None, str | None],
) -> Any:
    generator = _made(code, globals_, closure, (*args, closure), names)
    next(generator)
    return generator


_END = object()


@writes_back("generator")
def _ended(emitter: Emitter, tracker: GeneratorVariable) -> None:
    """The trace has run it to its end."""
    emitter.call_const(_end, lambda: emitter.load(tracker))
    emitter.emit("POP_TOP")


def _end(generator: Any) -> None:
    """Have a generator that waits at a `yield` of ours return, whatever blocks it is in."""
    with contextlib.suppress(StopIteration):
        generator.send(_END)


def _exhausted(code: CodeType, names: tuple[str | None, str | None]) -> Iterator[None]:
    def empty() -> Iterator[None]:
        yield

    generator: Any = empty()
    generator.close()
    generator.__name__, generator.__qualname__ = names[0] or code.co_name, names[1] or code.co_qualname
    return generator  # type: ignore[no-any-return]


# By decoded code: what was made for it, so that codes that go on the same way are the same object.
_made_for: weakref.WeakKeyDictionary[Decoded, dict[Any, CodeType]] = weakref.WeakKeyDictionary()


def _going_on_known(frame: Frame, stack: tuple[str, ...], bound: tuple[str, ...], cells: tuple[str, ...]) -> CodeType:
    known = _made_for.setdefault(frame.decoded, {})
    key = (frame.pc, len(frame.stack), stack, bound)
    if key not in known:
        known[key] = _going_on(frame, stack, bound, cells)
    return known[key]


def _going_on(frame: Frame, stack: tuple[str, ...], bound: tuple[str, ...], cells: tuple[str, ...]) -> CodeType:
    """The generator's code with another beginning, that puts the stack back, yields as the `yield` it waits at does,
    in the same blocks, and goes on after that one."""
    original, program = frame.code, frame.program
    body, moved = copy_program_with_map(program)
    for instruction in body.instructions:
        if instruction.op in ("MAKE_CELL", "COPY_FREE_VARS", "RETURN_GENERATOR"):
            instruction.op, instruction.arg = "NOP", None
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
    beginning = _beginning(frame, waits, resumed, len(cells))
    choice = [make("POP_JUMP_IF_TRUE", target=ending[0]), make("JUMP", target=after)]
    for instruction in choice:
        instruction.span = waits.span
    instructions = [*beginning, *choice, *body.instructions, *ending]
    code = assemble(Program(template, instructions, [*parameters, *others], [], list(cells)))
    places = tuple(None if item is NULL else stack_parameter(d) for d, item in enumerate(frame.stack))
    remember(code, Waits(weakref.ref(original), position, places, bound, cells, _first_yield(code)))
    return code


def _first_yield(code: CodeType) -> int:
    return next(i.offset for i in dis.get_instructions(code) if i.opname == "YIELD_VALUE")


def _beginning(frame: Frame, waits: Instruction, resumed: Instruction, cells: int) -> list[Instruction]:
    """Leaves whether the generator is to end at once on top of the stack."""
    pushes = [
        make("PUSH_NULL") if item is NULL else make("LOAD_FAST", stack_parameter(depth))
        for depth, item in enumerate(frame.stack)
    ]
    yields, goes_on = make("YIELD_VALUE", waits.arg), make("RESUME", resumed.arg)
    yields.handler, goes_on.handler = waits.handler, resumed.handler
    made = [
        *([make("COPY_FREE_VARS", cells)] if cells else []),
        make("RETURN_GENERATOR"),
        make("POP_TOP"),
        make("RESUME", 0),
        *pushes,
        make("LOAD_CONST", None),
        yields,
        goes_on,
        make("COPY", 1),
        make("LOAD_CONST", _END),
        make("IS_OP", "is"),
    ]
    for instruction in made:
        instruction.span = waits.span
    return made
