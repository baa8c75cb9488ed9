"""Emit the call of a resume function, with its arguments."""

from __future__ import annotations

from functools import partial
from types import CodeType

from tracer_core.bytecode import CodeBuilder, Handler, Instruction, Program, Push, decoded
from tracer_core.codegen.emit.names import FIRST_ARGUMENT, manager_of, passed, stack_parameter
from tracer_core.codegen.frame.end import FrameEnd
from tracer_core.codegen.resume.alive import alive_before, stack_after_break
from tracer_core.codegen.resume.blocks import leave_block
from tracer_core.codegen.resume.boxes import boxed, boxed_locals
from tracer_core.codegen.resume.functions import (
    Broken,
    Point,
    Resume,
    box,
    make_resume,
    needs_first_argument,
    resume_of,
)
from tracer_core.interpreter.ops.exceptions import HandledMark
from tracer_core.interpreter.ops.with_blocks import ReenteredMark
from tracer_core.runtime.resuming import TailCall, being_handled, go_on, leave_out_callers
from tracer_core.variables.core.constant import NULL
from tracer_core.variables.functions.frames import Frame


def call_resume(
    end: FrameEnd, target: Instruction, broken: Instruction, jumped: bool, leave_out: list[Instruction]
) -> tuple[list[Instruction], Resume]:
    """Return instructions that pass the stack and the live locals to a resume function and return its result. Its
    exceptions pass through `leave_out`."""
    root = end.root
    left = stack_after_break(root.stack, broken, jumped)
    # Drop a result that no code uses at once: a resume function that got it as argument would hold it for long.
    unwanted = target.op == "POP_TOP" and left[-1] is None
    if unwanted:
        target = _following(root, target)
        left.pop()
    depth = len(left)
    handled = tuple(d for d, item in enumerate(left) if isinstance(item, HandledMark))
    again = {d: item.remade for d, item in enumerate(left) if isinstance(item, ReenteredMark)}
    reentered, remade = (tuple(d for d in again if again[d] is each) for each in (False, True))
    held = boxed_locals(root) - set(_stored_by(broken))
    live = alive_before(root, target) | held
    bound = {*root.locals, *_stored_by(broken)} - set(_unbound_by(broken))
    original, program, shift = _original(root)
    at = root.decoded.index[target] - shift
    position = root.decoded.index[broken]
    between = Broken(broken.op, position - shift, root.decoded.line_at(position), jumped)
    names = tuple(name for name in program.varnames if name in live and name in bound)
    empty = tuple(d for d, item in enumerate(left) if item is NULL)
    first = _first_argument(root, original, bound)
    boxed_names = tuple(name for name in names if name in held and name != first)
    boxed_items = tuple(d for d, item in enumerate(left) if d not in (*handled, *again) and boxed(item))
    point = Point(
        at, depth, names, empty, handled, reentered, remade, first, boxed_names, boxed_items, unwanted,
        reports_eager=end.trace.reports_eager, line=between.line,
    )  # fmt: skip
    resume = make_resume(original, program, point, between)
    code = CodeBuilder()
    if unwanted:
        code.pop()
    temporaries = {d: passed(d) for d in range(depth)}
    for d in reversed(range(depth)):
        code.store_local(temporaries[d])
    for d in reversed(again):
        leave_block(code, temporaries[d], manager_of(d))
    _stop_handling(code, [temporaries[d] for d in handled])
    places: dict[str, Push] = {stack_parameter(d): partial(code.load_local, name) for d, name in temporaries.items()}
    places |= {box(name): partial(_into_box, code, name) for name in boxed_names}
    places |= {box(str(d)): partial(_into_box, code, temporaries[d]) for d in boxed_items}
    if FIRST_ARGUMENT not in root.program.varnames:
        places[FIRST_ARGUMENT] = partial(code.emit, "LOAD_DEREF", next(iter(original.co_varnames), ""))
    function = partial(_make_function, code, resume.code)
    arguments = [places.get(name) or partial(code.load_local, name) for name in point.parameters()]
    if decoded(original).has_loop:
        # Resume functions return the next one rather than call it; the caller of the first continues.
        through = TailCall if resume_of(root.code) else go_on
        call = code.call(partial(code.const, through), [function, *arguments])
    else:
        call = code.call(function, arguments)
    call.handler = Handler(leave_out[0], 0, False)
    code.emit("RETURN_VALUE")
    for instruction in code.instructions:
        instruction.span = broken.span
    return code.instructions, resume


def _following(root: Frame, instruction: Instruction) -> Instruction:
    decoded = root.decoded
    return decoded.instructions[decoded.index[instruction] + 1]


def _into_box(code: CodeBuilder, name: str) -> None:
    """Put the value of a variable into a box, and delete the variable."""
    code.list_of([partial(code.load_local, name)])
    code.delete_local(name)


def reraise_without_this_frame() -> list[Instruction]:
    """Propagate the exception of a resume function, with a traceback that leaves out this frame, so
    that it has one entry for the user's one frame."""
    code = CodeBuilder()
    code.emit("PUSH_EXC_INFO")
    code.run_const(leave_out_callers)
    code.emit("SWAP", 2)
    code.emit("POP_EXCEPT")
    code.emit("RERAISE", 0)
    return code.instructions


def _first_argument(root: Frame, original: CodeType, bound: set[str]) -> str | None:
    """Return the value to pass as first argument, if the code may read it without naming it (`super()`)."""
    if not needs_first_argument(original):
        return None
    name = original.co_varnames[0]
    if name in original.co_cellvars:
        return FIRST_ARGUMENT
    return name if name in bound else None


def _stop_handling(code: CodeBuilder, marks: list[str]) -> None:
    """Leave all `except` blocks: store the exception handled in each of them in the mark's temporary, to be passed to
    the resume function.

    A mark on the stack holds the exception handled before it, so the one handled at a mark is what lies at the next
    mark, and the innermost is the one that Python has at hand.
    """
    if not marks:
        return
    code.call_const(being_handled)
    for name in reversed(marks):
        # The exception handled here stays on the stack until its mark has been used to restore the one before.
        code.load_local(name)
        code.emit("COPY", 1)
        code.emit("POP_EXCEPT")
        code.emit("SWAP", 2)
        code.store_local(name)
    code.pop()


def _stored_by(broken: Instruction) -> list[str]:
    return [broken.arg] if broken.op == "STORE_FAST" else []


def _unbound_by(broken: Instruction) -> list[str]:
    return [broken.arg] if broken.op == "DELETE_FAST" else []


def _original(root: Frame) -> tuple[CodeType, Program, int]:
    """Return the code that the user wrote, if the root is itself a resume function, and by how many instructions the
    root's code is longer at its start."""
    known = resume_of(root.code)
    if known is None:
        return root.code, root.program, 0
    return known.original, decoded(known.original).program, known.shift


def _make_function(code: CodeBuilder, function: CodeType) -> None:
    cells = [partial(code.emit, "LOAD_CLOSURE", name) for name in function.co_freevars]
    if cells:
        code.tuple_of(cells)
    code.const(function)
    code.emit("MAKE_FUNCTION", 8 if cells else 0)
